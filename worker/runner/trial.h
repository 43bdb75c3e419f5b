/* trial.h - one set of the inputs of a problem, and its references (problem.h)
 *
 * A trial owns its buffers.
 */
#ifndef FA_WORKER_RUNNER_TRIAL_H
#define FA_WORKER_RUNNER_TRIAL_H

#include "worker/runner/device/device.h"
#include "worker/runner/wire/wire_request.h"

struct trial {
    unsigned number; /* which trial's values these are */
    uint64_t seed;
    unsigned edges;       /* bit e: enum edge e */
    bool nudged;          /* its values, by edge_nudged() */
    bool moderate;        /* its extreme values, by edge_extreme() */
    const char *unjudged; /* why it judges nothing; NULL: it judges */
    /* What inputs hold, and what outputs start as; NULL: poison. */
    struct device_buffer *inputs[WIRE_ARGS_MAX];
    struct device_buffer *references[WIRE_ARGS_MAX]; /* of outputs, fp64 */
    uint64_t input_sums[WIRE_ARGS_MAX];
    uint64_t reference_sums[WIRE_ARGS_MAX];
    int64_t left_out[WIRE_ARGS_MAX]; /* elements of references, of an edge */
    /* With an offset: how far nudged inputs move each reference. */
    struct trial_moved {
        double relative_l2, max_error;
    } moved[WIRE_ARGS_MAX];
};

/* Has an argument a fill of its own? */
bool trial_is_filled(const struct wire_arg *arg);

/* Can the extreme values of an argument be more moderate? */
bool trial_can_moderate(const struct wire_arg *args, size_t n_args);

/* Fill the inputs of a trial; with 'outputs' also what outputs start as, which
 * copies do not have.  'files': of the request. */
int trial_fill(struct device *device, const struct wire_arg *args,
               size_t n_args, const char *files, bool outputs,
               struct trial *trial, struct device_err *err);
/* Free its buffers, and forget them. */
void trial_free(struct device *device, struct trial *trial);

#endif
