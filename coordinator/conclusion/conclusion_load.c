/* Loads a conclusion from the database: chooses the measurements that count. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_external.h"
#include "coordinator/conclusion/conclusion_internal.h"
#include "coordinator/confirm/look_plan.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/report_objective.h"
#include "coordinator/search/objective.h"
#include "coordinator/spec/spec.h"
#include "coordinator/stored/stored_contest.h"
#include "coordinator/stored/stored_params.h"
#include "coordinator/stored/stored_samples.h"

/* One result, its texts copied. */
struct measured {
    size_t candidate, shape;
    int block, gpu;
    bool correct;
    double *samples;
    size_t n_samples;
};

struct loading {
    struct conclusion *c;
    struct measured *items;
    size_t n, cap;
    char **gpus; /* UUIDs; the index is the number */
    int n_gpus;
    bool *wrong;  /* by candidate: wrong in some block */
    char **codes; /* by candidate: the artifacts that were measured */
    struct conclusion_checked *checked; /* [candidates * shapes] */
};

static int gpu_number(struct loading *l, const char *uuid)
{
    for (int i = 0; i < l->n_gpus; i++)
        if (strcmp(l->gpus[i], uuid) == 0)
            return i;
    l->gpus = mem_grow(l->gpus, (size_t)l->n_gpus + 1, sizeof(*l->gpus));
    l->gpus[l->n_gpus] = mem_strdup(uuid);
    return l->n_gpus++;
}

/* Hosts with different compilers measure different artifacts of a candidate.
 * Results come by block, so candidates that are equal everywhere have equal
 * lists. */
static void add_code(char **code, const char *artifact)
{
    char *longer;

    if (strstr(*code, artifact))
        return;
    longer = mem_printf("%s %s", *code, artifact);
    free(*code);
    *code = longer;
}

static void take(void *arg, const struct confirmation_result *result)
{
    struct loading *l = arg;
    struct measured *m;

    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 256;
        l->items = mem_grow(l->items, l->cap, sizeof(*l->items));
    }
    m = &l->items[l->n++];
    *m = (struct measured){ .candidate = result->candidate,
                            .shape = result->shape,
                            .block = result->block,
                            .gpu = gpu_number(l, result->gpu) };
    m->samples = stored_samples_read(result->samples, &m->n_samples);
    m->correct =
        outcome_is(result->outcome, OUTCOME_CORRECT) && m->n_samples > 0;
    if (!m->correct)
        l->wrong[m->candidate] = true;
    add_code(&l->codes[m->candidate], result->artifact);
    conclusion_checked_add(
        &l->checked[m->candidate * l->c->confirmation.n_shapes + m->shape],
        result->checked, result->varied);
}

static char *name_of(const struct report_config *config, const char *key)
{
    char *name = mem_strdup("");

    if (!config) {
        free(name);
        return mem_printf("%.8s", key);
    }
    for (size_t i = 0; i < config->params.n; i++) {
        char *longer = mem_printf("%s%s%s=%s", name, i ? " " : "",
                                  config->params.items[i].name,
                                  config->params.items[i].text);

        free(name);
        name = longer;
    }
    return name;
}

static struct conclusion_checked *checked_of(const struct loading *l,
                                             size_t candidate)
{
    size_t n = l->c->confirmation.n_shapes;
    struct conclusion_checked *copy = mem_new(n, sizeof(*copy));

    for (size_t s = 0; s < n; s++)
        copy[s] = l->checked[candidate * n + s];
    return copy;
}

/* Sets 'places' to the entry of each candidate, or -1. */
static void place_entries(struct loading *l, const struct report *report,
                          int *places)
{
    struct conclusion *c = l->c;
    const struct confirmation *confirmation = &c->confirmation;

    c->entries = mem_new(confirmation->n, sizeof(*c->entries));
    c->rejected = mem_new(confirmation->n, sizeof(*c->rejected));
    for (size_t i = 0; i < confirmation->n; i++) {
        const struct candidate *is = &confirmation->candidates[i];
        const struct report_config *config = report_find(report, is->key);
        bool out =
            is->role == CONFIRMATION_REJECTED || is->reason[0] || l->wrong[i];
        struct conclusion_entry entry = {
            .candidate = i,
            .name = name_of(config, is->key),
            .config = config,
            .code = mem_strdup(l->codes[i]),
            .checked = checked_of(l, i),
        };

        places[i] = -1;
        if (out) {
            c->rejected[c->n_rejected++] = entry;
        } else if (i == 0 || c->n > 0) {
            places[i] = (int)c->n;
            c->entries[c->n++] = entry;
        } else {
            /* without a baseline it cannot be judged */
            conclusion_entry_fini(&entry);
        }
    }
}

/* Those of a look, by block. */
struct looked {
    struct sequential_result *items;
    double *seconds; /* of the external baseline */
    size_t n;
};

static int by_block(const void *a, const void *b)
{
    const struct sequential_result *x = a, *y = b;

    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->shape != y->shape)
        return x->shape < y->shape ? -1 : 1;
    return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* The GPU of a block, or -1 without a measurement. */
static int gpu_of(const struct loading *l, int block)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].block == block)
            return l->items[i].gpu;
    return -1;
}

/* Those of the external baseline that looks ask about, as candidate 'over'.  A
 * run has its times in a row. */
static void look_at_external(const struct loading *l, size_t over,
                             struct looked *to)
{
    const struct conclusion_external *external =
        conclusion_external_find(l->c, l->c->confirmation.against);
    size_t n = external ? external->n_times : 0;

    to->seconds = mem_new(n + 1, sizeof(*to->seconds));
    to->items = mem_grow(to->items, to->n + n + 1, sizeof(*to->items));
    for (size_t i = 0; i < n; i++) {
        const struct conclusion_external_time *time = &external->times[i];
        int gpu = gpu_of(l, time->block);

        to->seconds[i] = time->seconds;
        if (gpu < 0)
            continue; /* nothing else was measured in the block */
        if (i == 0 || time[-1].block != time->block ||
            time[-1].shape != time->shape)
            to->items[to->n++] =
                (struct sequential_result){ over, time->shape,     time->block,
                                            gpu,  &to->seconds[i], 0 };
        to->items[to->n - 1].n++;
    }
    if (to->n > 0)
        qsort(to->items, to->n, sizeof(*to->items), by_block);
}

/* What the looks of the pass decided, from the same results. */
static struct sequential *replay(const struct loading *l, const int *places)
{
    const struct confirmation *confirmation = &l->c->confirmation;
    struct sequential_design design;
    struct looked looked = { mem_new(l->n + 1, sizeof(*looked.items)), NULL,
                             l->n };
    bool *out = mem_new(confirmation->n + 1, sizeof(*out));
    struct sequential *looks;

    for (size_t i = 0; i < confirmation->n; i++)
        out[i] = places[i] < 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct measured *m = &l->items[i];

        looked.items[i] = (struct sequential_result){
            m->candidate, m->shape, m->block, m->gpu, m->samples, m->n_samples
        };
    }
    look_plan_design(confirmation, confirmation->n, &design);
    if (design.over > 0)
        look_at_external(l, design.over, &looked);
    looks = sequential_replay(&design, looked.items, looked.n, out);
    free(out);
    free(looked.seconds);
    free(looked.items);
    return looks;
}

static void count_blocks(const struct loading *l)
{
    bool *used = mem_new((size_t)l->n_gpus + 1, sizeof(*used));
    struct conclusion *c = l->c;
    const struct sequential *looks = c->blocks.looks;

    for (size_t i = 0; i < looks->n_blocks; i++) {
        const struct sequential_block *block = &looks->blocks[i];
        bool counts = sequential_counts(looks, 0, block->number);

        c->blocks.broken += !block->complete;
        c->blocks.complete += counts;
        if (!counts)
            continue;
        c->n_gpus += !used[block->gpu];
        used[block->gpu] = true;
    }
    free(used);
}

static size_t collect(const struct loading *l, const int *places,
                      struct conclusion_sample **out)
{
    size_t n = 0, cap = 0;

    *out = NULL;
    l->c->blocks.looks = replay(l, places);
    count_blocks(l);
    for (size_t i = 0; i < l->n; i++) {
        const struct measured *m = &l->items[i];

        if (places[m->candidate] < 0 ||
            !sequential_counts(l->c->blocks.looks, m->candidate, m->block))
            continue;
        for (size_t s = 0; s < m->n_samples; s++) {
            if (n == cap) {
                cap = cap ? 2 * cap : 1024;
                *out = mem_grow(*out, cap, sizeof(**out));
            }
            (*out)[n++] =
                (struct conclusion_sample){ m->shape,
                                            { places[m->candidate], m->block,
                                              m->gpu, m->samples[s] } };
        }
    }
    return n;
}

/* ---- configurations that were not compared */

static bool is_contestant(const struct conclusion *c, const char *key)
{
    for (size_t i = 0; i < c->confirmation.n; i++)
        if (strcmp(c->confirmation.candidates[i].key, key) == 0)
            return true;
    return false;
}

static const struct report_config *fastest_at(const struct report *report,
                                              int objective)
{
    const struct report_config *fastest = NULL;
    double least = INFINITY;

    for (size_t i = 0; i < report->n_configs; i++) {
        const struct report_config *config = &report->configs[i];
        double time = config->rank && !config->baseline
                          ? report_objective_time(report, config, objective)
                          : (double)INFINITY;

        if (time < least) {
            fastest = config;
            least = time;
        }
    }
    return fastest;
}

/* A confirmation that used other times, or was cut short by a cap, may lack the
 * fastest one of a shape. */
static void find_missed(struct conclusion *c, const struct report *report)
{
    for (size_t s = 0; s < c->n_shapes; s++) {
        const struct report_config *fastest;
        size_t at = 0;

        if (c->shapes[s].at != OBJECTIVE_ALL &&
            !report_find_shape(report, c->shapes[s].name, &at))
            continue;
        fastest = fastest_at(
            report, c->shapes[s].at == OBJECTIVE_ALL ? OBJECTIVE_ALL : (int)at);
        if (fastest && !is_contestant(c, fastest->key))
            c->shapes[s].missed = name_of(fastest, fastest->key);
    }
}

/* A bench compares what it was asked to; a confirmation follows the sweep, and
 * one with looks what they asked about. */
static int objective_of(const struct conclusion *c, const struct report *report)
{
    int objective = report_objective(report);

    if (c->confirmation.kind == CONFIRMATION_BENCH)
        return 0;
    for (size_t i = 0; objective >= 0 && i < c->confirmation.n_shapes; i++)
        if (strcmp(c->confirmation.shapes[i].name,
                   report->shapes[objective].name) == 0)
            return (int)i;
    if (c->confirmation.looks.group > 0)
        return c->confirmation.looks.over_all ? OBJECTIVE_ALL : 0;
    return objective >= 0 || c->confirmation.n_shapes < 2 ? 0 : objective;
}

static void loading_fini(struct loading *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->items[i].samples);
    for (int i = 0; i < l->n_gpus; i++)
        free(l->gpus[i]);
    free(l->items);
    free(l->gpus);
    free(l->wrong);
    for (size_t i = 0; i < l->c->confirmation.n; i++)
        free(l->codes[i]);
    free(l->codes);
    free(l->checked);
}

static void take_unjudged(void *arg, int64_t candidate)
{
    const struct loading *l = arg;
    const size_t n = l->c->confirmation.n_shapes;

    for (size_t s = 0; s < n; s++)
        l->checked[(size_t)candidate * n + s].partly = true;
}

static int load_results(struct store *store, const struct report *report,
                        struct conclusion *c, struct err *err)
{
    size_t n = c->confirmation.n;
    struct loading l = { .c = c,
                         .wrong = mem_new(n, sizeof(*l.wrong)),
                         .codes = mem_new(n, sizeof(*l.codes)),
                         .checked = mem_new(n * c->confirmation.n_shapes,
                                            sizeof(*l.checked)) };
    int *places = mem_new(n, sizeof(*places));
    struct conclusion_sample *samples = NULL;
    int rc;

    for (size_t i = 0; i < n; i++)
        l.codes[i] = mem_strdup("");
    rc = confirmation_results(store, &c->confirmation, take, &l, err);
    if (rc == 0)
        rc = stored_contest_unjudged(store, c->confirmation.pass, take_unjudged,
                                     &l, err);
    if (rc == 0)
        rc = conclusion_external_load(c, store, err);
    if (rc == 0) {
        size_t n_samples;

        place_entries(&l, report, places);
        n_samples = collect(&l, places, &samples);
        conclusion_judge(c, objective_of(c, report), samples, n_samples);
        find_missed(c, report);
        conclusion_say(c);
    }
    free(samples);
    free(places);
    loading_fini(&l);
    return rc;
}

static enum conclusion_state state_of(const struct confirmation *confirmation)
{
    if (!confirmation->ended)
        return CONCLUSION_BEGUN;
    return confirmation->failed ? CONCLUSION_FAILED : CONCLUSION_DONE;
}

/* The shapes in the sweep file from which a confirmation would have taken
 * them. */
static void take_rules(struct conclusion *c, const struct report *report)
{
    struct spec *spec;
    struct err err = { "" };

    c->confirmation.rules =
        (struct verdict_rules){ (double)NAN, (double)NAN, (double)NAN };
    if (spec_parse(report->file.folder, report->file.name, report->file.text,
                   strlen(report->file.text), &spec, &err) < 0)
        return; /* a version that reads it differently wrote it */
    c->confirmation.rules =
        (struct verdict_rules){ spec->confirm.alpha, spec->confirm.floor,
                                spec->confirm.target };
    spec_free(spec);
}

static char *why_none(const struct report *report)
{
    const struct report_config *baseline = report_baseline(report);

    if (report->counts.outcomes[OUTCOME_CORRECT] +
            report->counts.outcomes[OUTCOME_PENDING] ==
        0)
        return mem_strdup("no configuration is correct");
    if (!baseline || baseline->outcome == OUTCOME_PENDING)
        return mem_strdup("the baseline is not measured yet");
    if (!baseline->rank)
        return mem_printf("the baseline has no valid time, %s%s%s",
                          outcome_name(baseline->outcome),
                          *baseline->reason ? ": " : "", baseline->reason);
    return mem_strdup("no finalist was compared with the baseline yet");
}

int conclusion_load(struct store *store, const struct report *report,
                    const struct report_cost *cost, enum confirmation_kind kind,
                    struct conclusion **out, struct err *err)
{
    struct conclusion *c = mem_new(1, sizeof(*c));
    int rc = confirmation_load(store, report->sweep.id, kind, 0,
                               &c->confirmation, err);

    c->emulated = report_is_emulated(report);
    c->replayed = device_kind_is(report->device, DEVICE_KIND_REPLAY);
    c->baseline = report_baseline(report);
    c->screening.pending = (size_t)report->counts.outcomes[OUTCOME_PENDING];
    c->screening.asked = report->counts.asked;
    c->cost.hours = cost->total_hours;
    c->cost.usd = cost->total_usd;
    if (rc == 0) {
        take_rules(c, report);
        c->why_none = why_none(report);
        conclusion_judge(c, 0, NULL, 0);
        conclusion_say(c);
    } else if (rc == 1) {
        c->state = state_of(&c->confirmation);
        if (cost->proof.held_ns == 0) { /* an older fa-coord: not among them */
            c->cost.hours += c->confirmation.proof.hours;
            c->cost.usd += c->confirmation.proof.usd;
        }
        rc = load_results(store, report, c, err);
    }
    if (rc < 0) {
        conclusion_free(c);
        *out = NULL;
        return rc;
    }
    *out = c;
    return 0;
}
