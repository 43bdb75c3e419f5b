/* resident.h - inputs and references that stay on the device
 *
 * A problem is what a configuration is measured on: the arguments, the
 * reference and the seed.  Making one means filling the inputs and running
 * the reference; both are kept, so that the next configuration of the same
 * problem starts at once, in whatever order they come.  They are kept while
 * there is room (device_room_bytes()); the one unused for longest goes first.
 *
 * Each problem has two trials: the same shapes from two seeds, so that a
 * kernel right for one set of inputs alone is found out.
 *
 * The path of a reference names its contents: a file must not change under
 * its name while the process lives.
 */
#ifndef FA_WORKER_RUNNER_RESIDENT_H
#define FA_WORKER_RUNNER_RESIDENT_H

#include "worker/runner/device/device_kernel.h"
#include "worker/runner/wire/wire_request.h"

enum {
    RESIDENT_PROBLEMS = 64,
    RESIDENT_TRIALS = 2,
    RESIDENT_COPIES = 64 /* of the inputs; with more it is no rotation */
};

/* The limit of one run of a reference, which is written to be read: seconds
 * for an emulated one, so a minute means that it hangs. */
#define RESIDENT_REFERENCE_S 60.0

struct trial {
    struct device_buffer *inputs[WIRE_ARGS_MAX];     /* of input arguments */
    struct device_buffer *references[WIRE_ARGS_MAX]; /* of outputs, fp64 */
    uint64_t input_sums[WIRE_ARGS_MAX];
    uint64_t reference_sums[WIRE_ARGS_MAX];
};

struct problem {
    struct wire_arg args[WIRE_ARGS_MAX];
    size_t n_args;
    struct wire_kernel reference;
    uint64_t seed;
    struct device_buffer *outputs[WIRE_ARGS_MAX]; /* shared by the trials */
    struct trial trials[RESIDENT_TRIALS];
    struct trial *copies; /* of the first trial's inputs, for rotation */
    size_t n_copies;
    bool copied;   /* or it was tried in vain */
    size_t bytes;  /* of all of its buffers */
    uint64_t used; /* when, for eviction */
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

/* Is the problem of this request already here? */
bool resident_has(struct resident *resident, const struct wire_measure *want);

/* The problem of this request, made if it is not there.  Borrowed until the
 * next call.  Fails with DEVICE_BROKEN (memory, a reference that cannot be
 * loaded or does not finish or leaves an element NaN); text says which. */
int resident_problem(struct resident *resident, const struct wire_measure *want,
                     struct problem **out, struct device_err *err);

/* Copies of the first trial's inputs beside them, so that what a launch finds
 * in the caches is not its own: as many as problem->n_copies says, which is 0
 * when there would be too many or memory is short.  Fails when the device
 * does. */
int resident_rotate(struct resident *resident, struct problem *problem,
                    struct device_err *err);

/* How many copies put 'cache' bytes between two uses of 'inputs' bytes. */
size_t resident_copies(size_t inputs, size_t cache);

/* Arguments for a kernel that writes buffers[i] where i is an output. */
void resident_problem_args(const struct problem *problem,
                           const struct trial *trial,
                           struct device_buffer *const *outputs,
                           struct resident_problem_args *out);

#endif
