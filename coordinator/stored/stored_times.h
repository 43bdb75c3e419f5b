/* stored_times.h - how long things took in the runs of a database
 *
 * Means over all its runs.  Durations of a replay are those of the record.
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_STORED_STORED_TIMES_H
#define FA_COORDINATOR_STORED_STORED_TIMES_H

struct err;
struct store;

/* Seconds; NaN where there were none. */
struct stored_times {
    char device[16];   /* of the newest sweep; "" without one */
    double start_s;    /* of a run, until its first lease */
    double build_s;    /* by a compiler */
    double measure_s;  /* a GPU was held for a screening */
    double external_s; /* an external baseline ran */
};

/* ERR_STORE */
int stored_times_load(struct store *store, struct stored_times *out,
                      struct err *err);

#endif
