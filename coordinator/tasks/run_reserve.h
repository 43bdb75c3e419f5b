/* run_reserve.h - what a command that sweeps keeps back for its confirmation
 */
#ifndef FA_COORDINATOR_TASKS_RUN_RESERVE_H
#define FA_COORDINATOR_TASKS_RUN_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/reserve/reserve.h"

struct err;
struct run;

/* At most so many finalists; blocks without looks.  Few on the cpu device. */
int64_t run_reserve_finalists(const struct run *run);
int64_t run_reserve_blocks(const struct run *run);

/* What the confirmation will do, before anything is known. */
void run_reserve_pass(const struct run *run, struct reserve_pass *out);

/* How long things took in run->db, or in the database that --times names, or
 * take by default, and what the caps leave for hosts: infinite without one.
 * ERR_STORE */
struct run_reserve_past {
    struct reserve_times times;
    bool builds;     /* there were some */
    double used_usd; /* by all commands on the database, for what has a price */
    double left_s;
};
/* Of the database that --times names, if it is of this device; all unknown
 * without one.  ERR_STORE */
int run_reserve_learnt(const struct run *run, struct reserve_times *out,
                       struct err *err);
int run_reserve_past(const struct run *run, struct run_reserve_past *out,
                     struct err *err);

/* Say it before anything is held if the caps seem to buy no verdict.
 * ERR_STORE, or ERR_INPUT for --times */
int run_reserve_say(const struct run *run, const struct reserve_pass *reserve,
                    struct err *err);

#endif
