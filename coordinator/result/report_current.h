/* report_current.h - what belongs to the sweep that a report is about
 *
 * Of several ways to measure a shape the newest is the current one; results
 * are those that count.  Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_RESULT_REPORT_CURRENT_H
#define FA_COORDINATOR_RESULT_REPORT_CURRENT_H

#include <stdint.h>

struct err;
struct store;

/* What to read, and which members of a row it fills in. */
enum report_current {
    REPORT_CURRENT_GPUS,      /* gpu name driver toolkit: what measured */
    REPORT_CURRENT_WAYS,      /* shape measure_key */
    REPORT_CURRENT_ARTIFACTS, /* config artifact */
    REPORT_CURRENT_BLOCKS,    /* config shape round gpu value: a sample of a
                                 correct result of a confirmation; those of
                                 one result together */
    REPORT_CURRENT_CLOCKS,    /* value: MHz around a result */
    REPORT_CURRENT_CANARIES,  /* gpu shape value: the mean of one's samples,
                                 as SQLite has no median; by GPU, shape and
                                 time */
};

/* Texts live for the call; what is not filled in is "", 0 or NaN. */
struct report_current_row {
    const char *config, *shape, *measure_key, *artifact;
    const char *gpu, *name, *driver, *toolkit;
    int64_t round;
    double value;
};
typedef void report_current_fn(void *arg, const struct report_current_row *row);

/* ERR_STORE */
int report_current_each(struct store *store, int64_t sweep,
                        enum report_current what, report_current_fn *fn,
                        void *arg, struct err *err);

#endif
