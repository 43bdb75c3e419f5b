/* A bench, for people. */
#include <math.h>
#include <stdlib.h>

#include "coordinator/conclusion/bench.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/result/report.h"
#include "coordinator/print/table.h"

static void interval_cell(struct table *table, double scale, double lo,
                          double hi)
{
    if (isfinite(hi))
        table_cell(table, "[%.3f, %.3f]", scale * lo, scale * hi);
    else
        table_cell(table, "-");
}

static struct table *new_table(const struct conclusion *c)
{
    struct table *table = table_new();

    table_column(table, 'l', "shape");
    table_column(table, 'l', "configuration");
    table_column(table, 'r', c->emulated ? "us emulated" : "us");
    table_column(table, 'r', "interval");
    table_column(table, 'r', "of floor %");
    if (!c->emulated) {
        table_column(table, 'r', "x baseline");
        table_column(table, 'r', "interval");
        table_column(table, 'l', "verdict");
    }
    return table;
}

static void over_cells(struct table *table, const struct finding *f)
{
    table_number(table, 3, f->speedup.value);
    interval_cell(table, 1, f->speedup.lo, f->speedup.hi);
    table_cell(table, "%s", verdict_words(f->verdict, &f->speedup));
}

static void shape_rows(struct table *table, const struct bench *bench,
                       const struct conclusion *c,
                       const struct conclusion_shape *shape, double floor_s)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct finding *f = &shape->findings[i];
        char *name = bench_name(bench, c->entries[i].config);

        table_cell(table, "%s", i == 0 ? shape->name : "");
        table_cell(table, "%s", name);
        free(name);
        table_number(table, 3, 1e6 * f->time.seconds);
        interval_cell(table, 1e6, f->time.lo, f->time.hi);
        table_number(table, 1, 100 * floor_s / f->time.seconds);
        if (!c->emulated && i > 0)
            over_cells(table, f);
        for (int cell = 0; !c->emulated && i == 0 && cell < 3; cell++)
            table_cell(table, "-"); /* the baseline over itself */
    }
}

/* How much each shape gains from a configuration of its own. */
static void print_gain(const struct bench *bench, const struct conclusion *c,
                       const struct conclusion_shape *shape, FILE *to)
{
    struct speedup gain;

    if (c->emulated || !bench_gain(bench, c, shape, &gain))
        return;
    fprintf(to, "At %s its own best is %.3fx the best at %s", shape->name,
            gain.value, bench->headline.shape);
    if (isfinite(gain.hi))
        fprintf(to, ", %.4g %% interval [%.3f, %.3f].\n",
                100 * (1 - c->confirmation.rules.alpha), gain.lo, gain.hi);
    else
        fprintf(to, ", too few blocks for an interval.\n");
}

static void print_who(const struct bench *bench, const struct conclusion *c,
                      FILE *to)
{
    struct table *table = table_new();

    table_column(table, 'l', "configuration");
    table_column(table, 'l', "parameters");
    table_column(table, 'l', "state");
    for (size_t i = 0; i < c->n; i++) {
        const struct report_config *config = c->entries[i].config;
        const char *state = bench_state(bench, config);
        char *name = bench_name(bench, config);

        table_cell(table, "%s", name);
        table_cell(table, "%s", c->entries[i].name);
        table_cell(table, "%s", state ? state : "-");
        free(name);
    }
    table_print(table, to);
    table_free(table);
}

void bench_print(const struct bench *bench, const struct conclusion *c,
                 const struct report *report, FILE *to)
{
    struct table *table;

    for (size_t i = 0; i < c->n_rejected; i++)
        fprintf(to, "%s is out: %s\n", c->rejected[i].name,
                conclusion_reason(c, &c->rejected[i]));
    if (c->n < 2 || c->blocks.complete == 0) {
        fprintf(to, "Nothing was compared: %s.\n", c->sentence);
        return;
    }
    table = new_table(c);
    for (size_t i = 0; i < c->n_shapes; i++) {
        size_t at;
        double floor_s = report_find_shape(report, c->shapes[i].name, &at)
                             ? report->shapes[at].floor_s
                             : (double)NAN;

        shape_rows(table, bench, c, &c->shapes[i], floor_s);
    }
    table_print(table, to);
    table_free(table);
    fputc('\n', to);
    print_who(bench, c, to);
    fputc('\n', to);
    for (size_t i = 0; i < c->n_shapes; i++)
        print_gain(bench, c, &c->shapes[i], to);
    fprintf(to, "%d blocks of %d samples on %zu GPU%s, %d dropped\n",
            c->blocks.complete, c->confirmation.samples, c->n_gpus,
            c->n_gpus == 1 ? "" : "s", c->blocks.broken);
    if (c->emulated)
        fprintf(to, "The times are emulated on the cpu device; they are not "
                    "GPU times.\n");
}
