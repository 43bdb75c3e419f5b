/* report_rows.h - reads the rows of a report
 *
 * Private to report*.c and to survey/.  Each table is read once, in the order
 * of its rows in the file: in any other order, each row could mean reading a
 * page again.  Where only some configurations are read, by their keys, so are
 * their rows.
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
struct report_counts;
struct stored_ways; /* stored_ways.h */
struct row_shape;
struct store;
struct string_pool; /* string_pool.h */

/* report_refuted.c: takes back what a confirmation found wrong.  Such a
 * configuration failed at each shape at which it was correct, and has no time
 * there, so a report shows it as a failure like any other. */
struct report_refuted_one; /* a configuration */

struct report_refuted {
    struct report_refuted_one *list; /* in order of the keys */
    size_t n;
};

/* Reasons are kept in 'pool'.  ERR_STORE */
int report_refuted_load(struct store *store, struct string_pool *pool,
                        struct report_refuted *out, struct err *err);
void report_refuted_fini(struct report_refuted *refuted);

/* Change the cells of a configuration, [n_shapes], if it is refuted.  True if
 * they changed.  One that failed at a shape of the sweep stays as it is. */
bool report_refuted_apply(const struct report_refuted *refuted, const char *key,
                          struct report_cell *cells, size_t n_shapes);

struct report_rows_name {
    char *uuid, *name; /* of a GPU */
};

/* While a report is loading, its configurations are sorted by key. */
struct report_rows {
    struct store *store;
    struct report *report;
    char **measure_keys; /* [shapes] the current way to measure each, or NULL */
    const char *keys;    /* JSON array: only these configurations, with
                          * 'measure_keys' and 'names' known before; NULL:
                          * all */
    struct report_rows_name *names; /* by UUID */
    size_t n_names;
    struct report_refuted refuted; /* empty: everything is as screened */
};

/* Run a query with the report's sweep as ?1, and 'keys' as ?2 if there are any.
 * Each row is read into 'row', a struct of this shape, and told to 'fn'. */
typedef void report_rows_fn(void *arg, const void *row);
int report_rows_each(struct report_rows *rows, const char *text,
                     const struct row_shape *shape, void *row,
                     report_rows_fn *fn, void *arg, struct err *err);

/* The index of a configuration by its key, or -1. */
int64_t report_rows_find(const struct report_rows *rows, const char *key);
void report_rows_fini(struct report_rows *rows);

/* report.c: read the sweep, its shapes and its gates. */
int report_parts_load(struct report_rows *rows, struct err *err);

/* report_cells.c: take the current ways, and count the outcomes of others. */
int report_rows_ways(struct report_rows *rows, const struct stored_ways *ways,
                     struct err *err);

/* report_cells.c: read configurations and their outcomes, and count the
 * outcomes with other sources or ways of measuring.  Of times only the median
 * that is stored with an outcome, as time_s. */
int report_cells_load(struct report_rows *rows, struct err *err);

/* report_results.c: read the times of cells; if all are read, those of
 * canaries, too, which normalise them. */
int report_results_load(struct report_rows *rows, struct err *err);
int report_rows_names(struct report_rows *rows, struct err *err);
/* Was the power limit active in any reading of "[0,4,4]"? */
bool report_rows_power_capped(const char *json);

/* report.c: parse the parameters of configurations, and read their times. */
int report_times_load(struct report_rows *rows, struct err *err);
/* report.c: the outcome of a configuration from those of its cells; count it;
 * sort all of them by rank, which is not set. */
void report_settle(struct report_config *config, size_t n_shapes);
void report_count(struct report_counts *counts,
                  const struct report_config *config, size_t n_shapes);
void report_sort(struct report *report);
/* report.c: free configurations, cells and their texts. */
void report_configs_fini(struct report *report);

#endif
