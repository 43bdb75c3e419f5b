/* pass_ops.h - a pass: one of the things a sweep does over its life
 *
 * A search or a race, the canary, a confirmation with its external baselines,
 * a profile: each implements the table below, and the reactor calls them only
 * through it.  The code that starts a sweep registers them
 * (sweep_options.passes).  A pass that a sweep does not need leaves its state
 * NULL and is not called again.  At most one pass leads: then nothing is
 * screened, and the sweep ends when that pass is over.
 *
 * An order carries the pass that made it (sched_order.pass), and only that pass
 * gets its result.  NULL functions are skipped.
 */
#ifndef FA_COORDINATOR_STATE_PASS_OPS_H
#define FA_COORDINATOR_STATE_PASS_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "common/outcome.h"
#include "coordinator/schedule/sched.h"
#include "coordinator/state/pass_start.h"
#include "coordinator/state/pass_wait.h"

struct err;
struct msg;
struct msg_bundle;
struct msg_measured;
struct msg_ran;
struct msg_tool;
struct pass;
struct pollfd;
struct progress_facts;
struct sweep;

/* For a pass whose orders are commands on workers. */
struct pass_commands {
    /* Fill in a TOOL of this pass; what its fields point to lives until the
     * next call. */
    int (*fill)(struct sweep *sweep, struct pass *pass,
                const struct sched_lease *lease, struct msg_tool *out,
                char key[HASH_HEX], struct err *err);
    /* The bundle with this hash, if the pass has it. */
    bool (*bundle)(struct sweep *sweep, struct pass *pass, const char *hash,
                   struct msg_bundle *out);
    /* Read the output of one of its commands and set the outcome in 'ran',
     * which may point into 'why'.  Returns the command's name. */
    const char *(*judge)(const struct sweep *sweep, const struct pass *pass,
                         struct msg_ran *ran, struct err *why);
};

/* How much it wants of a measurement; 0, or NULL: as much as usual. */
struct pass_amounts {
    int (*samples)(const struct sweep *sweep, const struct pass *pass,
                   const struct sched_lease *lease);
    /* Launches after the samples that are only checked. */
    int (*repeats)(const struct sweep *sweep, const struct pass *pass,
                   const struct sched_lease *lease);
};

/* For a pass that leads. */
struct pass_end {
    /* A cap is reached: true if it ends with what it has, and then is over. */
    bool (*close)(struct sweep *sweep, struct pass *pass);
    void (*store)(struct sweep *sweep, struct pass *pass); /* that it ended */
};

struct pass_ops {
    const char *name;
    unsigned purposes; /* of its orders: 1 << enum sched_purpose */
    struct pass_start start;
    struct pass_commands commands;
    struct pass_amounts amounts;

    /* ---- in each turn: order what can be ordered */
    void (*turn)(struct sweep *sweep, struct pass *pass);
    /* Add up to PASS_FDS descriptors to wait for; unused ones are -1. */
    void (*poll)(struct sweep *sweep, struct pass *pass, struct pollfd *fds);

    /* ---- news */
    void (*host_up)(struct sweep *sweep, struct pass *pass, size_t host);
    void (*host_down)(struct sweep *sweep, struct pass *pass, size_t host);
    /* A measurement of screening, or its repetition, has its result. */
    void (*measured)(struct sweep *sweep, struct pass *pass,
                     const struct sched_lease *job,
                     const struct msg_measured *result);
    /* The configuration is settled for this shape, or settled again. */
    void (*settled)(struct sweep *sweep, struct pass *pass, int unit, int shape,
                    enum outcome outcome, double median_s);
    /* One of its orders is over, with its result, or NULL without one.  In an
     * order of an earlier run, 'order' is 0. */
    void (*ended)(struct sweep *sweep, struct pass *pass,
                  const struct sched_lease *lease, const struct msg *result);
    /* A lease of one of its orders was lost; 'died' says how its process died,
     * or is NULL. */
    void (*lost)(struct sweep *sweep, struct pass *pass,
                 const struct sched_lease *lease, const char *died,
                 const char *reason);

    /* ---- questions */
    /* Must this GPU not be used? */
    bool (*bans)(const struct sweep *sweep, const struct pass *pass,
                 size_t host, int gpu);
    /* The method of a search that is not exhaustive. */
    const char *(*method)(const struct sweep *sweep, const struct pass *pass);
    /* Tell everything that it waits for, and until when. */
    void (*waits_for)(const struct sweep *sweep, const struct pass *pass,
                      pass_wait_fn *tell, void *arg);
    bool (*is_over)(const struct sweep *sweep, const struct pass *pass);
    void (*progress)(const struct sweep *sweep, const struct pass *pass,
                     struct progress_facts *facts);

    struct pass_end end;
    void (*free)(struct pass *pass); /* its state, which is not NULL */
};

#endif
