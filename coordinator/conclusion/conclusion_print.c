/* A conclusion for people. */
#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_print.h"
#include "coordinator/conclusion/conclusion_external.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/result/report.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"

/* Times in the unit that suits the baseline's. */
static double unit_of(double seconds, const char **name)
{
    *name = seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s";
    return seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1;
}

static void interval_cell(struct table *table, int digits, double lo, double hi)
{
    if (isfinite(hi))
        table_cell(table, "[%.*f, %.*f]", digits, lo, digits, hi);
    else
        table_cell(table, "-");
}

static void columns(struct table *table, const struct conclusion *c,
                    const struct conclusion_shape *shape, const char *unit)
{
    char *time = mem_printf("%s %s%s", shape->name, unit,
                            c->emulated ? " emulated" : "");

    table_column(table, 'l', "");
    table_column(table, 'r', time);
    if (!c->emulated) {
        table_column(table, 'r', "interval");
        table_column(table, 'r', "x baseline");
        table_column(table, 'r', "interval");
        table_column(table, 'l', "verdict");
        table_column(table, 'r', "p Holm");
        table_column(table, 'r', "p rank");
        table_column(table, 'r', "delta");
    }
    table_column(table, 'l', "configuration");
    free(time);
}

static void comparison_cells(struct table *table, const struct finding *f,
                             bool is_baseline, double scale)
{
    interval_cell(table, 3, scale * f->time.lo, scale * f->time.hi);
    if (is_baseline) {
        for (int k = 0; k < 6; k++)
            table_cell(table, "-");
        return;
    }
    table_number(table, 3, f->speedup.value);
    interval_cell(table, 3, f->speedup.lo, f->speedup.hi);
    table_cell(table, "%s", verdict_words(f->verdict, &f->speedup));
    table_cell(table, "%.2g", f->p_holm);
    table_cell(table, "%.2g", f->rank.p);
    table_number(table, 2, f->rank.delta);
}

/* Emulated times show what ran, and compare nothing. */
static void row(struct table *table, const struct conclusion *c,
                const struct conclusion_shape *shape, size_t i, double scale)
{
    const struct finding *f = &shape->findings[i];

    table_cell(table, "%s",
               i == 0             ? "baseline"
               : c->emulated      ? ""
               : i == shape->best ? "best"
               : f->tied          ? "ties"
                                  : "");
    table_number(table, 3, scale * f->time.seconds);
    if (!c->emulated)
        comparison_cells(table, f, i == 0, scale);
    table_cell(table, "%s", c->entries[i].name);
}

/* For a shape: the baseline, then the others by time. */
static void print_shape(const struct conclusion *c,
                        const struct conclusion_shape *shape, FILE *to)
{
    bool *shown = mem_new(c->n, sizeof(*shown));
    struct table *table = table_new();
    const char *unit;
    double scale = unit_of(shape->findings[0].time.seconds, &unit);

    columns(table, c, shape, unit);
    row(table, c, shape, 0, scale);
    for (size_t k = 1; k < c->n; k++) {
        size_t next = 0;

        for (size_t i = 1; i < c->n; i++)
            if (!shown[i] &&
                (next == 0 || shape->findings[i].time.seconds <
                                  shape->findings[next].time.seconds))
                next = i;
        shown[next] = true;
        row(table, c, shape, next, scale);
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
    free(shown);
}

static void print_rejected(const struct conclusion *c, FILE *to)
{
    struct table *table = table_new();

    table_column(table, 'l', "out");
    table_column(table, 'l', "why");
    for (size_t i = 0; i < c->n_rejected; i++) {
        table_cell(table, "%s", c->rejected[i].name);
        table_cell(table, "%s", conclusion_reason(c, &c->rejected[i]));
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
}

/* Why it took so many blocks. */
static void print_looks(const struct conclusion *c, FILE *to)
{
    const struct sequential *looks = c->blocks.looks;
    const struct process_noise *noise = &looks->noise;

    if (c->confirmation.looks.group == 0 || looks->end == SEQUENTIAL_OPEN)
        return;
    paragraph_print(
        to, 0,
        "%d of at most %d blocks, because %s; looked at %d time%s, and "
        "the intervals hold for all of them",
        looks->used, looks->most, sequential_end_words(looks->end),
        looks->looks, looks->looks == 1 ? "" : "s");
    if (noise->noticed)
        paragraph_print(
            to, 0,
            "processes differ by %.2g %%, samples of one process by %.2g "
            "%%: processes count, not samples; %d a block after the first "
            "look",
            100 * noise->between, 100 * noise->within, looks->samples);
}

static void print_method(const struct conclusion *c, FILE *to)
{
    bool several = c->n_shapes > 1;

    if (c->emulated)
        return;
    paragraph_print(to, 0,
                    "\n"
                    "%d blocks of %d samples on %zu GPU%s, %d dropped; %.4g %% "
                    "intervals; differences below %.2g %% count as none",
                    c->blocks.complete, c->confirmation.samples, c->n_gpus,
                    c->n_gpus == 1 ? "" : "s", c->blocks.broken,
                    100 * (1 - c->confirmation.rules.alpha),
                    100 * c->confirmation.rules.floor);
    print_looks(c, to);
    paragraph_print(
        to, 0,
        "x baseline: its intervals hold for all finalists of a shape "
        "together\n"
        "%s"
        "p Holm: test that the difference is at most %.2g %%, corrected "
        "for the number of finalists; p rank and delta: Mann-Whitney test "
        "and Cliff's delta of the block medians",
        c->externals.n == 0
            ? ""
            : "over an external baseline: its intervals hold for the "
              "baseline and all finalists of a shape together\n",
        100 * c->confirmation.rules.floor);
    if (!isnan(c->confirmation.cut))
        paragraph_print(
            to, 0,
            "the cap took %zu of the %lld configurations that could be "
            "the best%s; the fastest it left out is %.2f %% behind the "
            "first%s",
            c->confirmation.n_running - 1, (long long)c->confirmation.possible,
            several ? " at some shape" : "", 100 * (c->confirmation.cut - 1),
            several ? " of its shape" : "");
}

static void print_checked(const struct conclusion_shape *shape, FILE *to)
{
    if (shape->checked)
        paragraph_print(to, 0, "%s.", shape->checked);
}

void conclusion_sentences_print(const struct conclusion *c, FILE *to)
{
    paragraph_print(to, 0, "\nVerdict: %s.", c->sentence);
    if (c->n_shapes > 0)
        print_checked(&c->shapes[0], to);
    for (size_t i = 1; c->blocks.complete > 0 && i < c->n_shapes; i++)
        if (c->shapes[i].sentence) {
            paragraph_print(to, 0, "At %s: %s.", c->shapes[i].name,
                            c->shapes[i].sentence);
            print_checked(&c->shapes[i], to);
        }
}

void conclusion_tables_print(const struct conclusion *c, FILE *to)
{
    for (size_t i = 0; c->blocks.complete > 0 && i < c->n_shapes; i++)
        print_shape(c, &c->shapes[i], to);
    conclusion_external_print(c, to);
    if (c->n_rejected)
        print_rejected(c, to);
    if (c->blocks.complete > 0)
        print_method(c, to);
    if (c->screening.pending > 0)
        paragraph_print(
            to, 0,
            "%zu of the %zu configurations asked for %s not measured "
            "yet",
            c->screening.pending, c->screening.asked,
            c->screening.pending == 1 ? "is" : "are");
}

void conclusion_print(const struct conclusion *c, FILE *to)
{
    conclusion_sentences_print(c, to);
    conclusion_tables_print(c, to);
}
