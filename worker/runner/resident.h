/* resident.h - the problems that stay on the device
 *
 * A problem (problem.h) is kept, so that the next configuration of the same
 * problem starts at once, in whatever order problems come.  If there is no room
 * left (device_room_bytes()), the least recently used problem is dropped.
 *
 * The path of a reference identifies its contents: the file must not change
 * while the process runs.
 */
#ifndef FA_WORKER_RUNNER_RESIDENT_H
#define FA_WORKER_RUNNER_RESIDENT_H

#include "worker/runner/problem.h"

enum {
    RESIDENT_PROBLEMS = 64,
    RESIDENT_COPIES = 64 /* of the inputs; if more are needed, there is no
                          * rotation */
};

struct resident;

struct resident *resident_new(struct device *device);
void resident_free(struct resident *resident); /* NULL is fine */

/* A number that differs from call to call and that no kernel knows. */
uint64_t resident_draw(struct resident *resident);

/* Is the problem of this request resident? */
bool resident_has(struct resident *resident, const struct wire_measure *want);

/* The problem of this request, made if necessary; errors of problem_new().
 * Borrowed until the next call. */
int resident_problem(struct resident *resident, const struct wire_measure *want,
                     struct problem **out, struct device_err *err);

/* A problem like that of this request, 'problem', but with values that no
 * launch has seen; its errors are those of problem_new().  Borrowed until the
 * next call. */
int resident_renew(struct resident *resident, const struct wire_measure *want,
                   const struct problem *problem, struct problem **out,
                   struct device_err *err);

/* Make copies of the trials' inputs, so that a launch does not find its own
 * inputs in the caches.  problem->n_copies says how many; it is 0 if there
 * would be too many or memory is short.  Fails only if the device does. */
int resident_rotate(struct resident *resident, struct problem *problem,
                    struct device_err *err);

/* How many copies put 'cache' bytes between two uses of 'inputs' bytes. */
size_t resident_copies(size_t inputs, size_t cache);

#endif
