/* A bench, for programs (docs/confirm.md). */
#include <math.h>

#include "coordinator/conclusion/bench.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/result/report.h"
#include "coordinator/text/json_out.h"

static void put_time(struct json_out *out, const struct finding *f,
                     double floor_s)
{
    json_out_real(out, "median_s", f->time.seconds);
    json_out_interval(out, "ci_95", f->time.lo, f->time.hi);
    json_out_real(out, "of_floor", floor_s / f->time.seconds);
}

static void put_over(struct json_out *out, const struct finding *f)
{
    json_out_real(out, "speedup", f->speedup.value);
    json_out_interval(out, "speedup_ci_95", f->speedup.lo, f->speedup.hi);
    json_out_text(out, "verdict", verdict_name(f->verdict));
    json_out_text(out, "side", verdict_side(&f->speedup));
    json_out_real(out, "p", f->speedup.p);
}

/* NULL if it is out. */
static const struct finding *finding_of(const struct conclusion *c,
                                        const struct conclusion_shape *shape,
                                        const struct report_config *config)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].config == config)
            return &shape->findings[i];
    return NULL;
}

static void put_own(struct json_out *out, const struct bench *bench,
                    const struct conclusion *c,
                    const struct conclusion_shape *shape)
{
    const struct winner *own = bench_own(bench, shape->name);
    struct speedup gain;

    if (!own) {
        json_out_null(out, "own");
        return;
    }
    json_out_open(out, "own", '{');
    json_out_text(out, "key", own->config->key);
    json_out_text(out, "state", own->state);
    if (bench_gain(bench, c, shape, &gain)) {
        json_out_real(out, "over_winner", gain.value);
        json_out_interval(out, "over_winner_ci_95", gain.lo, gain.hi);
    } else {
        json_out_null(out, "over_winner");
        json_out_null(out, "over_winner_ci_95");
    }
    json_out_close(out);
}

static void put_two(struct json_out *out, const struct bench *bench,
                    const struct conclusion *c,
                    const struct conclusion_shape *shape, double floor_s)
{
    const struct finding *winner = finding_of(c, shape, bench->headline.config);

    json_out_open(out, "baseline", '{');
    put_time(out, &shape->findings[0], floor_s);
    json_out_close(out);
    if (!winner) {
        json_out_null(out, "winner");
        return;
    }
    json_out_open(out, "winner", '{');
    put_time(out, winner, floor_s);
    json_out_close(out);
    put_over(out, winner);
}

static void put_shape(struct json_out *out, const struct bench *bench,
                      const struct conclusion *c,
                      const struct conclusion_shape *shape,
                      const struct report_shape *is)
{
    double floor_s = is ? is->floor_s : (double)NAN;

    json_out_open(out, NULL, '{');
    json_out_text(out, "shape", shape->name);
    if (is)
        json_out_raw(out, "vars", is->vars);
    else
        json_out_null(out, "vars");
    json_out_real(out, "floor_s", floor_s);
    put_two(out, bench, c, shape, floor_s);
    put_own(out, bench, c, shape);
    json_out_open(out, "measured", '[');
    for (size_t i = 0; i < c->n; i++) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "key", c->entries[i].config->key);
        put_time(out, &shape->findings[i], floor_s);
        put_over(out, &shape->findings[i]);
        json_out_close(out);
    }
    json_out_close(out);
    json_out_close(out);
}

static void put_configuration(struct json_out *out, const struct bench *bench,
                              const struct report_config *config)
{
    const char *state = bench_state(bench, config);

    json_out_open(out, NULL, '{');
    json_out_raw(out, "config", config->json);
    json_out_text(out, "key", config->key);
    json_out_bool(out, "baseline", config == bench->baseline);
    json_out_open(out, "best_at", '[');
    for (size_t i = 0; i < bench->n; i++)
        if (bench->own[i].config == config)
            json_out_text(out, NULL, bench->own[i].shape);
    json_out_close(out);
    if (state)
        json_out_text(out, "state", state);
    else
        json_out_null(out, "state");
    json_out_close(out);
}

static void put_who(struct json_out *out, const struct bench *bench,
                    const struct conclusion *c)
{
    json_out_raw(out, "baseline", bench->baseline->json);
    json_out_raw(out, "winner", bench->headline.config->json);
    json_out_text(out, "winner_state", bench->headline.state);
    json_out_open(out, "configurations", '[');
    for (size_t i = 0; i < c->n; i++)
        put_configuration(out, bench, c->entries[i].config);
    json_out_close(out);
    json_out_open(out, "rejected", '[');
    for (size_t i = 0; i < c->n_rejected; i++) {
        json_out_open(out, NULL, '{');
        json_out_raw(out, "config", c->rejected[i].config->json);
        json_out_text(out, "key", c->rejected[i].config->key);
        json_out_text(out, "reason", conclusion_reason(c, &c->rejected[i]));
        json_out_close(out);
    }
    json_out_close(out);
}

void bench_json(const struct bench *bench, const struct conclusion *c,
                const struct report *report, FILE *to)
{
    struct json_out out;

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "name", report->name);
    json_out_text(&out, "device", report->device);
    json_out_text(&out, "arch", report->arch);
    json_out_bool(&out, "emulated", c->emulated);
    json_out_bool(&out, "complete", c->state == CONCLUSION_DONE);
    put_who(&out, bench, c);
    json_out_int(&out, "pass", c->confirmation.pass);
    json_out_int(&out, "blocks", c->blocks.complete);
    json_out_int(&out, "samples_a_block", c->confirmation.samples);
    json_out_int(&out, "gpus", (int64_t)c->n_gpus);
    json_out_open(&out, "shapes", '[');
    for (size_t i = 0; c->n > 1 && c->blocks.complete > 0 && i < c->n_shapes;
         i++) {
        size_t at;
        bool is = report_find_shape(report, c->shapes[i].name, &at);

        put_shape(&out, bench, c, &c->shapes[i],
                  is ? &report->shapes[at] : NULL);
    }
    json_out_close(&out);
    json_out_close(&out);
}
