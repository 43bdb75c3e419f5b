#include "coordinator/bench.h"

#include <math.h>
#include <string.h>

#include "coordinator/conclusion.h"
#include "coordinator/json_out.h"
#include "coordinator/report.h"
#include "coordinator/table.h"

static const struct report_shape *find_shape(const struct report *report,
                                             const char *name)
{
    for (size_t i = 0; i < report->n_shapes; i++)
        if (strcmp(report->shapes[i].name, name) == 0)
            return &report->shapes[i];
    return NULL;
}

static double floor_of(const struct report *report, const char *name)
{
    const struct report_shape *shape = find_shape(report, name);

    return shape ? shape->floor_s : (double)NAN;
}

static void interval_cell(struct table *table, double scale, double lo,
                          double hi)
{
    if (isfinite(hi))
        table_cell(table, "[%.3f, %.3f]", scale * lo, scale * hi);
    else
        table_cell(table, "-");
}

static void time_cells(struct table *table, const struct finding *f,
                       double floor_s)
{
    table_number(table, 3, 1e6 * f->time.seconds);
    interval_cell(table, 1e6, f->time.lo, f->time.hi);
    table_number(table, 1, 100 * floor_s / f->time.seconds);
}

static void columns(struct table *table, const struct conclusion *c)
{
    table_column(table, 'l', "shape");
    for (int i = 0; i < 2; i++) {
        table_column(table, 'r',
                     i == 0
                         ? c->emulated ? "baseline us emulated" : "baseline us"
                         : "winner us");
        table_column(table, 'r', "interval");
        table_column(table, 'r', "of floor %");
    }
    if (c->emulated)
        return;
    table_column(table, 'r', "x baseline");
    table_column(table, 'r', "interval");
    table_column(table, 'l', "verdict");
}

void bench_print(const struct conclusion *c, const struct report *report,
                 FILE *to)
{
    struct table *table;

    if (c->n < 2 || c->complete == 0) {
        fprintf(to, "Nothing was compared: %s.\n", c->sentence);
        return;
    }
    table = table_new();
    columns(table, c);
    for (size_t i = 0; i < c->n_shapes; i++) {
        const struct conclusion_shape *shape = &c->shapes[i];
        const struct finding *winner = &shape->findings[1];
        double floor_s = floor_of(report, shape->name);

        table_cell(table, "%s", shape->name);
        time_cells(table, &shape->findings[0], floor_s);
        time_cells(table, winner, floor_s);
        if (c->emulated)
            continue;
        table_number(table, 3, winner->speedup.value);
        interval_cell(table, 1, winner->speedup.lo, winner->speedup.hi);
        table_cell(table, "%s", verdict_name(winner->verdict));
    }
    table_print(table, to);
    table_free(table);
    fprintf(to, "\nbaseline  %s\nwinner    %s\n", c->entries[0].name,
            c->entries[1].name);
    fprintf(to, "%d blocks of %d samples on %zu GPU%s, %d dropped\n",
            c->complete, c->contest.samples, c->n_gpus,
            c->n_gpus == 1 ? "" : "s", c->broken);
    if (c->emulated)
        fprintf(to, "Times are emulated on the cpu device, not GPU times.\n");
}

static void put_interval(struct json_out *out, const char *key, double lo,
                         double hi)
{
    if (!isfinite(hi)) {
        json_out_null(out, key);
        return;
    }
    json_out_open(out, key, '[');
    json_out_real(out, NULL, lo);
    json_out_real(out, NULL, hi);
    json_out_close(out);
}

static void put_time(struct json_out *out, const char *key,
                     const struct finding *f, double floor_s)
{
    json_out_open(out, key, '{');
    json_out_real(out, "median_s", f->time.seconds);
    put_interval(out, "ci_95", f->time.lo, f->time.hi);
    json_out_real(out, "of_floor", floor_s / f->time.seconds);
    json_out_close(out);
}

static void put_shape(struct json_out *out,
                      const struct conclusion_shape *shape,
                      const struct report_shape *is)
{
    const struct finding *winner = &shape->findings[1];
    double floor_s = is ? is->floor_s : (double)NAN;

    json_out_open(out, NULL, '{');
    json_out_text(out, "shape", shape->name);
    if (is)
        json_out_raw(out, "vars", is->vars);
    else
        json_out_null(out, "vars");
    json_out_real(out, "floor_s", floor_s);
    put_time(out, "baseline", &shape->findings[0], floor_s);
    put_time(out, "winner", winner, floor_s);
    json_out_real(out, "speedup", winner->speedup.value);
    put_interval(out, "speedup_ci_95", winner->speedup.lo, winner->speedup.hi);
    json_out_text(out, "verdict", verdict_name(winner->verdict));
    json_out_real(out, "p", winner->speedup.p);
    json_out_close(out);
}

void bench_json(const struct conclusion *c, const struct report *report,
                FILE *to)
{
    static const char *const keys[] = { "baseline", "winner" };
    struct json_out out;

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "name", report->name);
    json_out_text(&out, "device", report->device);
    json_out_text(&out, "arch", report->arch);
    json_out_bool(&out, "emulated", c->emulated);
    json_out_bool(&out, "complete", c->state == CONCLUSION_DONE);
    for (size_t i = 0; i < 2; i++)
        if (i < c->n && c->entries[i].config)
            json_out_raw(&out, keys[i], c->entries[i].config->json);
        else
            json_out_null(&out, keys[i]);
    json_out_int(&out, "pass", c->contest.pass);
    json_out_int(&out, "blocks", c->complete);
    json_out_int(&out, "samples_a_block", c->contest.samples);
    json_out_int(&out, "gpus", (int64_t)c->n_gpus);
    json_out_open(&out, "shapes", '[');
    for (size_t i = 0; c->n == 2 && c->complete > 0 && i < c->n_shapes; i++)
        put_shape(&out, &c->shapes[i], find_shape(report, c->shapes[i].name));
    json_out_close(&out);
    json_out_close(&out);
}
