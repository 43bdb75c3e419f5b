/* judge.h - finds what is wrong with what a kernel did
 *
 * It looks at the error of a launch, the values of outputs, the guards of all
 * buffers, and the inputs and references, which no kernel may change.  The
 * first thing that it finds becomes the outcome of the result.
 *
 * It owns nothing: all that it points at outlives it.
 */
#ifndef FA_WORKER_RUNNER_JUDGE_H
#define FA_WORKER_RUNNER_JUDGE_H

#include "worker/runner/problem.h"
#include "worker/runner/wire/wire_reply.h"

struct judge {
    struct device *device;
    const struct wire_measure *want;
    struct problem *problem;    /* NULL: not yet known */
    struct wire_result *result; /* written: outcome, detail, worst error */
};

/* What each function below returns, or 0 if nothing is wrong. */
enum {
    JUDGE_SETTLED = 1, /* the result has an outcome */
    JUDGE_FAILED = -1  /* an error that is not the kernel's: 'detail' has it */
};

/* Of a kernel for 'rc' < 0 of the device. */
int judge_device(struct judge *judge, int rc, const struct device_err *err);

/* How an output of a trial with these edges is compared. */
struct check_how judge_how(const struct wire_arg *arg, unsigned edges);

/* An output has been compared with its reference.  'when' begins the text of
 * what is wrong. */
int judge_check(struct judge *judge, const struct trial *trial, size_t i,
                const struct check_how *how, const struct check *check,
                const char *when);

/* Look at what a launch has written to outputs[i], and compare it if the trial
 * has a reference of it.  Then its checksum goes to 'sum'. */
int judge_output(struct judge *judge, const struct trial *trial, size_t i,
                 const char *when, uint64_t *sum);

/* Look at all that the launches were given, and the guards of the outputs. */
int judge_memory(struct judge *judge);

#endif
