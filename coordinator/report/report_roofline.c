#include <math.h>
#include <stdbool.h>

#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/text/json_out.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/table.h"

#define OVER 1.02 /* clocks do not explain more: the floor is wrong */

static double time_of(const struct report_config *config, size_t shape)
{
    return config && config->rank ? config->cells[shape].summary.median
                                  : (double)NAN;
}

static void floor_row(struct table *table, const struct report *report,
                      size_t shape, size_t floor)
{
    const struct roofline *roofline = &report->shapes[shape].roofline;
    const struct report_config *baseline = report_baseline(report);

    table_cell(table, "%s", report->shapes[shape].name);
    table_cell(table, "%s", roofline->names[floor]);
    table_number(table, 3, 1e6 * roofline->seconds[floor]);
    table_cell(table, "%s", floor == roofline->binds ? "yes" : "");
    table_number(table, 1,
                 100 * roofline_share(roofline, floor,
                                      time_of(&report->configs[0], shape)));
    table_number(table, 1,
                 100 *
                     roofline_share(roofline, floor, time_of(baseline, shape)));
}

/* A time below a floor means an error in the sweep file, or a device that is
 * faster than its facts. */
static void warn_of_passed(const struct report *report, FILE *to)
{
    for (size_t s = 0; s < report->n_shapes; s++) {
        const struct roofline *roofline = &report->shapes[s].roofline;

        for (size_t f = 0; f < roofline->n; f++)
            if (roofline_share(roofline, f, time_of(&report->configs[0], s)) >
                OVER)
                paragraph_print(to, 0,
                                "floor '%s' at %s is not a floor: the fastest "
                                "configuration takes less time",
                                roofline->names[f], report->shapes[s].name);
    }
}

bool report_roofline_has(const struct report *report)
{
    for (size_t s = 0; s < report->n_shapes; s++)
        for (size_t f = 0; f < report->shapes[s].roofline.n; f++)
            if (!isnan(report->shapes[s].roofline.seconds[f]))
                return true;
    return false;
}

void report_roofline_table(const struct report *report, FILE *to)
{
    struct table *table;

    if (!report_roofline_has(report))
        return;
    table = table_new();

    table_column(table, 'l', "shape");
    table_column(table, 'l', "floor");
    table_column(table, 'r', "us");
    table_column(table, 'l', "binds");
    table_column(table, 'r', "fastest %");
    table_column(table, 'r', "baseline %");
    for (size_t s = 0; s < report->n_shapes; s++)
        for (size_t f = 0; f < report->shapes[s].roofline.n; f++) {
            if (isnan(report->shapes[s].roofline.seconds[f]))
                continue;
            floor_row(table, report, s, f);
        }
    fputc('\n', to);
    table_print(table, to);
    paragraph_print(to, 0, "%% of a floor: the floor divided by the median");
    warn_of_passed(report, to);
    table_free(table);
}

void report_put_floors(struct json_out *out, const struct report *report,
                       size_t shape)
{
    const struct roofline *roofline = &report->shapes[shape].roofline;

    json_out_open(out, "floors", '[');
    for (size_t f = 0; f < roofline->n; f++) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "name", roofline->names[f]);
        json_out_real(out, "seconds", roofline->seconds[f]);
        json_out_bool(out, "binds", f == roofline->binds);
        json_out_close(out);
    }
    json_out_close(out);
}

void report_put_shares(struct json_out *out, const struct report *report,
                       size_t shape, double time_s)
{
    const struct roofline *roofline = &report->shapes[shape].roofline;

    json_out_open(out, "of_floors", '{');
    for (size_t f = 0; f < roofline->n; f++)
        json_out_real(out, roofline->names[f],
                      roofline_share(roofline, f, time_s));
    json_out_close(out);
}
