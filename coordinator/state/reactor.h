/* reactor.h - a running sweep: its clock, its end, and the four parts of it
 */
#ifndef FA_COORDINATOR_STATE_REACTOR_H
#define FA_COORDINATOR_STATE_REACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/link/sweep_io.h"
#include "coordinator/state/fleet.h"
#include "coordinator/state/mail.h"
#include "coordinator/state/pass.h"
#include "coordinator/live/progress.h"
#include "coordinator/state/sweep_options.h"
#include "coordinator/state/work.h"
#include "coordinator/text/exit_code.h"

/* Everything belongs to the reactor's thread. */
struct reactor {
    const struct sweep_options *options;
    struct sweep_io io;
    struct progress *progress;
    int64_t epoch;
    int64_t sweep_id;
    int64_t started_ns;
    int64_t turn_ns; /* end of the last turn of the loop */
    struct {
        int64_t beat_ns, flush_ns, leases_ns;
        bool leases_wait; /* for the next COMMIT's time */
    } last;               /* when each was done last */
    struct {
        int64_t turns, busy_ns, busiest_ns; /* CPU of all, and of one */
    } load;
    double told_s; /* the best that was told (notices.h); 0: none yet */

    int stopping; /* signals taken: 1 finish what runs, 2 at once */
    int64_t stop_ns;
    /* When the rest of the caps was kept for what follows, and until when the
     * leases that are out may end; 0: not yet */
    int64_t closed_ns, close_by_ns;
    int said_fit;       /* configurations that were said to fit; 0: none were */
    bool said_none;     /* that no verdict fits */
    const char *ending; /* why it stops, NULL while it runs */
    int exit_code;      /* enum exit_code, or 128 + signal */
    struct err fatal;   /* why it ended, for the user */
};

struct sweep {
    struct reactor reactor;
    struct fleet fleet;   /* the hosts */
    struct work work;     /* the units of work, and their leases */
    struct mail mail;     /* rows and results that wait */
    struct passes passes; /* what the work is for */
};

/* ---- reactor.c */
int64_t reactor_now(const struct sweep *sweep); /* CLOCK_BOOTTIME */
int64_t reactor_utc(const struct sweep *sweep);
/* For what is billed: the clock of the acquisitions (rental.h). */
int64_t reactor_steady_utc(const struct sweep *sweep);
/* What all hosts with a price cost so far, in all runs; NaN without one. */
double reactor_usd(const struct sweep *sweep);
/* The budget, with what was added to it until now; 0: none. */
double reactor_budget_usd(const struct sweep *sweep);
/* How long the caps still let hosts be held, in seconds; infinite without. */
double reactor_left_s(const struct sweep *sweep);
/* How long things take: in this run so far, else as before it. */
struct reserve_times reactor_times(const struct sweep *sweep);
/* Stop, and tell the user why; the first reason counts. */
void reactor_fail(struct sweep *sweep, enum exit_code exit_code,
                  const struct err *why);

#endif
