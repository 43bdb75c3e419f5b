/* compare_looks.h - the looks of the passes whose blocks are compared
 *
 * A confirmation that ends when its results are clear ends at a moment that is
 * lucky for some of its candidates.  An interval of their times must be wider
 * for that (look_level.h), on either side of a comparison.
 *
 * Immutable once loaded.  Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_COMPARE_COMPARE_LOOKS_H
#define FA_COORDINATOR_COMPARE_COMPARE_LOOKS_H

#include <stddef.h>
#include <stdint.h>

struct compare_looks;
struct err;
struct store;

/* Those of all confirmations of the sweep.  ERR_STORE */
int compare_looks_load(struct store *store, int64_t sweep,
                       struct compare_looks **out, struct err *err);
void compare_looks_free(struct compare_looks *looks); /* NULL is fine */

/* How many finalists the largest confirmation had; 0 without one. */
size_t compare_looks_finalists(const struct compare_looks *looks);

/* A configuration of either side, by its key. */
struct compare_looked {
    const struct compare_looks *looks;
    const char *key;
};

/* The two-sided level of the interval of their ratio, so that all looks at
 * either of them together cost at most 'alpha'.  It is the same for b and a. */
double compare_looks_level(struct compare_looked a, struct compare_looked b,
                           double alpha);

#endif
