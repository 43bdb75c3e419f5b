#include "coordinator/lessons/lessons_print.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "coordinator/lessons/lessons.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"

#define VALUES_SHOWN 16   /* of a tunable */
#define PAIRS_SHOWN 10    /* at most */
#define PAIR_MATTERS 0.01 /* of the variance: smaller ones are not printed */
#define FAILURES_SHOWN 20 /* kinds */
#define PAIRS_MAX 8192    /* bytes of text */
#define FAILURE_MAX 65536 /* bytes of text */

static double unit_of(const struct lessons *lessons, const char **name)
{
    double least = INFINITY;

    for (size_t a = 0; a < lessons->n_tunables; a++)
        for (size_t v = 0; v < lessons->tunables[a].n; v++)
            least = fmin(least, lessons->tunables[a].values[v].best_s);
    *name = least < 1e-3 ? "us" : least < 1 ? "ms" : "s";
    return least < 1e-3 ? 1e6 : least < 1 ? 1e3 : 1;
}

static void unit_column(struct table *table, const char *what, const char *unit)
{
    char *heading = mem_printf("%s %s", what, unit);

    table_column(table, 'r', heading);
    free(heading);
}

/* ---- tunables */

static const char *dead_word(enum dead_tunables_verdict dead)
{
    return dead == DEAD_TUNABLES_YES  ? "same code: dead"
           : dead == DEAD_TUNABLES_NO ? "yes"
                                      : "-";
}

static void print_tunables(const struct lessons *lessons, double scale,
                           const char *unit, FILE *to)
{
    struct table *table = table_new();

    table_column(table, 'l', "tunable");
    table_column(table, 'r', "explains %");
    table_column(table, 'l', "changes the code");
    table_column(table, 'r', "best value");
    unit_column(table, "best", unit);
    unit_column(table, "median", unit);
    for (size_t a = 0; a < lessons->n_tunables; a++) {
        const struct lessons_tunable *tunable = &lessons->tunables[a];
        const struct lessons_value *best =
            tunable->best < tunable->n ? &tunable->values[tunable->best] : NULL;

        table_cell(table, "%s", tunable->name);
        table_number(table, 1,
                     lessons->importance.sd > 0 && tunable->n > 1
                         ? 100 * tunable->share
                         : (double)NAN);
        table_cell(table, "%s", dead_word(tunable->dead));
        table_cell(table, "%s", best ? best->text : "-");
        table_number(table, 3, best ? best->best_s * scale : (double)NAN);
        table_number(table, 3, best ? best->median_s * scale : (double)NAN);
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
}

static void print_explained(const struct lessons *lessons, FILE *to)
{
    const struct importance *importance = &lessons->importance;
    struct buf pairs;

    if (!(importance->sd > 0))
        return;
    buf_init(&pairs, PAIRS_MAX);
    for (size_t i = 0; i < importance->n_pairs && i < PAIRS_SHOWN &&
                       importance->pairs[i].share >= PAIR_MATTERS;
         i++) {
        const struct importance_pair *pair = &importance->pairs[i];

        buf_printf(&pairs, "%s%s with %s %.1f %%",
                   i ? ", " : "and pairs, beyond each alone: ",
                   lessons->tunables[pair->a].name,
                   lessons->tunables[pair->b].name, 100 * pair->share);
    }
    if (pairs.len)
        paragraph_put(to, 0, 0, pairs.bytes);
    buf_fini(&pairs);
    paragraph_print(
        to, 0,
        "shares are of the variance of log time over %zu timed "
        "configurations (a "
        "standard deviation of %.1f %%)%s; more than two together and "
        "noise: %.1f %%",
        lessons->timed, 100 * (exp(importance->sd) - 1),
        importance->adjusted ? ""
                             : ", for each tunable alone, because more "
                               "configurations are needed for pairs",
        100 * importance->rest);
    if (lessons->failed)
        fprintf(to, "%zu failed configuration%s left out\n", lessons->failed,
                lessons->failed == 1 ? " is" : "s are");
    if (lessons->built)
        paragraph_print(
            to, 0, "%zu built configurations have %zu different machine codes",
            lessons->built, lessons->codes);
}

/* A summary of the values that are not shown. */
static void put_more(struct table *table, size_t n)
{
    table_cell(table, "%s", "");
    table_cell(table, "%zu more", n);
    for (int k = 0; k < 4; k++)
        table_cell(table, "%s", "");
}

static bool is_varied(const struct lessons *lessons)
{
    for (size_t a = 0; a < lessons->n_tunables; a++)
        if (lessons->tunables[a].n > 1)
            return true;
    return false;
}

static void print_values(const struct lessons *lessons, double scale,
                         const char *unit, FILE *to)
{
    struct table *table;

    if (!is_varied(lessons))
        return;
    table = table_new();
    table_column(table, 'l', "tunable");
    table_column(table, 'r', "value");
    unit_column(table, "best", unit);
    unit_column(table, "median", unit);
    table_column(table, 'r', "timed");
    table_column(table, 'r', "failed");
    for (size_t a = 0; a < lessons->n_tunables; a++) {
        const struct lessons_tunable *tunable = &lessons->tunables[a];

        if (tunable->n < 2)
            continue; /* only one value */
        for (size_t v = 0; v < tunable->n && v < VALUES_SHOWN; v++) {
            const struct lessons_value *value = &tunable->values[v];

            table_cell(table, "%s", v == 0 ? tunable->name : "");
            table_cell(table, "%s%s", v == tunable->best ? "* " : "",
                       value->text);
            table_number(table, 3, value->best_s * scale);
            table_number(table, 3, value->median_s * scale);
            table_cell(table, "%zu", value->timed);
            table_cell(table, "%zu", value->failed);
        }
        if (tunable->n > VALUES_SHOWN)
            put_more(table, tunable->n - VALUES_SHOWN);
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
}

/* ---- failures */

void lessons_put_terms(const struct lessons *lessons,
                       const struct failure_pattern_term *terms, size_t n,
                       struct buf *to)
{
    for (size_t t = 0; t < n; t++) {
        const struct lessons_tunable *tunable =
            &lessons->tunables[terms[t].axis];

        buf_printf(to, " %s=", tunable->name);
        for (size_t v = 0; v < terms[t].n; v++)
            buf_printf(to, "%s%s", v ? "|" : "",
                       tunable->values[terms[t].levels[v]].text);
    }
}

static void put_failure(const struct lessons *lessons,
                        const struct lessons_failure *failure, struct buf *to)
{
    const struct failure_pattern *common = &failure->common;

    buf_printf(to, "%s %zu %s%s%s", common->failures == 1 ? "the" : "all",
               common->failures, failure->outcome, *failure->reason ? ": " : "",
               failure->reason);
    if (common->n_terms) {
        buf_printf(to, "\nshare");
        lessons_put_terms(lessons, common->terms, common->n_terms, to);
        buf_printf(to, "; %zu of %zu correct ones share them",
                   common->right_sharing, common->right);
    }
    if (common->n_unvaried) {
        buf_printf(to, "\nshare");
        lessons_put_terms(lessons, common->unvaried, common->n_unvaried, to);
        buf_printf(to,
                   common->right ? "; all %zu correct ones share them too, so "
                                   "they cannot be judged"
                                 : "; no configuration is correct, so none of "
                                   "these can be judged: vary them",
                   common->right);
    }
    if (!common->n_terms && !common->n_unvaried)
        buf_printf(to, is_varied(lessons)
                           ? "\nhave no value in common"
                           : "\nno tunable was varied, so none can be judged");
    if (common->n_part) {
        buf_printf(to, "\n%zu of them are with", common->part_failures);
        lessons_put_terms(lessons, common->part, common->n_part, to);
        buf_printf(to, ", and no configuration with it is correct");
    }
}

static void print_failure(const struct lessons *lessons,
                          const struct lessons_failure *failure, FILE *to)
{
    struct buf text;

    buf_init(&text, FAILURE_MAX);
    put_failure(lessons, failure, &text);
    paragraph_put(to, 0, 4, text.bytes);
    buf_fini(&text);
}

static void print_failures(const struct lessons *lessons, FILE *to)
{
    size_t n = lessons->n_failures;

    if (n)
        fprintf(to, "\n"
                    "what the failures have in common\n");
    for (size_t i = 0; i < n && i < FAILURES_SHOWN; i++)
        print_failure(lessons, &lessons->failures[i], to);
    if (n > FAILURES_SHOWN || lessons->other_failures)
        fprintf(to, "and more kinds of failure; --json has %zu\n", n);
}

/* ---- gates */

static void print_gates(const struct lessons *lessons, double scale,
                        const char *unit, FILE *to)
{
    static const char *const truths[] = { [LESSONS_UNSEEN] = "not seen",
                                          [LESSONS_TRUE] = "yes, slower",
                                          [LESSONS_FALSE] = "no, faster" };
    struct table *table = table_new();

    table_column(table, 'l', "warn gate");
    table_column(table, 'l', "came true");
    table_column(table, 'r', "timed");
    unit_column(table, "median", unit);
    unit_column(table, "others", unit);
    table_column(table, 'r', "slower %");
    table_column(table, 'r', "p");
    table_column(table, 'r', "best rank");
    table_column(table, 'r', "failed");
    table_column(table, 'r', "others failed");
    for (size_t g = 0; g < lessons->n_gates; g++) {
        const struct lessons_gate *gate = &lessons->gates[g];

        table_cell(table, "%s", gate->name);
        table_cell(table, "%s", truths[gate->truth]);
        table_cell(table, "%zu of %zu", gate->timed, gate->warned);
        table_number(table, 3, gate->median_s * scale);
        table_number(table, 3, gate->others_median_s * scale);
        table_number(table, 0, 100 * gate->slower);
        if (isnan(gate->p))
            table_cell(table, "-");
        else
            table_cell(table, "%.2g", gate->p);
        if (gate->best_rank)
            table_cell(table, "%zu", gate->best_rank);
        else
            table_cell(table, "-");
        table_cell(table, "%zu", gate->failed);
        table_cell(table, "%zu", gate->others_failed);
    }
    if (lessons->n_gates) {
        fputc('\n', to);
        table_print(table, to);
        paragraph_print(
            to, 0,
            "slower: share of the pairs of a warned and another configuration "
            "in which the warned one is slower; other tunables may differ");
    }
    table_free(table);
}

void lessons_table(const struct lessons *lessons, FILE *to)
{
    const char *unit;
    double scale = unit_of(lessons, &unit);

    if (lessons->timed + lessons->failed == 0)
        return;
    fprintf(to, "\nlessons\n");
    print_tunables(lessons, scale, unit, to);
    print_explained(lessons, to);
    print_values(lessons, scale, unit, to);
    print_failures(lessons, to);
    print_gates(lessons, scale, unit, to);
}
