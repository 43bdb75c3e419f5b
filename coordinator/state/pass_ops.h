/* pass_ops.h - a pass: one of the things a sweep does over its life
 *
 * A search or a race, the canary, a confirmation with its external baseline,
 * a profile: each is one implementation of the table below, and the reactor
 * knows no other way to them.  Who starts a sweep registers them
 * (sweep_options.passes); a pass that this sweep has no use for leaves its
 * state NULL and is not called again.  At most one pass leads: then its end is
 * the sweep's, and nothing is screened.
 *
 * An order carries the pass that made it (sched_order.pass), and what comes of
 * it is told to that pass alone.  NULL functions are skipped.
 */
#ifndef FA_COORDINATOR_STATE_PASS_OPS_H
#define FA_COORDINATOR_STATE_PASS_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "common/outcome.h"
#include "coordinator/schedule/sched.h"
#include "coordinator/state/pass_wait.h"

struct err;
struct past_runs;
struct msg;
struct msg_bundle;
struct msg_measured;
struct msg_ran;
struct msg_tool;
struct pass;
struct pollfd;
struct progress_facts;
struct sweep;

/* Before work begins, in this order. */
struct pass_start {
    /* 'passed' points pass the gates: 1 when it has made the plan itself, 0
     * when all of them are to be taken. */
    int (*choose)(struct sweep *sweep, struct pass *pass, int64_t passed,
                  struct err *err);
    /* There is a plan and a schedule: 1 when this pass leads the sweep. */
    int (*lead)(struct sweep *sweep, struct pass *pass, struct err *err);
    /* What earlier runs asked for and learnt. */
    int (*recall)(struct sweep *sweep, struct pass *pass,
                  struct past_runs *past, struct err *err);
    /* What earlier runs settled is settled. */
    int (*begin)(struct sweep *sweep, struct pass *pass, struct err *err);
};

/* For a pass whose orders are commands on workers. */
struct pass_commands {
    /* The fields of a TOOL of it; what they point to lives until the next
     * call. */
    int (*fill)(struct sweep *sweep, struct pass *pass,
                const struct sched_lease *lease, struct msg_tool *out,
                char key[HASH_HEX], struct err *err);
    /* The bundle with this hash, if it is one of its own. */
    bool (*bundle)(struct sweep *sweep, struct pass *pass, const char *hash,
                   struct msg_bundle *out);
    /* Read the output of a command of it: 'ran' becomes what it is worth, and
     * may point into 'why'.  Returns the command's name. */
    const char *(*judge)(const struct sweep *sweep, const struct pass *pass,
                         struct msg_ran *ran, struct err *why);
};

struct pass_ops {
    const char *name;
    unsigned purposes; /* of its orders: 1 << enum sched_purpose */
    struct pass_start start;
    struct pass_commands commands;

    /* ---- in each turn: order what can be ordered */
    void (*turn)(struct sweep *sweep, struct pass *pass);
    /* Up to PASS_FDS of its own to wait for; those it leaves alone are -1. */
    void (*poll)(struct sweep *sweep, struct pass *pass, struct pollfd *fds);

    /* ---- news */
    void (*host_up)(struct sweep *sweep, struct pass *pass, size_t host);
    void (*host_down)(struct sweep *sweep, struct pass *pass, size_t host);
    /* A measurement of screening, or once more of one, has its result. */
    void (*measured)(struct sweep *sweep, struct pass *pass,
                     const struct sched_lease *job,
                     const struct msg_measured *result);
    /* The configuration is settled for this shape, or settled again. */
    void (*settled)(struct sweep *sweep, struct pass *pass, int unit, int shape,
                    enum outcome outcome, double median_s);
    /* An order of it is over: with its result, or NULL when there will be
     * none.  One of an earlier run has order 0. */
    void (*ended)(struct sweep *sweep, struct pass *pass,
                  const struct sched_lease *lease, const struct msg *result);
    /* A lease of an order of it was lost; 'died' says how its process died,
     * or is NULL. */
    void (*lost)(struct sweep *sweep, struct pass *pass,
                 const struct sched_lease *lease, const char *died,
                 const char *reason);

    /* ---- questions */
    /* This GPU is not to be used. */
    bool (*bans)(const struct sweep *sweep, const struct pass *pass,
                 size_t host, int gpu);
    /* How many samples it wants of this measurement; 0: as many as usual. */
    int (*samples)(const struct sweep *sweep, const struct pass *pass,
                   const struct sched_lease *lease);
    /* How a search that is not exhaustive goes about it. */
    const char *(*method)(const struct sweep *sweep, const struct pass *pass);
    /* Tell all that it waits for, and until when; nothing: it does not. */
    void (*waits_for)(const struct sweep *sweep, const struct pass *pass,
                      pass_wait_fn *tell, void *arg);
    bool (*is_over)(const struct sweep *sweep, const struct pass *pass);
    void (*progress)(const struct sweep *sweep, const struct pass *pass,
                     struct progress_facts *facts);

    /* ---- the end */
    void (*end)(struct sweep *sweep, struct pass *pass); /* write it down */
    void (*free)(struct pass *pass); /* its state, which is not NULL */
};

#endif
