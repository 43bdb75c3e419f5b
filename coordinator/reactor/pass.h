/* pass.h - a pass: one of the things a sweep does over its life
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
#ifndef FA_COORDINATOR_REACTOR_PASS_H
#define FA_COORDINATOR_REACTOR_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "coordinator/schedule/sched.h"

struct err;
struct past_runs;
struct msg;
struct pass;
struct pollfd;
struct progress_facts;
struct sweep;

struct pass_ops {
    const char *name;
    unsigned purposes; /* of its orders: 1 << enum sched_purpose */

    /* ---- before work begins, in this order */
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

    /* ---- in each turn: order what can be ordered */
    void (*turn)(struct sweep *sweep, struct pass *pass);
    /* Up to PASS_FDS of its own to wait for; those it leaves alone are -1. */
    void (*poll)(struct sweep *sweep, struct pass *pass, struct pollfd *fds);

    /* ---- news */
    void (*host_up)(struct sweep *sweep, struct pass *pass, size_t host);
    void (*host_down)(struct sweep *sweep, struct pass *pass, size_t host);
    /* A measurement of screening, or once more of one, has its result. */
    void (*measured)(struct sweep *sweep, struct pass *pass,
                     const struct sched_lease *job, const struct msg *msg);
    /* The configuration is settled for this shape, or settled again. */
    void (*settled)(struct sweep *sweep, struct pass *pass, int unit, int shape,
                    const char *outcome, double median_s);
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
    /* The fields of a TOOL of it; what they point to lives until the next
     * call. */
    int (*fill)(struct sweep *sweep, struct pass *pass,
                const struct sched_lease *lease, struct msg *msg,
                char key[HASH_HEX], struct err *err);
    /* The bundle with this hash, if it is one of its own. */
    bool (*bundle)(struct sweep *sweep, struct pass *pass, const char *hash,
                   struct msg *msg);
    /* Read the output of a command of it: 'msg' becomes what it is worth, and
     * may point into 'why'.  Returns the command's name. */
    const char *(*judge)(const struct sweep *sweep, const struct pass *pass,
                         struct msg *msg, struct err *why);
    /* How a search that is not exhaustive goes about it. */
    const char *(*method)(const struct sweep *sweep, const struct pass *pass);
    /* What it still waits for although no job is open; NULL for nothing. */
    const char *(*waits_for)(const struct sweep *sweep,
                             const struct pass *pass);
    bool (*is_over)(const struct sweep *sweep, const struct pass *pass);
    void (*progress)(const struct sweep *sweep, const struct pass *pass,
                     struct progress_facts *facts);

    /* ---- the end */
    void (*end)(struct sweep *sweep, struct pass *pass); /* write it down */
    void (*free)(struct pass *pass); /* its state, which is not NULL */
};

struct pass {
    const struct pass_ops *ops;
    int index;   /* for sched_order.pass */
    void *state; /* the pass's own; NULL: it takes no part */
};

#define PASSES_MAX 8
#define PASS_FDS 2 /* of a strategy that is a program */

struct passes {
    struct pass list[PASSES_MAX];
    int n;
    struct pass *lead; /* NULL: it screens */
};

/* 'ops' ends with NULL. */
void pass_init(struct passes *passes, const struct pass_ops *const *ops);
void pass_free(struct passes *passes);

/* Each calls that function of all passes that take part, or of one. */
int pass_choose(struct sweep *sweep, int64_t passed, struct err *err);
int pass_lead(struct sweep *sweep, struct err *err);
int pass_recall(struct sweep *sweep, struct past_runs *past, struct err *err);
int pass_begin(struct sweep *sweep, struct err *err);
void pass_turn(struct sweep *sweep);
void pass_poll(struct sweep *sweep, struct pollfd *fds); /* [PASS_FDS] */
void pass_host_up(struct sweep *sweep, size_t host);
void pass_host_down(struct sweep *sweep, size_t host);
void pass_measured(struct sweep *sweep, const struct sched_lease *job,
                   const struct msg *msg);
void pass_settled(struct sweep *sweep, int unit, int shape, const char *outcome,
                  double median_s);
bool pass_bans(const struct sweep *sweep, size_t host, int gpu);
int pass_samples(const struct sweep *sweep, const struct sched_lease *lease);
bool pass_bundle(struct sweep *sweep, const char *hash, struct msg *msg);
const char *pass_method(const struct sweep *sweep); /* or exhaustive */
const char *pass_waits_for(const struct sweep *sweep);
void pass_progress(const struct sweep *sweep, struct progress_facts *facts);

/* That which makes orders of this purpose, and takes part; or NULL. */
struct pass *pass_of(struct sweep *sweep, enum sched_purpose purpose);
/* The pass of this order: never one that takes no part. */
struct pass *pass_at(struct sweep *sweep, int index);
/* Its state, for the files of the pass itself. */
void *pass_state(const struct sweep *sweep, const struct pass_ops *ops);

#endif
