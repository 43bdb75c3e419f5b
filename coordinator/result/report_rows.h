/* report_rows.h - reads the rows of a report
 *
 * Private to report*.c.  Each table is read once, in the order of its rows in
 * the file: in any other order, each row could mean reading a page again.
 */
#ifndef FA_COORDINATOR_RESULT_REPORT_ROWS_H
#define FA_COORDINATOR_RESULT_REPORT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct report;
struct report_cell;
struct report_config;
struct row_shape;
struct store;

/* While a report is loading, its configurations are sorted by key. */
struct report_rows {
    struct store *store;
    struct report *report;
    char **measure_keys; /* [shapes] the current way to measure each, or NULL */
};

/* Run a query with the report's sweep as ?1.  Each row is read into 'row', a
 * struct of this shape, and told to 'fn'. */
typedef void report_rows_fn(void *arg, const void *row);
int report_rows_each(struct report_rows *rows, const char *text,
                     const struct row_shape *shape, void *row,
                     report_rows_fn *fn, void *arg, struct err *err);

/* The index of a configuration by its key, or -1. */
int64_t report_rows_find(const struct report_rows *rows, const char *key);
void report_rows_fini(struct report_rows *rows);

/* report_cells.c: read configurations and their outcomes, and count the
 * outcomes with other sources or ways of measuring.  Of times only the median
 * that is stored with an outcome, as time_s. */
int report_cells_load(struct report_rows *rows, struct err *err);

/* report_results.c: read the times of cells and of canaries. */
int report_results_load(struct report_rows *rows, struct err *err);

#endif
