/* A conclusion for programs: the object 'verdict' of docs/report.md. */
#include <math.h>

#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_print.h"
#include "coordinator/conclusion/conclusion_external.h"
#include "coordinator/conclusion/conclusion_internal.h"
#include "coordinator/confirm/look_plan.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/result/report.h"
#include "coordinator/text/json_out.h"

/* A configuration that was not compared. */
static const struct finding no_finding = {
    .time = { (double)NAN, (double)NAN, (double)INFINITY },
    .speedup = { (double)NAN, (double)NAN, (double)INFINITY, (double)NAN, 0 }
};

static const char *state_name(enum conclusion_state state)
{
    static const char *const names[] = {
        [CONCLUSION_NONE] = "none",
        [CONCLUSION_BEGUN] = "begun",
        [CONCLUSION_FAILED] = "failed",
        [CONCLUSION_DONE] = "done",
    };

    return names[state];
}

static void put_config(struct json_out *out, const char *key,
                       const struct conclusion_entry *entry)
{
    if (entry->config)
        json_out_raw(out, key, entry->config->json);
    else
        json_out_null(out, key);
}

/* The identity of a configuration, inside an open object. */
static void put_who(struct json_out *out, const struct conclusion *c,
                    const struct conclusion_entry *entry)
{
    put_config(out, "config", entry);
    json_out_text(out, "key", c->confirmation.candidates[entry->candidate].key);
}

static void put_time(struct json_out *out, const struct finding *f)
{
    json_out_real(out, "median_s", f->time.seconds);
    json_out_interval(out, "ci_95", f->time.lo, f->time.hi);
}

/* A text, or null for NULL. */
static void put_text(struct json_out *out, const char *key, const char *text)
{
    if (text)
        json_out_text(out, key, text);
    else
        json_out_null(out, key);
}

/* 'launches' are those at the shape; the proof was at others. */
static void put_checked(struct json_out *out, const struct conclusion *c,
                        const struct conclusion_entry *entry,
                        const struct conclusion_checked *sum)
{
    int64_t proof = c->confirmation.candidates[entry->candidate].proof_launches;

    json_out_open(out, "checked", '{');
    if (sum->known > 0)
        json_out_int(out, "launches", sum->launches);
    else
        json_out_null(out, "launches");
    json_out_int(out, "measurements", (int64_t)sum->measured);
    json_out_int(out, "known", (int64_t)sum->known);
    if (proof >= 0)
        json_out_int(out, "proof", proof);
    else
        json_out_null(out, "proof");
    put_text(out, "bits",
             sum->known == 0 ? NULL
             : sum->varied   ? "varied"
                             : "same");
    json_out_close(out);
}

static double percent(double speedup)
{
    return 100 * (1 - 1 / speedup);
}

static void put_finding(struct json_out *out, const struct conclusion *c,
                        const struct conclusion_shape *shape, size_t i)
{
    const struct conclusion_reference rule =
        conclusion_external_rule(c, (size_t)(shape - c->shapes));
    const struct conclusion_entry *entry = &c->entries[i];
    const struct finding *f = &shape->findings[i];
    const struct conclusion_checked checked =
        conclusion_checked_of(c, entry, shape->at);

    json_out_open(out, NULL, '{');
    put_who(out, c, entry);
    put_time(out, f);
    json_out_real(out, "speedup", f->speedup.value);
    json_out_interval(out, "speedup_ci_95", f->speedup.lo, f->speedup.hi);
    json_out_text(out, "verdict", verdict_name(f->verdict));
    json_out_text(out, "side", verdict_side(&f->speedup));
    json_out_real(out, "p", f->speedup.p);
    json_out_real(out, "p_holm", f->p_holm);
    json_out_real(out, "mann_whitney_p", f->rank.p);
    json_out_real(out, "cliffs_delta", f->rank.delta);
    json_out_text(out, "effect",
                  mann_whitney_magnitude_name(f->rank.magnitude));
    json_out_bool(out, "tied", f->tied);
    put_checked(out, c, entry, &checked);
    json_out_bool(out, "success",
                  rule.findings && rule.findings[i].success && !c->emulated);
    json_out_close(out);
}

static void put_best(struct json_out *out, const struct conclusion *c,
                     const struct conclusion_shape *shape)
{
    bool is = shape && shape->best != BEST_SET_NONE;
    const struct finding *f = is ? &shape->findings[shape->best] : &no_finding;

    if (is)
        put_config(out, "best_config", &c->entries[shape->best]);
    else
        json_out_null(out, "best_config");
    if (is)
        json_out_text(
            out, "best_key",
            c->confirmation.candidates[c->entries[shape->best].candidate].key);
    else
        json_out_null(out, "best_key");
    json_out_real(out, "best_median_s", f->time.seconds);
    json_out_interval(out, "ci_95", f->time.lo, f->time.hi);
    json_out_real(out, "speedup", f->speedup.value);
    json_out_interval(out, "speedup_ci_95", f->speedup.lo, f->speedup.hi);
    json_out_real(out, "improvement_pct", percent(f->speedup.value));
    if (is) {
        json_out_text(out, "verdict", verdict_name(f->verdict));
        json_out_text(out, "side", verdict_side(&f->speedup));
    } else {
        json_out_null(out, "verdict");
        json_out_null(out, "side");
    }
}

static void put_baseline(struct json_out *out, const struct conclusion *c,
                         const struct conclusion_shape *shape)
{
    if (!shape && !c->baseline) {
        json_out_null(out, "baseline");
        return;
    }
    json_out_open(out, "baseline", '{');
    if (shape) {
        const struct conclusion_checked checked =
            conclusion_checked_of(c, &c->entries[0], shape->at);

        put_who(out, c, &c->entries[0]);
        put_time(out, &shape->findings[0]);
        put_checked(out, c, &c->entries[0], &checked);
    } else {
        json_out_raw(out, "config", c->baseline->json);
        json_out_text(out, "key", c->baseline->key);
        put_time(out, &no_finding);
        json_out_null(out, "checked");
    }
    json_out_close(out);
}

static void put_finalists(struct json_out *out, const struct conclusion *c,
                          const struct conclusion_shape *shape)
{
    json_out_open(out, "finalists", '[');
    for (size_t i = 1; shape && i < c->n; i++)
        put_finding(out, c, shape, i);
    json_out_close(out);
}

static void put_ties(struct json_out *out, const struct conclusion *c,
                     const struct conclusion_shape *shape)
{
    json_out_open(out, "tie_set", '[');
    for (size_t i = 1; shape && i < c->n; i++)
        if (shape->findings[i].tied) {
            json_out_open(out, NULL, '{');
            put_who(out, c, &c->entries[i]);
            put_time(out, &shape->findings[i]);
            json_out_close(out);
        }
    json_out_close(out);
}

static void put_rejected(struct json_out *out, const struct conclusion *c)
{
    json_out_open(out, "rejected", '[');
    for (size_t i = 0; i < c->n_rejected; i++) {
        json_out_open(out, NULL, '{');
        put_who(out, c, &c->rejected[i]);
        json_out_text(out, "reason", conclusion_reason(c, &c->rejected[i]));
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_looks(struct json_out *out, const struct conclusion *c)
{
    const struct sequential *looks = c->blocks.looks;

    if (!looks || c->confirmation.looks.group == 0) {
        json_out_null(out, "looks");
        return;
    }
    json_out_open(out, "looks", '{');
    json_out_int(out, "taken", looks->looks);
    json_out_int(out, "blocks_max", looks->most);
    json_out_int(out, "samples_a_block", looks->samples);
    json_out_text(out, "end", sequential_end_name(looks->end));
    json_out_real(out, "process_sd", looks->noise.between);
    json_out_real(out, "sample_sd", looks->noise.within);
    json_out_bool(out, "processes_differ", looks->noise.noticed);
    json_out_close(out);
}

/* Launches of each that are to be checked at each shape; null where the rule is
 * not about them. */
static void put_launches(struct json_out *out, const struct conclusion *c)
{
    int launches = look_plan_launches(&c->confirmation);

    if (c->state != CONCLUSION_NONE && !c->emulated && !c->replayed &&
        launches > 0)
        json_out_int(out, "checked_wanted", launches);
    else
        json_out_null(out, "checked_wanted");
}

static void put_method(struct json_out *out, const struct conclusion *c)
{
    const struct confirmation *confirmation = &c->confirmation;
    bool is = c->state != CONCLUSION_NONE;

    json_out_int(out, "pass", confirmation->pass);
    json_out_int(out, "blocks", c->blocks.complete);
    json_out_int(out, "blocks_wanted", confirmation_blocks_max(confirmation));
    json_out_int(out, "blocks_dropped", c->blocks.broken);
    put_looks(out, c);
    json_out_int(out, "samples_a_block", confirmation->samples);
    json_out_int(out, "gpus", (int64_t)c->n_gpus);
    put_launches(out, c);
    json_out_real(out, "alpha", confirmation->rules.alpha);
    json_out_real(out, "floor", confirmation->rules.floor);
    json_out_int(out, "possible", confirmation->possible);
    json_out_real(out, "cut", is ? confirmation->cut : (double)NAN);
}

static void put_shapes(struct json_out *out, const struct conclusion *c)
{
    json_out_open(out, "shapes", '[');
    for (size_t i = 0; c->blocks.complete > 0 && i < c->n_shapes; i++) {
        const struct conclusion_shape *shape = &c->shapes[i];

        json_out_open(out, NULL, '{');
        json_out_text(out, "shape", shape->name);
        json_out_bool(out, "success", shape->success);
        put_text(out, "sentence", shape->sentence);
        put_text(out, "checked_sentence",
                 shape->sentence ? shape->checked : NULL);
        put_best(out, c, shape);
        put_baseline(out, c, shape);
        put_ties(out, c, shape);
        put_finalists(out, c, shape);
        json_out_close(out);
    }
    json_out_close(out);
}

void conclusion_json(const struct conclusion *c, struct json_out *out,
                     const char *key)
{
    const struct conclusion_shape *shape =
        c->blocks.complete > 0 && c->n_shapes > 0 ? &c->shapes[0] : NULL;

    json_out_open(out, key, '{');
    json_out_bool(out, "success", c->success);
    json_out_text(out, "state", state_name(c->state));
    json_out_text(out, "sentence", c->sentence);
    put_text(out, "checked_sentence",
             c->n_shapes > 0 ? c->shapes[0].checked : NULL);
    json_out_bool(out, "emulated", c->emulated);
    put_best(out, c, shape);
    json_out_real(out, "target_speedup", c->confirmation.rules.target);
    put_baseline(out, c, shape);
    put_ties(out, c, shape);
    put_finalists(out, c, shape);
    put_rejected(out, c);
    conclusion_external_json(c, out);
    put_method(out, c);
    json_out_real(out, "hours", c->cost.hours);
    json_out_real(out, "cost_usd", c->cost.usd);
    put_shapes(out, c);
    json_out_close(out);
}
