/* report_refuted.h - takes back what a confirmation found wrong
 *
 * Private to report*.c and to survey/.  A refuted configuration failed at each
 * shape at which it was correct, and has no time there: whoever reads a report
 * sees a failure like any other.
 */
#ifndef FA_COORDINATOR_RESULT_REPORT_REFUTED_H
#define FA_COORDINATOR_RESULT_REPORT_REFUTED_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct report_cell;
struct store;
struct string_pool; /* string_pool.h */

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
 * it is.  One that failed at a shape of the sweep stays as it is. */
bool report_refuted_apply(const struct report_refuted *refuted, const char *key,
                          struct report_cell *cells, size_t n_shapes);

#endif
