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
#include "coordinator/remote/remote.h"

struct confirmation;
struct pass_ops;
struct plan;
struct plan_ask;
struct search_settings;
struct store;

#define SWEEP_LINGER_S 90 /* docs/reliability.md */
#define SWEEP_ATTEMPTS 3  /* docs/reliability.md F3 */
/* Called once at the end of a run that has a plan, settled or not, after the
 * last COMMIT. */
typedef int sweep_done(void *arg, const struct plan *plan, struct store *store,
                       struct err *err);

/* A build that failed, of the reference or of a configuration. */
typedef void sweep_unbuilt(void *arg, bool reference, const char *why);

/* When a sweep ends although work is left. */
struct sweep_caps {
    double max_hours;    /* wall clock of this run, 0 for no cap */
    double budget_usd;   /* of the whole sweep, 0 for no cap */
    double hours_before; /* of this command so far; they count for the cap */
    double usd_before;
};

/* A tool of the CUDA toolkit that fa-runner runs under: ncu, or the four of
 * compute-sanitizer one after another. */
struct sweep_tool {
    bool is_sanitizer;
    int64_t limit_ms; /* of each run */
};

/* How long a host stays with its worker. */
struct sweep_stay {
    int linger_s;        /* without a coordinator */
    const char *command; /* of owner.h; NULL: this is all of it */
    bool more_follows;   /* if this run ends well, the next step of the command
                          * has the same hosts: no other sweep gets them */
};

struct sweep_options {
    const char *device; /* cuda cpu */
    bool builds_only;   /* for 'arch'; nothing is measured */
    bool cover;         /* builds: a covering set (pairwise_cover.h) */
    /* With builds_only: the reference is built as well, and each build that
     * fails is told, and does not end the sweep.  NULL: neither. */
    sweep_unbuilt *unbuilt;
    void *unbuilt_arg;
    const char *arch;       /* sm_89; "" to take the GPU's */
    const char *command;    /* for the run's record: sweep, resume */
    const char *hosts_file; /* absolute; "" for this machine only */
    struct remote_options remote;
    struct sweep_caps caps;
    const struct plan_ask *ask; /* NULL for the whole sweep */
    /* Instead of screening, blocks of these candidates, which 'ask' names.  The
     * pass fills it in and stores it.  NULL: no confirmation. */
    struct confirmation *confirmation;
    /* Instead of screening, what 'ask' names runs under it.  NULL: no tool. */
    const struct sweep_tool *tool;
    const struct pass_ops *const *passes; /* all passes; ends with NULL */
    sweep_done *done; /* or NULL; an error that it returns ends the run */
    void *done_arg;
    const struct search_settings
        *search_settings; /* how to search; NULL for all that pass */
    struct sweep_stay stay;
    int attempts;
    bool quiet;
};

#endif
