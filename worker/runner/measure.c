#include "worker/runner/measure.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One request on its way; what is needed in every step. */
struct run {
    struct device *device;
    const struct wire_measure *want;
    struct problem *problem;
    struct device_launch launch;
    struct problem_args args;
    double left_s; /* of timeout_s */
    FILE *progress;
    struct wire_result *result;
};

/* The result is settled: an outcome, or an error of the machinery. */
enum {
    SETTLED = 1,
    FAILED = -1
};

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((format(printf, 3, 4))) static int
settle(struct run *run, enum wire_outcome outcome, const char *fmt, ...)
{
    va_list args;

    run->result->outcome = outcome;
    va_start(args, fmt);
    vsnprintf(run->result->detail, sizeof(run->result->detail), fmt, args);
    va_end(args);
    return SETTLED;
}

/* What an error of the device says about the kernel. */
static int settle_device(struct run *run, int rc, const struct device_err *err)
{
    run->result->poisoned = err->poisoned;
    switch (rc) {
    case DEVICE_REFUSED:
        return settle(run, WIRE_CONSTRAINTS, "%s", err->text);
    case DEVICE_FAULT:
        return settle(run, WIRE_RUNTIME, "%s", err->text);
    case DEVICE_TIMEOUT:
        return settle(run, WIRE_TIMEOUT, "%s", err->text);
    case DEVICE_WRONG:
        return settle(run, WIRE_CORRECTNESS, "%s", err->text);
    default:
        snprintf(run->result->detail, sizeof(run->result->detail), "%s",
                 err->text);
        return FAILED;
    }
}

/* A buffer has changed that a correct kernel leaves alone.  What else it
 * wrote to is unknown, so the process goes. */
static int settle_damage(struct run *run, const struct wire_arg *arg,
                         const char *what, int64_t overrun)
{
    run->result->poisoned = true;
    snprintf(run->result->argument, sizeof(run->result->argument), "%s",
             arg->name);
    if (overrun > 0)
        return settle(run, WIRE_RUNTIME,
                      "out-of-bounds write: byte %lld after the end of %s '%s'",
                      (long long)overrun, what, arg->name);
    if (overrun < 0)
        return settle(run, WIRE_RUNTIME,
                      "out-of-bounds write: byte %lld before %s '%s'",
                      -(long long)overrun, what, arg->name);
    return settle(run, WIRE_RUNTIME, "the kernel changed %s '%s'", what,
                  arg->name);
}

/* 'sum' is NULL for a buffer that is there to be written. */
static int intact(struct run *run, const struct wire_arg *arg, const char *what,
                  const struct device_buffer *buffer, const uint64_t *sum)
{
    struct device_err err = { .poisoned = false };
    uint64_t found;
    int64_t overrun;
    int rc = device_checksum(run->device, buffer, &found, &overrun, &err);

    if (rc < 0)
        return settle_device(run, rc, &err);
    if (overrun != 0 || (sum && found != *sum))
        return settle_damage(run, arg, what, overrun);
    return 0;
}

static int check_memory(struct run *run, const struct trial *trial)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < run->problem->n_args; i++) {
        const struct wire_arg *arg = &run->problem->args[i];

        if (!arg->buffer)
            continue;
        if (!arg->output) {
            rc = intact(run, arg, "input", trial->inputs[i],
                        &trial->input_sums[i]);
            continue;
        }
        rc = intact(run, arg, "output", run->problem->outputs[i], NULL);
        if (rc == 0)
            rc = intact(run, arg, "the reference of output",
                        trial->references[i], &trial->reference_sums[i]);
    }
    return rc;
}

/* Keep the worst check of the request: it is what the result reports. */
static void keep_check(struct wire_result *result, const struct wire_arg *arg,
                       const struct check *check)
{
    if (isnan(result->relative_l2) || check->relative_l2 > result->relative_l2)
        result->relative_l2 = check->relative_l2;
    if (!isnan(result->max_error) && check->max_error <= result->max_error)
        return;
    result->max_error = check->max_error;
    result->max_at = check->max_at;
    snprintf(result->argument, sizeof(result->argument), "%s", arg->name);
}

/* Unwritten elements are NaN: the two cannot be told apart. */
static void say_value(char text[32], double value)
{
    if (isnan(value))
        snprintf(text, 32, "NaN or unwritten");
    else
        snprintf(text, 32, "%.9g", value);
}

static int check_output(struct run *run, const struct trial *trial, size_t i,
                        const char *when)
{
    const struct wire_arg *arg = &run->problem->args[i];
    struct device_err err = { .poisoned = false };
    struct check check;
    char got[32];
    int rc = device_check(run->device, run->problem->outputs[i],
                          trial->references[i], &check, &err);

    if (rc < 0)
        return settle_device(run, rc, &err);
    keep_check(run->result, arg, &check);
    if (check_passes(&check, run->want->relative_l2, run->want->max_error))
        return 0;
    run->result->relative_l2 = check.relative_l2;
    run->result->max_error = check.max_error;
    run->result->max_at = check.max_at;
    snprintf(run->result->argument, sizeof(run->result->argument), "%s",
             arg->name);
    say_value(got, check.got);
    return settle(run, WIRE_CORRECTNESS,
                  "%s: '%s'[%lld] is %s, should be %.9g; relative L2 error "
                  "%.3g (at most %.3g), largest element error %.3g (at most "
                  "%.3g)",
                  when, arg->name, (long long)check.max_at, got, check.want,
                  check.relative_l2, run->want->relative_l2, check.max_error,
                  run->want->max_error);
}

static int check_trial(struct run *run, const struct trial *trial,
                       const char *when)
{
    int rc = check_memory(run, trial);

    for (size_t i = 0; rc == 0 && i < run->problem->n_args; i++)
        if (run->problem->outputs[i])
            rc = check_output(run, trial, i, when);
    return rc;
}

static int poison_outputs(struct run *run)
{
    struct device_err err = { .poisoned = false };

    for (size_t i = 0; i < run->problem->n_args; i++) {
        int rc = 0;

        if (run->problem->outputs[i])
            rc = device_poison(run->device, run->problem->outputs[i], &err);
        if (rc < 0)
            return settle_device(run, rc, &err);
    }
    return 0;
}

static int check_once(struct run *run, const struct trial *trial,
                      const char *when)
{
    struct device_err err = { .poisoned = false };
    double begin;
    int rc = poison_outputs(run);

    if (rc != 0)
        return rc;
    problem_args(run->problem, trial, run->problem->outputs, &run->args);
    begin = now_s();
    rc = device_run(run->device, &run->launch, run->left_s, &err);
    run->left_s -= now_s() - begin;
    if (rc < 0)
        return settle_device(run, rc, &err);
    return check_trial(run, trial, when);
}

static int launch_many(struct run *run, size_t n, bool flush, double *seconds,
                       struct device_state *during)
{
    struct device_err err = { .poisoned = false };
    double begin = now_s();
    int rc = n == 0 ? 0
                    : device_time(run->device, &run->launch, n, flush,
                                  run->left_s, seconds, during, &err);

    run->left_s -= now_s() - begin;
    return rc < 0 ? settle_device(run, rc, &err) : 0;
}

static void keep_state(struct wire_result *result,
                       const struct device_state *state)
{
    result->states[result->n_states++] = (struct wire_state){
        .clock_mhz = state->clock_mhz,
        .temp_c = state->temp_c,
        .power_w = state->power_w,
        .throttle = state->throttle,
    };
}

static int time_samples(struct run *run)
{
    const struct wire_measure *want = run->want;
    struct wire_result *result = run->result;
    double unused[WIRE_WARMUPS_MAX];
    struct device_state before, during, after;
    int rc;

    problem_args(run->problem, &run->problem->trials[0], run->problem->outputs,
                 &run->args);
    run->launch.outputs = run->problem->outputs;
    device_state(run->device, &before);
    rc = launch_many(run, want->warmups, false, unused, NULL);
    if (rc == 0)
        rc = launch_many(run, want->samples, want->flush, result->samples,
                         &during);
    if (rc != 0)
        return rc;
    device_state(run->device, &after);
    result->n_samples = want->samples;
    keep_state(result, &before);
    keep_state(result, &during);
    keep_state(result, &after);
    return 0;
}

static int load(struct run *run)
{
    const struct wire_kernel *kernel = &run->want->kernel;
    struct device_err err = { .poisoned = false };
    struct device_attributes attributes;
    int rc;

    wire_write_progress(run->progress, "load");
    if (access(kernel->path, R_OK) < 0) {
        snprintf(run->result->detail, sizeof(run->result->detail),
                 "artifact '%.900s': %s", kernel->path, strerror(errno));
        return FAILED;
    }
    rc = device_load(run->device, kernel->path, kernel->entry,
                     &run->launch.kernel, &err);
    if (rc < 0)
        return settle_device(run, rc, &err);
    device_kernel_attributes(run->launch.kernel, &attributes);
    run->result->regs = attributes.regs;
    run->result->local_bytes = attributes.local_bytes;
    run->result->static_smem = attributes.static_smem;
    memcpy(run->launch.grid, kernel->grid, sizeof(kernel->grid));
    memcpy(run->launch.block, kernel->block, sizeof(kernel->block));
    run->launch.smem = kernel->smem;
    run->launch.args = run->args.argv;
    run->launch.n_args = run->want->n_args;
    return 0;
}

static int prepare(struct run *run, struct resident *resident)
{
    struct device_err err = { .poisoned = false };
    int rc;

    if (!resident_has(resident, run->want))
        wire_write_progress(run->progress, "reference");
    rc = resident_problem(resident, run->want, &run->problem, &err);
    if (rc == 0)
        return 0;
    run->result->poisoned = err.poisoned;
    snprintf(run->result->detail, sizeof(run->result->detail),
             "reference: %.980s", err.text);
    return FAILED;
}

static int judge(struct run *run, struct resident *resident)
{
    static const char *const when[RESIDENT_TRIALS] = { "first seed",
                                                       "second seed" };
    int rc = load(run);

    if (rc == 0)
        rc = prepare(run, resident);
    if (rc == 0)
        wire_write_progress(run->progress, "check");
    for (int t = 0; rc == 0 && t < RESIDENT_TRIALS; t++)
        rc = check_once(run, &run->problem->trials[t], when[t]);
    if (rc == 0) {
        wire_write_progress(run->progress, "time");
        rc = time_samples(run);
    }
    if (rc == 0) {
        wire_write_progress(run->progress, "recheck");
        rc = check_trial(run, &run->problem->trials[0], "after timing");
    }
    return rc;
}

void measure(struct device *device, struct resident *resident,
             const struct wire_measure *want, FILE *progress,
             struct wire_reply *reply)
{
    double begin = now_s();
    struct run run = {
        .device = device,
        .want = want,
        .left_s = want->timeout_s,
        .progress = progress,
        .result = &reply->result,
    };
    int rc;

    reply->kind = WIRE_RESULT;
    reply->result = (struct wire_result){
        .outcome = WIRE_CORRECT,
        .relative_l2 = NAN,
        .max_error = NAN,
        .max_at = -1,
        .regs = -1,
        .local_bytes = -1,
        .static_smem = -1,
    };
    rc = judge(&run, resident);
    if (rc == FAILED) {
        reply->kind = WIRE_ERROR;
        memcpy(reply->error, reply->result.detail, sizeof(reply->error));
    }
    if (run.launch.kernel && !reply->result.poisoned)
        device_unload(device, run.launch.kernel);
    reply->result.held_s = now_s() - begin;
}
