/* report_print.h - the renderings of a report: for people, JSON, CSV
 *
 * docs/report.md describes the JSON and the CSV. Texts from the database were
 * cleaned when it was read.
 */
#ifndef FA_COORDINATOR_REPORT_REPORT_PRINT_H
#define FA_COORDINATOR_REPORT_REPORT_PRINT_H

#include <stdbool.h>
#include <stdio.h>

struct conclusion;
struct costs;
struct err;
struct foreseen;
struct report_cost;
struct json_out;
struct lessons;
struct profile;
struct report;
struct report_cell;
struct survey;

struct report_view {
    const struct report *report;
    const struct report_cost *cost;
    const struct costs *costs;       /* NULL: not shown */
    const struct foreseen *foreseen; /* NULL: likewise */
    const struct conclusion *conclusion;
    const struct lessons *lessons;  /* NULL: none are printed */
    const struct profile *profiles; /* likewise */
    size_t top;                     /* rows of the ranking; 0 for all */
    struct survey *survey; /* the report has some configurations only, and this
                            * all; NULL: the report has all */
};

/* All there is: the head, and the sections but for the cost. */
void report_table(const struct report_view *view, FILE *to);
/* The answer alone: a sentence, and one for each further shape. */
void report_summary_answer(const struct report_view *view, FILE *to);
/* The answer, what it rests on and cost, the five best, and what was learnt. */
void report_summary(const struct report_view *view, FILE *to);
/* All rows.  ERR_STORE if they cannot be read (report_view.survey). */
int report_csv(const struct report_view *view, FILE *to, struct err *err);
int report_json(const struct report_view *view, FILE *to, struct err *err);
void report_cost_table(const struct report_view *view, FILE *to);

/* What the cost was spent on; the view has 'costs'. */
void report_spending_table(const struct report_view *view, FILE *to);
void report_spending_csv(const struct report_view *view, FILE *to);
void report_put_spending(struct json_out *out, const struct costs *costs);

/* Parts of the JSON: the members about the sweep; "counts"; "shapes"; "cost".
 */
void report_put_sweep(struct json_out *out, const struct report *report);
void report_put_counts(struct json_out *out, const struct report *report);
void report_put_shapes(struct json_out *out, const struct report *report);
void report_put_cost(struct json_out *out, const struct report *report,
                     const struct report_cost *cost);

/* What the newest command was thought to take, and took; nothing if it was not
 * estimated.  The caller frees it. */
char *report_foreseen_text(const struct report_view *view);
void report_put_foreseen(struct json_out *out, const struct foreseen *foreseen);

/* The GPUs, judged by their canaries and by each other's results; nothing if
 * there are no canaries. */
bool report_gpus_has(const struct report *report);
void report_gpus_table(const struct report *report, FILE *to);
void report_put_gpus(struct json_out *out, const struct report *report);

/* The floors of all shapes, and how close the fastest and the baseline come to
 * each; nothing without floors. */
bool report_roofline_has(const struct report *report);
void report_roofline_table(const struct report *report, FILE *to);
/* The "floors" of a shape, and the share of each that a time reaches. */
void report_put_floors(struct json_out *out, const struct report *report,
                       size_t shape);
void report_put_shares(struct json_out *out, const struct report *report,
                       size_t shape, double time_s);

#endif
