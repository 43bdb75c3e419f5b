/* sweep_options.h - what a sweep must do, and within which limits
 *
 * The code that starts a sweep fills them in.  What they point to must live
 * until the sweep ends.
 */
#ifndef FA_COORDINATOR_STATE_SWEEP_OPTIONS_H
#define FA_COORDINATOR_STATE_SWEEP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/link/sweep_io.h"
#include "coordinator/live/sweep_notice.h"
#include "coordinator/remote/remote.h"
#include "coordinator/rental/rental_plan.h"

struct artifact_cache;
struct confirmation;
struct gpu_arch_facts;
struct pass_ops;
struct plan;
struct plan_ask;
struct rental;
struct reserve_pass;
struct reserve_times;
struct said;
struct search_settings;
struct store;

#define SWEEP_LINGER_S 90 /* docs/reliability.md */
#define SWEEP_ATTEMPTS 3  /* docs/reliability.md F3 */
/* Called once at the end of a run that has a plan, after the last COMMIT. */
typedef int sweep_done(void *arg, const struct plan *plan, struct store *store,
                       struct err *err);

/* A build that failed, of the reference or of a configuration. */
typedef void sweep_unbuilt(void *arg, bool reference, const char *why);

/* Who looks on. */
struct sweep_watch {
    bool quiet;           /* no progress on standard error */
    struct said *said;    /* by all runs of this command; NULL: no other run */
    sweep_notify *notify; /* or NULL; must not block */
    void *arg;
};

/* When a sweep ends although work is left. */
struct sweep_caps {
    double max_hours;         /* wall clock of this run, 0 for no cap */
    double budget_usd;        /* of the whole sweep, 0 for no cap */
    double (*more_usd)(void); /* what was added to it until now; or NULL */
    double hours_before, usd_before;    /* of this command; they count, too */
    const struct reserve_times *learnt; /* from another sweep; NULL: nothing */
    /* What follows if this run ends well, for which a part of the caps is kept
     * back.  NULL: nothing; the run may use them up. */
    const struct reserve_pass *reserve;
    bool *held_back; /* set if it ended for that; not NULL with 'reserve' */
};

/* A tool of the CUDA toolkit that fa-runner runs under: ncu, or the four of
 * compute-sanitizer one after another. */
struct sweep_tool {
    bool is_sanitizer;
    int64_t limit_ms; /* of each run */
};

/* The hosts that start= acquires (rental.h). */
struct sweep_rental {
    struct rental *machines; /* NULL: none */
    struct store *store;     /* of its rows */
    enum rental_goal goal;
    const struct gpu_arch_facts *believed; /* of their GPUs; or NULL */
    bool *refuted; /* by the first GPU: the run ended; NULL: none is believed */
};

/* How long a host stays with its worker. */
struct sweep_stay {
    struct sweep_rental rental;
    int linger_s;        /* without a coordinator */
    const char *command; /* of owner.h; NULL: this is all of it */
    bool more_follows;   /* if this run ends well, the next step of the command
                          * has the same hosts: no other sweep gets them */
};

struct sweep_options {
    const char *device; /* cuda cpu replay */
    bool builds_only;   /* for 'arch'; nothing is measured */
    bool cover;         /* builds: a covering set (pairwise_cover.h) */
    /* With builds_only: the reference is built, too, and a build that fails is
     * told, and does not end the sweep.  NULL: neither. */
    struct {
        sweep_unbuilt *tell;
        void *arg;
    } unbuilt;
    const char *arch;       /* sm_89; "" to take the GPU's */
    const char *command;    /* for the run's record: sweep, resume */
    const char *hosts_file; /* absolute; "" for this machine only */
    struct remote_options remote;
    struct sweep_link_dial dial; /* for hosts whose workers dial back */
    struct sweep_caps caps;
    const struct plan_ask *ask; /* NULL for the whole sweep */
    /* Instead of screening, blocks of these candidates, which 'ask' names.  The
     * pass fills it in and stores it.  NULL: no confirmation. */
    struct confirmation *confirmation;
    /* Instead of screening, what 'ask' names runs under it.  NULL: no tool. */
    const struct sweep_tool *tool;
    const struct pass_ops *const *passes; /* all passes; ends with NULL */
    struct {
        sweep_done *tell; /* or NULL; an error that it returns ends the run */
        void *arg;
    } done;
    struct artifact_cache *cache; /* NULL: no artifacts are kept */
    const struct search_settings *search_settings; /* NULL: all that pass */
    struct sweep_stay stay;
    int attempts;
    struct sweep_watch watch;
};

#endif
