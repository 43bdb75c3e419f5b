/* confirmation_replay.h - the looks of a stored pass, made again
 *
 * What a look decides is a function of the stored results (sequential.h).
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_CONFIRM_CONFIRMATION_REPLAY_H
#define FA_COORDINATOR_CONFIRM_CONFIRMATION_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

struct confirmation;
struct err;
struct sequential;
struct sequential_course;
struct store;

/* The caller's number of a GPU, by its UUID. */
typedef int confirmation_replay_gpu_fn(void *arg, const char *uuid);

/* A run of the external baseline that the rule is against; for the call. */
struct confirmation_replay_time {
    size_t shape;
    int block;
    const char *gpu; /* UUID */
    const double *seconds;
    size_t n;
};
typedef void
confirmation_replay_time_fn(void *arg,
                            const struct confirmation_replay_time *time);
/* Tells all of them, by block (external_times.h).  ERR_STORE */
typedef int confirmation_replay_times_fn(
    struct store *store, const struct confirmation *confirmation,
    confirmation_replay_time_fn *fn, void *arg, struct err *err);

struct confirmation_replay_ask {
    confirmation_replay_gpu_fn *gpu;
    void *arg;
    confirmation_replay_times_fn *times; /* if there are looks at them */
};

/* out    [n_running] is filled in: who is wrong, or was dropped for a fault
 * found  by candidates that run; free it with sequential_free(); NULL after an
 *        error, ERR_STORE */
int confirmation_replay(struct store *store,
                        const struct confirmation *confirmation,
                        const struct confirmation_replay_ask *ask, bool *out,
                        struct sequential **found, struct err *err);

/* The same for a pass that goes on: only new looks are made.
 * course  NULL before the first call; free it with sequential_course_free()
 * found   belongs to the course, until the next call */
int confirmation_replay_on(struct store *store,
                           const struct confirmation *confirmation,
                           const struct confirmation_replay_ask *ask,
                           struct sequential_course **course, bool *out,
                           const struct sequential **found, struct err *err);

#endif
