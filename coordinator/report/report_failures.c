#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"
#include "coordinator/report/report_internal.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"

#define GROUPS_SHOWN 20 /* of failures */

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

void report_failures_print(const struct report_view *view, FILE *to)
{
    struct group *groups = NULL;
    size_t n = group_failures(view->report, &groups);
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
        paragraph_print(to, 0, "and %zu more kinds of failure; --json has all",
                        n - GROUPS_SHOWN);
    table_free(table);
    free(groups);
}
