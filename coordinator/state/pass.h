/* pass.h - the passes of a sweep (pass_ops.h), and how the reactor calls them
 */
#ifndef FA_COORDINATOR_STATE_PASS_H
#define FA_COORDINATOR_STATE_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/outcome.h"
#include "coordinator/state/pass_ops.h"

struct pass {
    const struct pass_ops *ops;
    int index;   /* for sched_order.pass */
    void *state; /* of the pass; NULL: it takes no part */
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

/* Each calls the function of that name in all passes that take part, or in the
 * one that it concerns. */
int pass_choose(struct sweep *sweep, int64_t passed, struct err *err);
int pass_lead(struct sweep *sweep, struct err *err);
int pass_recall(struct sweep *sweep, struct past_runs *past, struct err *err);
int pass_begin(struct sweep *sweep, struct err *err);
void pass_turn(struct sweep *sweep);
void pass_poll(struct sweep *sweep, struct pollfd *fds); /* [PASS_FDS] */
void pass_host_up(struct sweep *sweep, size_t host);
void pass_host_down(struct sweep *sweep, size_t host);
void pass_measured(struct sweep *sweep, const struct sched_lease *job,
                   const struct msg_measured *result);
void pass_settled(struct sweep *sweep, int unit, int shape,
                  enum outcome outcome, double median_s);
bool pass_bans(const struct sweep *sweep, size_t host, int gpu);
int pass_samples(const struct sweep *sweep, const struct sched_lease *lease);
int pass_repeats(const struct sweep *sweep, const struct sched_lease *lease);
bool pass_bundle(struct sweep *sweep, const char *hash, struct msg_bundle *out);
const char *pass_method(const struct sweep *sweep); /* or exhaustive */
bool pass_waits(const struct sweep *sweep);         /* any, for anything */
void pass_progress(const struct sweep *sweep, struct progress_facts *facts);

/* The pass that takes part and makes orders of this purpose, or NULL. */
struct pass *pass_of(struct sweep *sweep, enum sched_purpose purpose);
/* The pass of this order: never one that takes no part. */
struct pass *pass_at(struct sweep *sweep, int index);
/* Its state, for the files of the pass itself. */
void *pass_state(const struct sweep *sweep, const struct pass_ops *ops);

#endif
