/* confirmation_replay.h - the looks of a stored pass, made again
 *
 * What a look decides is a function of the stored results (sequential.h).
 * Thread rule: that of the store.
 */
#ifndef FA_COORDINATOR_CONFIRM_CONFIRMATION_REPLAY_H
#define FA_COORDINATOR_CONFIRM_CONFIRMATION_REPLAY_H

#include <stdbool.h>

struct confirmation;
struct err;
struct sequential;
struct sequential_course;
struct store;

/* The caller's number of a GPU, by its UUID. */
typedef int confirmation_replay_gpu_fn(void *arg, const char *uuid);

/* out    [n_running] is filled in: who is wrong, or was dropped for a fault
 * found  by candidates that run; free it with sequential_free(); NULL after an
 *        error, ERR_STORE */
int confirmation_replay(struct store *store,
                        const struct confirmation *confirmation,
                        confirmation_replay_gpu_fn *gpu, void *arg, bool *out,
                        struct sequential **found, struct err *err);

struct confirmation_replay_cards {
    confirmation_replay_gpu_fn *gpu;
    void *arg;
};

/* The same for a pass that goes on: only new looks are made.
 * course  NULL before the first call; free it with sequential_course_free()
 * found   belongs to the course, until the next call */
int confirmation_replay_on(struct store *store,
                           const struct confirmation *confirmation,
                           const struct confirmation_replay_cards *cards,
                           struct sequential_course **course, bool *out,
                           const struct sequential **found, struct err *err);

#endif
