/* problem.h - the inputs and the references of one problem, on the device
 *
 * A problem is the arguments, the reference and the seed.  To make one, the
 * inputs are filled and the reference runs.
 *
 * Each problem has several trials: the same shapes from other seeds.  The first
 * has the seed of the request; the others depend on a number that each process
 * draws for itself, so that nobody who writes a kernel knows their values.  A
 * device on which launches share a process has more of them, since a launch
 * may not find the result of an earlier one.
 *
 * After the seeds come the trials with edges (wire/trials.h), which are not
 * timed.  Elements whose reference is not finite, or beyond the range of the
 * output's type, judge nothing.  Nor does a trial with extreme values where the
 * problem is ill-conditioned: where nudged inputs change the reference much, as
 * those of a softmax do, a kernel's rounding errors are as large as its
 * results.  With an offset, an output may be off by as much as nudged inputs
 * move the reference.
 *
 * A problem owns its buffers; the device owns their memory, and must outlive
 * the problem.
 */
#ifndef FA_WORKER_RUNNER_PROBLEM_H
#define FA_WORKER_RUNNER_PROBLEM_H

#include "worker/runner/device/device_kernel.h"
#include "worker/runner/trial.h"

enum {
    PROBLEM_SHARED = 3, /* seeds at least, where launches share a process */
    PROBLEM_TRIALS = TRIALS_SEEDS_MAX + TRIALS_EDGES_MAX
};

/* Time limit of one run of a reference.  References are written for clarity: an
 * emulated one takes seconds, so after a minute it hangs. */
#define PROBLEM_REFERENCE_S 60.0

/* Why elements judge nothing. */
#define PROBLEM_LEFT_OUT \
    "the reference is not finite, or beyond the output's type"

struct problem {
    struct wire_arg args[WIRE_ARGS_MAX];
    size_t n_args;
    struct wire_kernel reference;
    char files[WIRE_PATH_MAX]; /* of the request */
    uint64_t seed;
    struct trials kinds;
    /* Of outputs and workspaces; shared by the trials. */
    struct device_buffer *outputs[WIRE_ARGS_MAX];
    struct trial trials[PROBLEM_TRIALS]; /* n_seeds, then those with edges */
    unsigned n_seeds, n_trials;
    struct trial *copies; /* of the trials' inputs, for rotation */
    size_t n_copies, most_copies;
    bool copied;   /* or an attempt has failed */
    size_t bytes;  /* of all of its buffers */
    uint64_t used; /* time of last use, for eviction */
};

/* The values of a launch: argv[i] points at argument i. */
struct problem_args {
    union {
        void *address;
        unsigned char bytes[8];
        int8_t i8;
        int32_t i32;
        int64_t i64;
    } values[WIRE_ARGS_MAX];
    void *argv[WIRE_ARGS_MAX];
    struct device_buffer *buffers[WIRE_ARGS_MAX]; /* NULL: a scalar */
};

/* Make a problem; the other seeds come from 'secret'.  DEVICE_BROKEN: out of
 * memory, or a broken device.  Any other failure is that of the reference: it
 * cannot be loaded or launched, faults, does not finish, or leaves a NaN.  The
 * text says which. */
int problem_new(struct device *device, uint64_t secret,
                const struct wire_measure *want, struct problem **out,
                struct device_err *err);
void problem_free(struct device *device, struct problem *problem);

/* Is it the problem of this request? */
bool problem_is(const struct problem *problem, const struct wire_measure *want);

/* What the problem of a request needs on a device, without the guards.
 * 'isolates': device_isolates(). */
size_t problem_bytes(bool isolates, const struct wire_measure *want);
/* Of the inputs of one trial. */
size_t problem_input_bytes(const struct problem *problem);

/* How an output of a trial with these edges is compared with its reference. */
struct check_how problem_how(const struct wire_arg *arg, unsigned edges);

/* Hide it from kernels, or show it; its references stay hidden. */
int problem_guard(struct device *device, const struct problem *problem,
                  bool hidden, struct device_err *err);

/* Make n copies of the trials' inputs, each filled like its original: from the
 * same seed.  After an error, problem->n_copies of them may hold something. */
int problem_copy(struct device *device, struct problem *problem, size_t n,
                 struct device_err *err);
void problem_copies_free(struct device *device, struct problem *problem);

/* Arguments for a kernel that writes outputs[i] where i is an output. */
void problem_args(const struct problem *problem, const struct trial *trial,
                  struct device_buffer *const *outputs,
                  struct problem_args *out);

#endif
