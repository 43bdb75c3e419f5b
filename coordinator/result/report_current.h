/* report_current.h - queries for the current sweep of a report
 *
 * If a shape was measured in several ways, the newest is current.  Only counted
 * results are read.  Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_RESULT_REPORT_CURRENT_H
#define FA_COORDINATOR_RESULT_REPORT_CURRENT_H

#include <stdint.h>

struct err;
struct store;

/* What to read, and the members of a row that are filled in. */
enum report_current {
    REPORT_CURRENT_GPUS,      /* gpu name driver toolkit: GPUs with
                               * measurements */
    REPORT_CURRENT_WAYS,      /* shape measure_key */
    REPORT_CURRENT_ARTIFACTS, /* config artifact */
    REPORT_CURRENT_BLOCKS,    /* config shape round gpu value: one sample of a
                               * correct confirmation result; samples of one
                               * result are adjacent */
    REPORT_CURRENT_CLOCKS,    /* value: clock in MHz during a result */
    REPORT_CURRENT_CANARIES,  /* gpu shape value: the mean of a canary's
                               * samples, because SQLite has no median; by GPU,
                               * shape and time */
};

/* Texts are valid during the call; members that are not filled in are "" and
 * 0. */
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
