/* sweep.h - run a sweep: the reactor of fa-coord
 *
 * One thread owns the ROUTER, the timers, the database and all state; each
 * host has a thread of the host threads that moves bytes.  A turn of the loop
 * takes what has arrived, hands out what can be handed out, and commits.
 *
 * After a turn that took longer than a second (a commit, a sleeping laptop),
 * deadlines are moved by as much and the sockets are read before anything is
 * given up.
 */
#ifndef FA_COORDINATOR_REACTOR_SWEEP_H
#define FA_COORDINATOR_REACTOR_SWEEP_H

#include <stdbool.h>

#include "common/err.h"
#include "coordinator/remote/remote.h"

struct confirmation;
struct pass_ops;
struct hosts;
struct plan;
struct plan_ask;
struct spec;
struct store;
struct sweep_io;
struct search_settings;

#define SWEEP_LINGER_S 90 /* docs/reliability.md */
#define SWEEP_ATTEMPTS 3  /* docs/reliability.md F3 */
/* Called once at the end of a run that got as far as a plan, settled or not,
 * with everything committed. */
typedef int sweep_done(void *arg, const struct plan *plan, struct store *store,
                       struct err *err);

/* When a sweep ends although work is left. */
struct sweep_caps {
    double max_hours;    /* wall clock of this run, 0 for no cap */
    double budget_usd;   /* of the whole sweep, 0 for no cap */
    double hours_before; /* that count for the caps, besides */
    double usd_before;
};

struct sweep_options {
    const char *device;     /* cuda cpu */
    bool builds_only;       /* for 'arch'; nothing is measured */
    bool cover;             /* of them, a covering set (pairwise_cover.h) */
    const char *arch;       /* sm_89; "" to take the GPU's */
    const char *command;    /* for the run's record: sweep, resume */
    const char *hosts_file; /* absolute; "" for this machine alone */
    struct remote_options remote;
    struct sweep_caps caps;
    const struct plan_ask *ask; /* NULL for the whole sweep */
    /* Blocks of these candidates, who are what 'ask' names, instead of
     * screening; filled in, and written down, as it goes.  NULL: none. */
    struct confirmation *confirmation;
    bool profile; /* what 'ask' names under a profiler, instead of screening */
    const struct pass_ops *const *passes; /* all there are; ends with NULL */
    sweep_done *done; /* or NULL; what it returns, < 0, is the end */
    void *done_arg;
    const struct search_settings
        *search_settings; /* how to search; NULL for all that pass */
    int linger_s;
    int attempts;
    bool quiet;
};

/* Run until everything is settled, or it cannot go on, or it is told to stop.
 * 'store' is open for writing and stays the caller's.  Returns the exit code
 * of the program (docs/exit-codes.md); 'err' is filled unless it is 0. */
int sweep_run(struct spec *spec, const struct hosts *hosts, struct store *store,
              const struct sweep_options *options, struct err *err);

/* The same in a world of the caller's: simulated hosts, time and disk. */
int sweep_run_with(const struct sweep_io *io, struct spec *spec,
                   const struct hosts *hosts, struct store *store,
                   const struct sweep_options *options, struct err *err);

#endif
