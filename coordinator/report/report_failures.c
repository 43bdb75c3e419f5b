#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/lessons/lessons.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"
#include "coordinator/report/report_internal.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/survey/survey.h"

#define GROUPS_SHOWN 20 /* of failures */

struct group {
    enum outcome outcome;
    size_t shape, n;
    const char *reason;
    size_t at; /* place of the first one in the ranking, as an example */
};

struct groups {
    struct group *list;
    size_t n, cap;
};

static int by_kind(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    int reasons;

    if (x->outcome != y->outcome)
        return x->outcome < y->outcome ? -1 : 1;
    if (x->shape != y->shape)
        return x->shape < y->shape ? -1 : 1;
    reasons = lessons_reason_order(x->reason, y->reason);
    return reasons ? reasons : (x->at > y->at) - (x->at < y->at);
}

static int largest_first(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    int reasons;

    if (x->outcome != y->outcome)
        return x->outcome < y->outcome ? -1 : 1;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    reasons = strcmp(x->reason, y->reason);
    return reasons ? reasons : (x->at > y->at) - (x->at < y->at);
}

static void add_failure(struct groups *groups, struct group one)
{
    if (groups->n == groups->cap) {
        groups->cap = groups->cap ? 2 * groups->cap : 256;
        groups->list =
            mem_grow(groups->list, groups->cap, sizeof(*groups->list));
    }
    groups->list[groups->n++] = one;
}

static bool is_failure(enum outcome outcome)
{
    return outcome != OUTCOME_CORRECT && outcome != OUTCOME_PENDING;
}

static void take_report(const struct report *report, struct groups *groups)
{
    for (size_t i = 0; i < report->n_configs; i++) {
        const struct report_config *config = &report->configs[i];
        size_t shape = 0;

        if (!is_failure(config->outcome) || !config->selected)
            continue;
        while (config->cells[shape].outcome != config->outcome)
            shape++;
        if (config->refuted)
            shape = report->n_shapes;
        add_failure(groups, (struct group){ config->outcome, shape, 1,
                                            config->reason, i });
    }
}

static void take_survey(const struct survey *survey, struct groups *groups)
{
    for (size_t i = 0; i < survey_size(survey); i++) {
        struct survey_row row = survey_row(survey, i);

        if (is_failure(row.outcome))
            add_failure(groups, (struct group){ row.outcome, row.shape, 1,
                                                row.reason, i });
    }
}

/* The failures of one kind become one. */
static struct groups group_failures(const struct report_view *view)
{
    struct groups groups = { NULL, 0, 0 };
    size_t n = 0;

    if (view->survey)
        take_survey(view->survey, &groups);
    else
        take_report(view->report, &groups);
    if (groups.n == 0)
        return groups;
    qsort(groups.list, groups.n, sizeof(*groups.list), by_kind);
    for (size_t i = 0; i < groups.n; i++) {
        const struct group *one = &groups.list[i];
        struct group *last = n > 0 ? &groups.list[n - 1] : NULL;

        if (last && last->outcome == one->outcome &&
            last->shape == one->shape &&
            lessons_reason_order(last->reason, one->reason) == 0)
            last->n++;
        else
            groups.list[n++] = *one;
    }
    groups.n = n;
    qsort(groups.list, n, sizeof(*groups.list), largest_first);
    return groups;
}

static void put_example(struct table *table, const struct report_view *view,
                        size_t at)
{
    char key[HASH_HEX];

    if (view->survey)
        survey_key(view->survey, at, key);
    else
        snprintf(key, sizeof(key), "%s", view->report->configs[at].key);
    table_cell(table, "%.8s", key);
}

void report_failures_print(const struct report_view *view, FILE *to)
{
    struct groups found = group_failures(view);
    const struct group *groups = found.list;
    size_t n = found.n;
    struct table *table = table_new();

    table_column(table, 'l', "failed as");
    table_column(table, 'r', "n");
    table_column(table, 'l', "shape");
    table_column(table, 'l', "for example");
    table_column(table, 'l', "reason");
    for (size_t i = 0; i < n && i < GROUPS_SHOWN; i++) {
        table_cell(table, "%s", outcome_name(groups[i].outcome));
        table_cell(table, "%zu", groups[i].n);
        table_cell(table, "%s",
                   groups[i].shape < view->report->n_shapes
                       ? view->report->shapes[groups[i].shape].name
                       : "-");
        put_example(table, view, groups[i].at);
        table_cell(table, "%s", groups[i].reason);
    }
    if (n) {
        fputc('\n', to);
        table_print(table, to);
    }
    if (n > GROUPS_SHOWN)
        paragraph_print(to, 0, "and %zu more kind%s of failure; --json has all",
                        n - GROUPS_SHOWN, n - GROUPS_SHOWN == 1 ? "" : "s");
    table_free(table);
    free(found.list);
}
