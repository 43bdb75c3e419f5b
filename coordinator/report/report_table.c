#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/device_kind.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/inspect/profile.h"
#include "coordinator/lessons/lessons_print.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/text/table.h"

#define GROUPS_SHOWN 20 /* of failures */

static bool is_emulated(const struct report *report)
{
    return device_kind_is(report->device, DEVICE_KIND_CPU);
}

static size_t ranked(const struct report *report)
{
    size_t n = 0;

    while (n < report->n_configs && report->configs[n].rank)
        n++;
    return n;
}

/* ---- the head: the request and the result ---- */

/* What was not measured is not known to be slow. */
static void print_search(const struct report *report, FILE *to)
{
    int64_t tried = report_tried(report), left = report->counts.passed - tried;

    if (!report->search.method[0])
        return;
    fprintf(to, "strategy %s", report->search.method);
    if (strcmp(report->search.method, "exhaustive") != 0)
        fprintf(to, ", seed %" PRId64, report->search.seed);
    if (!report->search.headline)
        fprintf(to, ", objective %s", report->search.objective);
    if (left > 0)
        fprintf(to,
                ": %" PRId64 " of the %" PRId64 " configurations that pass "
                "were tried; nothing is known of the other %" PRId64 "\n",
                tried, report->counts.passed, left);
    else
        fprintf(to, ": all %" PRId64 " configurations that pass were tried\n",
                report->counts.passed);
}

static void print_head(const struct report *report, FILE *to)
{
    int64_t settled =
        (int64_t)report->n_configs - report->counts.outcomes[OUTCOME_PENDING];
    char begun[CLOCK_ISO_BYTES];

    fprintf(to,
            "%s on %s: %" PRId64 " configurations, %" PRId64
            " rejected by gates\n",
            report->name, report->arch, report->counts.configurations,
            report->counts.configurations - report->counts.passed);
    clock_iso(report->sweep.created_utc, begun);
    fprintf(to, "%zu asked for, %" PRId64 " settled; begun %.19sZ",
            report->n_configs, settled, begun);
    if (report->sweep.ending[0])
        fprintf(to, ", the last run ended: %s", report->sweep.ending);
    fputc('\n', to);
    print_search(report, to);
    if (report->counts.stale)
        fprintf(to,
                "%" PRId64 " older results, of other sources or another way "
                "of measuring, are kept and not compared\n",
                report->counts.stale);
    if (report->sweep.recorded_on)
        fprintf(to,
                "The times were recorded on %s and are replayed; nothing was "
                "measured on these hosts.\n",
                report->sweep.recorded_on[0] ? report->sweep.recorded_on
                                             : "an unnamed device");
    if (is_emulated(report))
        fputs("The times are emulated on the cpu device; they are not GPU "
              "times.\n",
              to);
}

static void print_counts(const struct report *report, FILE *to)
{
    struct table *table = table_new();

    table_column(table, 'l', "outcome");
    table_column(table, 'r', "configurations");
    for (int i = 0; i < OUTCOMES_OF_CONFIG; i++) {
        if (report->counts.outcomes[i] == 0)
            continue;
        table_cell(table, "%s", outcome_name((enum outcome)i));
        table_cell(table, "%" PRId64, report->counts.outcomes[i]);
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
}

/* ---- the ranking ---- */

/* Times in the unit that suits the fastest. */
static double unit_of(const struct report *report, const char **name)
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
    for (size_t i = 1; i < report->n_shapes; i++)
        heading(table, 'r', report->shapes[i].name, unit, emulated);
    table_column(table, 'l', "host");
    table_column(table, 'l', "gpu");
    for (size_t i = 0; i < params->n; i++)
        table_column(table,
                     params->items[i].type == STORED_PARAM_TEXT ? 'l' : 'r',
                     params->items[i].name);
    table_column(table, 'l', "key");
}

static bool is_unstable(const struct report_cell *cell)
{
    return strcmp(cell->sampling, "unstable") == 0;
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
               is_unstable(cell) ? " unstable" : "");
    for (size_t i = 0; i < report->n_metrics; i++)
        table_number(table, 2, cell->metrics[i]);
    if (!isnan(report->shapes[0].floor_s))
        table_number(table, 1,
                     100 * report->shapes[0].floor_s / cell->summary.median);
    if (baseline)
        table_number(table, 3, baseline->cells[0].time_s / cell->time_s);
    for (size_t i = 1; i < report->n_shapes; i++)
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
    size_t n = ranked(report), unstable = 0, capped = 0;

    for (size_t i = 0; i < n; i++) {
        unstable += is_unstable(&report->configs[i].cells[0]);
        capped += report->configs[i].cells[0].power_capped;
    }
    if (unstable)
        fprintf(to,
                "%zu unstable: the samples vary more than the noise limit, or "
                "the GPU was throttled\n",
                unstable);
    if (capped)
        fprintf(to, "%zu timed while the power cap lowered the clocks\n",
                capped);
}

static void print_ranking(const struct report_view *view, FILE *to)
{
    const struct report *report = view->report;
    size_t n = ranked(report), shown = 0, selected = 0;
    const char *unit;
    double scale = unit_of(report, &unit);
    struct table *table = table_new();

    ranking_columns(table, report, unit, is_emulated(report) ? "emulated" : "");
    for (size_t i = 0; i < n; i++) {
        const struct report_config *config = &report->configs[i];

        if (!config->selected)
            continue;
        selected++;
        if (view->top && shown >= view->top && !config->baseline)
            continue;
        shown++;
        ranking_row(table, report, config, scale);
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
    fprintf(to, "median, and spread as 1.4826 x median absolute deviation, "
                "of n samples\n");
    if (report->normalised)
        fprintf(to, "ranked and compared with the baseline by the normalised "
                    "median: what the typical GPU would have measured\n");
    print_doubts(report, to);
    if (shown < selected)
        fprintf(to, "%zu of %zu shown; --top %zu shows all\n", shown, selected,
                selected);
}

/* What the ranking shows about the baseline, and what it does not. */
static void print_screening(const struct report *report, FILE *to)
{
    const struct report_config *best = &report->configs[0];
    const struct report_config *baseline = report_baseline(report);

    fputc('\n', to);
    if (!baseline)
        fprintf(to, "The baseline was not measured.\n");
    else if (!baseline->rank)
        fprintf(to, "The baseline has no valid time: %s%s%s\n",
                outcome_name(baseline->outcome),
                baseline->cells[0].reason[0] ? ": " : "",
                baseline->cells[0].reason);
    else if (best == baseline)
        fprintf(to, "No configuration is faster than the baseline.\n");
    else
        fprintf(to,
                "The fastest is %.3f x as fast as the baseline, which has "
                "rank %d of %zu.\n"
                "These are medians of the sweep itself, measured at "
                "different times; they are not confirmed.\n",
                baseline->cells[0].time_s / best->cells[0].time_s,
                baseline->rank, ranked(report));
}

/* ---- failures and gates ---- */

struct group {
    enum outcome outcome;
    const char *shape, *reason;
    const char *example; /* key */
    size_t n;
};

static int largest_first(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    if (x->outcome != y->outcome)
        return x->outcome < y->outcome ? -1 : 1;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return strcmp(x->reason, y->reason);
}

static void count_failure(struct group **groups, size_t *n,
                          const struct group *one)
{
    for (size_t i = 0; i < *n; i++) {
        struct group *group = &(*groups)[i];

        if (group->outcome == one->outcome && group->shape == one->shape &&
            strcmp(group->reason, one->reason) == 0) {
            group->n++;
            return;
        }
    }
    *groups = mem_grow(*groups, *n + 1, sizeof(**groups));
    (*groups)[(*n)++] = *one;
}

static size_t group_failures(const struct report *report, struct group **groups)
{
    size_t n = 0;

    for (size_t i = 0; i < report->n_configs; i++) {
        const struct report_config *config = &report->configs[i];
        size_t shape = 0;

        if (config->outcome == OUTCOME_CORRECT ||
            config->outcome == OUTCOME_PENDING || !config->selected)
            continue;
        while (config->cells[shape].outcome != config->outcome)
            shape++;
        count_failure(
            groups, &n,
            &(struct group){ config->outcome, report->shapes[shape].name,
                             config->cells[shape].reason, config->key, 1 });
    }
    if (n)
        qsort(*groups, n, sizeof(**groups), largest_first);
    return n;
}

static void print_failures(const struct report *report, FILE *to)
{
    struct group *groups = NULL;
    size_t n = group_failures(report, &groups);
    struct table *table = table_new();

    table_column(table, 'l', "failed as");
    table_column(table, 'r', "n");
    table_column(table, 'l', "shape");
    table_column(table, 'l', "for example");
    table_column(table, 'l', "reason");
    for (size_t i = 0; i < n && i < GROUPS_SHOWN; i++) {
        table_cell(table, "%s", outcome_name(groups[i].outcome));
        table_cell(table, "%zu", groups[i].n);
        table_cell(table, "%s", groups[i].shape);
        table_cell(table, "%.8s", groups[i].example);
        table_cell(table, "%s", groups[i].reason);
    }
    if (n) {
        fputc('\n', to);
        table_print(table, to);
    }
    if (n > GROUPS_SHOWN)
        fprintf(to, "and %zu more kinds of failure; --json has all\n",
                n - GROUPS_SHOWN);
    table_free(table);
    free(groups);
}

static void count_cell(struct table *table, int64_t count)
{
    if (count < 0)
        table_cell(table, "-");
    else
        table_cell(table, "%" PRId64, count);
}

static void print_gates(const struct report *report, FILE *to)
{
    struct table *table = table_new();

    table_column(table, 'l', "gate");
    table_column(table, 'l', "kind");
    table_column(table, 'r', "first");
    table_column(table, 'r', "alone");
    table_column(table, 'r', "warned");
    table_column(table, 'l', "why");
    for (size_t i = 0; i < report->n_gates; i++) {
        const struct report_gate *gate = &report->gates[i];

        table_cell(table, "%s", gate->name);
        table_cell(table, "%s", gate->kind);
        count_cell(table, gate->rejected_first);
        count_cell(table, gate->rejected_alone);
        count_cell(table, strcmp(gate->kind, "warn") == 0 ? gate->warned : -1);
        table_cell(table, "%s", gate->why);
    }
    if (report->n_gates) {
        fputc('\n', to);
        table_print(table, to);
    }
    table_free(table);
}

/* The conclusion comes first, and its details below the ranking. */
void report_table(const struct report_view *view, FILE *to)
{
    const struct report *report = view->report;
    bool has_verdict = view->conclusion->state != CONCLUSION_NONE;

    print_head(report, to);
    if (has_verdict)
        conclusion_sentences_print(view->conclusion, to);
    print_counts(report, to);
    if (ranked(report)) {
        print_ranking(view, to);
        if (view->conclusion->state != CONCLUSION_DONE)
            print_screening(report, to);
        if (has_verdict)
            conclusion_tables_print(view->conclusion, to);
        report_gpus_table(report, to);
        report_roofline_table(report, to);
        if (view->profiles)
            profile_print(view->profiles, report, to);
    } else {
        fprintf(to, "\n"
                    "No configuration has a correct result and a time, so "
                    "there is nothing to rank.\n");
    }
    print_failures(report, to);
    if (view->lessons)
        lessons_table(view->lessons, to);
    if (!ranked(report) || report->counts.outcomes[OUTCOME_CONSTRAINTS])
        print_gates(report, to);
}
