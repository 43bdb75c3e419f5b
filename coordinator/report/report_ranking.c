#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"
#include "coordinator/report/report_internal.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"

size_t report_ranking_size(const struct report *report)
{
    return report->counts.ranked;
}

#define SHAPES_SHOWN 12 /* columns of times; a sweep may have 256 shapes */

static size_t shapes_shown(const struct report *report)
{
    return report->n_shapes < SHAPES_SHOWN ? report->n_shapes : SHAPES_SHOWN;
}

/* Times in the unit that suits the fastest. */
double report_ranking_unit(const struct report *report, const char **name)
{
    double best = report->configs[0].cells[0].summary.median;

    *name = best < 1e-3 ? "us" : best < 1 ? "ms" : "s";
    return best < 1e-3 ? 1e6 : best < 1 ? 1e3 : 1;
}

static void heading(struct table *table, char align, const char *a,
                    const char *b, const char *c)
{
    char *text =
        mem_printf("%s%s%s%s%s", a, *b ? " " : "", b, *c ? " " : "", c);

    table_column(table, align, text);
    free(text);
}

static void ranking_columns(struct table *table, const struct report *report,
                            const char *unit, const char *emulated)
{
    const struct stored_params *params = &report->configs[0].params;

    table_column(table, 'r', "rank");
    heading(table, 'r', report->shapes[0].name, unit, emulated);
    if (report->normalised)
        heading(table, 'r', "normalised", unit, "");
    heading(table, 'r', "spread", unit, "");
    table_column(table, 'r', "n");
    for (size_t i = 0; i < report->n_metrics; i++)
        heading(table, 'r', report->metrics[i].name, report->metrics[i].unit,
                "");
    if (!isnan(report->shapes[0].floor_s))
        table_column(table, 'r', "of floor %");
    if (report_baseline(report))
        table_column(table, 'r', "x baseline");
    for (size_t i = 1; i < shapes_shown(report); i++)
        heading(table, 'r', report->shapes[i].name, unit, emulated);
    table_column(table, 'l', "host");
    table_column(table, 'l', "gpu");
    for (size_t i = 0; i < params->n; i++)
        table_column(table,
                     params->items[i].type == STORED_PARAM_TEXT ? 'l' : 'r',
                     params->items[i].name);
    table_column(table, 'l', "key");
}

static void ranking_row(struct table *table, const struct report *report,
                        const struct report_config *config, double scale)
{
    const struct report_cell *cell = &config->cells[0];
    const struct report_config *baseline = report_baseline(report);
    const struct stored_params *columns = &report->configs[0].params;

    table_cell(table, "%s%d", config->baseline ? "baseline " : "",
               config->rank);
    table_number(table, 3, cell->summary.median * scale);
    if (report->normalised)
        table_number(table, 3, cell->normalised_s * scale);
    table_number(table, 3, cell->summary.spread * scale);
    table_cell(table, "%zu%s", cell->n_samples,
               report_config_is_unstable(cell->sampling) ? " unstable" : "");
    for (size_t i = 0; i < report->n_metrics; i++)
        table_number(table, 2, cell->metrics[i]);
    if (!isnan(report->shapes[0].floor_s))
        table_number(table, 1,
                     100 * report->shapes[0].floor_s / cell->summary.median);
    if (baseline)
        table_number(table, 3, baseline->cells[0].time_s / cell->time_s);
    for (size_t i = 1; i < shapes_shown(report); i++)
        table_number(table, 3, config->cells[i].summary.median * scale);
    table_cell(table, "%s", cell->host);
    table_cell(table, "%s", cell->gpu_name[0] ? cell->gpu_name : cell->gpu);
    for (size_t i = 0; i < columns->n; i++) {
        const struct stored_param *param =
            stored_params_find(&config->params, columns->items[i].name);

        table_cell(table, "%s", param ? param->text : "-");
    }
    table_cell(table, "%.8s", config->key);
}

/* Weaknesses of the samples of the ranked ones. */
static void print_doubts(const struct report *report, FILE *to)
{
    size_t unstable = report->counts.unstable, capped = report->counts.capped;

    if (unstable)
        paragraph_print(
            to, 0,
            "%zu unstable: the samples vary more than the noise limit, or "
            "the GPU was throttled",
            unstable);
    if (capped)
        paragraph_print(
            to, 0, "%zu timed while the power cap lowered the clocks", capped);
}

/* Configurations with a rank that --where leaves. */
static size_t matching(const struct report *report)
{
    size_t n = 0;

    for (size_t i = 0; i < report->n_configs; i++)
        n += report->configs[i].rank && report->configs[i].selected;
    return n;
}

static void print_table(const struct report_view *view, FILE *to)
{
    const struct report *report = view->report;
    size_t shown = 0,
           selected = view->survey ? report->counts.ranked : matching(report);
    const char *unit;
    double scale = report_ranking_unit(report, &unit);
    struct table *table = table_new();

    ranking_columns(table, report, unit,
                    report_is_emulated(report) ? "emulated" : "");
    for (size_t i = 0; i < report->n_configs; i++) {
        const struct report_config *config = &report->configs[i];

        if (!config->rank || !config->selected)
            continue;
        if (view->top && shown >= view->top && !config->baseline)
            continue;
        shown++;
        ranking_row(table, report, config, scale);
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
    if (report->n_shapes > SHAPES_SHOWN)
        paragraph_print(to, 0,
                        "the first %d of %zu shapes; --csv and --json have all",
                        SHAPES_SHOWN, report->n_shapes);
    paragraph_print(to, 0,
                    "median, and spread as 1.4826 x median absolute deviation, "
                    "of n samples");
    if (report->normalised)
        paragraph_print(
            to, 0,
            "ranked and compared with the baseline by the normalised "
            "median: what the typical GPU would have measured");
    print_doubts(report, to);
    if (shown < selected)
        fprintf(to, "%zu of %zu shown; --top %zu shows all\n", shown, selected,
                selected);
}

/* Nothing is there that could be measured again. */
static bool is_record(const struct report *report)
{
    return report->sweep.recorded_on && *report->sweep.recorded_on;
}

/* What the ranking shows about the baseline, and what it does not. */
void report_ranking_screening(const struct report *report, FILE *to)
{
    const struct report_config *best = &report->configs[0];
    const struct report_config *baseline = report_baseline(report);

    if (!baseline)
        fprintf(to, "The baseline was not measured.\n");
    else if (!baseline->rank)
        fprintf(to, "The baseline has no valid time: %s%s%s\n",
                outcome_name(baseline->outcome),
                baseline->cells[0].reason[0] ? ": " : "",
                baseline->cells[0].reason);
    else if (report_ranking_size(report) == 1)
        paragraph_print(to, 0, "Only the baseline has a time.");
    else if (best == baseline)
        paragraph_print(to, 0, "No configuration is faster than the baseline.");
    else
        paragraph_print(
            to, 0,
            "The fastest is %.3fx as fast as the baseline, which has "
            "rank %d of %zu.\n"
            "These are medians of the sweep itself, measured at "
            "different times; they are not confirmed%s.",
            baseline->cells[0].time_s / best->cells[0].time_s, baseline->rank,
            report_ranking_size(report),
            is_record(report) ? "" : ", which 'fa-coord confirm' does");
}

void report_ranking_print(const struct report_view *view, FILE *to)
{
    if (report_ranking_size(view->report) == 0) {
        fprintf(to, "\n"
                    "No configuration has a correct result and a time, so "
                    "there is nothing to rank.\n");
        return;
    }
    if (!view->survey && matching(view->report) == 0) {
        fprintf(to, "\nNo configuration that --where selects has a correct "
                    "result and a time.\n");
        return;
    }
    print_table(view, to);
    if (view->conclusion->state != CONCLUSION_DONE) {
        fputc('\n', to);
        report_ranking_screening(view->report, to);
    }
}
