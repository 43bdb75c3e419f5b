#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/mem.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"
#include "coordinator/report/report_internal.h"
#include "coordinator/result/report.h"
#include "coordinator/search/effort.h"

#define STRATEGY_MAX 4096 /* bytes of text */

char *report_head_strategy(const struct report *report)
{
    const struct report_search *search = &report->search;
    struct buf to;

    if (!search->method[0]) /* nobody searched: an import */
        return mem_strdup("");
    buf_init(&to, STRATEGY_MAX);
    buf_str(&to, search->method);
    if (strcmp(search->method, "exhaustive") != 0)
        buf_printf(&to, ", seed %" PRId64, search->seed);
    if (!search->headline)
        buf_printf(&to, ", objective %s", search->objective);
    if (search->in_flight > 0)
        buf_printf(&to, ", at most %" PRId64 " in flight", search->in_flight);
    if (strcmp(search->effort, effort_name(EFFORT_NORMAL)) != 0)
        buf_printf(&to, ", effort %s", search->effort);
    return to.bytes;
}

/* What was not measured is not known to be slow. */
static void print_search(const struct report *report, FILE *to)
{
    int64_t tried = report_tried(report), left = report->counts.passed - tried;
    char *strategy;

    if (!report->search.method[0])
        return;
    strategy = report_head_strategy(report);
    if (left > 0)
        paragraph_print(to, 0,
                        "strategy %s: %" PRId64 " of the %" PRId64
                        " configurations that pass were tried; nothing is "
                        "known of the other %" PRId64,
                        strategy, tried, report->counts.passed, left);
    else
        paragraph_print(to, 0,
                        "strategy %s: all %" PRId64
                        " configurations that pass were tried",
                        strategy, report->counts.passed);
    free(strategy);
}

void report_head_print(const struct report *report, FILE *to)
{
    char begun[CLOCK_ISO_BYTES];

    paragraph_print(to, 0,
                    "%s on %s: %" PRId64 " configurations, %" PRId64
                    " rejected by gates",
                    report->name, report->arch, report->counts.configurations,
                    report_rejected(report));
    clock_iso(report->sweep.created_utc, begun);
    paragraph_print(to, 0, "%zu asked for, %" PRId64 " tried; begun %.19sZ%s%s",
                    report->counts.asked, report->counts.tally.tried, begun,
                    report->sweep.ending[0] ? ", the last run ended: " : "",
                    report->sweep.ending);
    print_search(report, to);
    if (report->counts.stale)
        paragraph_print(to, 0,
                        "%" PRId64
                        " older results, of other sources or another way "
                        "of measuring, are kept and not compared",
                        report->counts.stale);
    if (report->sweep.recorded_on)
        paragraph_print(
            to, 0,
            "The times were recorded on %s and are replayed; nothing was "
            "measured on these hosts.",
            report->sweep.recorded_on[0] ? report->sweep.recorded_on
                                         : "an unnamed device");
    if (report_is_emulated(report))
        paragraph_print(to, 0, "%s", REPORT_HEAD_EMULATED);
}

void report_head_counts(const struct report *report, FILE *to)
{
    struct table *table = table_new();

    table_column(table, 'l', "outcome");
    table_column(table, 'r', "configurations");
    for (int i = 0; i < REPORT_SHOWN_COUNTS; i++) {
        int64_t count;
        const char *name = report_shown_count(report, i, &count);

        if (count == 0)
            continue;
        table_cell(table, "%s", name);
        table_cell(table, "%" PRId64, count);
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
}
