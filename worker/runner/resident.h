/* resident.h - inputs and references that stay on the device
 *
 * A problem is the arguments, the reference and the seed.  To make one, the
 * inputs are filled and the reference runs.  Both are kept, so that the next
 * configuration of the same problem starts at once, in whatever order problems
 * come.  If there is no room left (device_room_bytes()), the least recently
 * used problem is dropped.
 *
 * Each problem has several trials: the same shapes from other seeds.  The first
 * has the seed of the request; the others depend on a number that each process
 * draws for itself, so that nobody who writes a kernel knows their values.  A
 * device on which launches share a process has more of them, since a launch
 * may not find the result of an earlier one.
 *
 * After the seeds come the trials with edges (wire/trials.h), which are not
 * timed.  One whose reference is not finite, or beyond the range of an output's
 * type, judges nothing.
 *
 * The path of a reference identifies its contents: the file must not change
 * while the process runs.
 */
#ifndef FA_WORKER_RUNNER_RESIDENT_H
#define FA_WORKER_RUNNER_RESIDENT_H

#include "worker/runner/device/device_kernel.h"
#include "worker/runner/wire/wire_request.h"

enum {
    RESIDENT_PROBLEMS = 64,
    RESIDENT_SHARED = 3, /* seeds at least, where launches share a process */
    RESIDENT_TRIALS = TRIALS_SEEDS_MAX + TRIALS_EDGES_MAX,
    RESIDENT_COPIES = 64 /* of the inputs; if more are needed, there is no
                          * rotation */
};

/* Time limit of one run of a reference.  References are written for clarity: an
 * emulated one takes seconds, so after a minute it hangs. */
#define RESIDENT_REFERENCE_S 60.0

struct trial {
    unsigned number; /* which trial's values these are */
    uint64_t seed;
    unsigned edges; /* bit e: enum edge e */
    bool unjudged;
    /* What inputs hold, and what outputs start as; NULL: poison. */
    struct device_buffer *inputs[WIRE_ARGS_MAX];
    struct device_buffer *references[WIRE_ARGS_MAX]; /* of outputs, fp64 */
    uint64_t input_sums[WIRE_ARGS_MAX];
    uint64_t reference_sums[WIRE_ARGS_MAX];
};

struct problem {
    struct wire_arg args[WIRE_ARGS_MAX];
    size_t n_args;
    struct wire_kernel reference;
    uint64_t seed;
    struct trials kinds;
    /* Of outputs and workspaces; shared by the trials. */
    struct device_buffer *outputs[WIRE_ARGS_MAX];
    struct trial trials[RESIDENT_TRIALS]; /* n_seeds, then those with edges */
    unsigned n_seeds, n_trials;
    struct trial *copies; /* of the trials' inputs, for rotation */
    size_t n_copies;
    bool copied;   /* or an attempt has failed */
    size_t bytes;  /* of all of its buffers */
    uint64_t used; /* time of last use, for eviction */
};

/* The values of a launch: argv[i] points at argument i. */
struct resident_problem_args {
    union {
        void *address;
        unsigned char bytes[8];
        int8_t i8;
        int32_t i32;
        int64_t i64;
    } values[WIRE_ARGS_MAX];
    void *argv[WIRE_ARGS_MAX];
};

struct resident;

struct resident *resident_new(struct device *device);
void resident_free(struct resident *resident); /* NULL is fine */

/* A number that differs from call to call and that no kernel knows. */
uint64_t resident_draw(struct resident *resident);

/* Is the problem of this request resident? */
bool resident_has(struct resident *resident, const struct wire_measure *want);

/* The problem of this request, made if necessary.  Borrowed until the next
 * call.  DEVICE_BROKEN: out of memory, or a broken device.  Any other failure
 * is that of the reference: it cannot be loaded or launched, faults, does not
 * finish, or leaves a NaN.  The text says which. */
int resident_problem(struct resident *resident, const struct wire_measure *want,
                     struct problem **out, struct device_err *err);

/* Make copies of the trials' inputs, so that a launch does not find its own
 * inputs in the caches.  problem->n_copies says how many; it is 0 if there
 * would be too many or memory is short.  Fails only if the device does. */
int resident_rotate(struct resident *resident, struct problem *problem,
                    struct device_err *err);

/* How many copies put 'cache' bytes between two uses of 'inputs' bytes. */
size_t resident_copies(size_t inputs, size_t cache);

/* Arguments for a kernel that writes outputs[i] where i is an output. */
void resident_problem_args(const struct problem *problem,
                           const struct trial *trial,
                           struct device_buffer *const *outputs,
                           struct resident_problem_args *out);

#endif
