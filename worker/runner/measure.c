#include "worker/runner/measure.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/outcome.h"
#include "worker/runner/sampler.h"
#include "worker/runner/turns.h"

/* The request being handled, and the state that every step needs. */
struct run {
    struct device *device;
    const struct wire_measure *want;
    struct problem *problem;
    struct device_launch launch;
    struct resident_problem_args args;
    struct turns turns;
    struct device_times times;            /* of the latest batch */
    struct check_how hows[WIRE_ARGS_MAX]; /* of its outputs */
    uint64_t key;  /* of this request, which no kernel knows */
    double left_s; /* of timeout_s */
    size_t timed;  /* launches in batches, so far */
    FILE *progress;
    struct wire_result *result;
};

enum {
    STATE_BEFORE,
    STATE_DURING,
    STATE_AFTER,
    STATES
};

/* Set the result: an outcome, or an error that is not the kernel's: that of the
 * reference, or another one. */
enum {
    SETTLED = 1,
    FAILED = -1,
    USELESS = -2
};

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double launched_s(const struct run *run)
{
    return device_clock_s(run->device);
}

__attribute__((format(printf, 3, 4))) static int
settle(struct run *run, enum outcome outcome, const char *fmt, ...)
{
    va_list args;

    run->result->outcome = outcome;
    va_start(args, fmt);
    vsnprintf(run->result->detail, sizeof(run->result->detail), fmt, args);
    va_end(args);
    return SETTLED;
}

/* The outcome of a kernel for an error of the device. */
static int settle_device(struct run *run, int rc, const struct device_err *err)
{
    run->result->poisoned = err->poisoned;
    switch (rc) {
    case DEVICE_REFUSED:
        return settle(run, OUTCOME_CONSTRAINTS, "%s", err->text);
    case DEVICE_FAULT:
        return settle(run, OUTCOME_RUNTIME, "%s", err->text);
    case DEVICE_TIMEOUT:
        return settle(run, OUTCOME_TIMEOUT, "%s", err->text);
    case DEVICE_WRONG:
        return settle(run, OUTCOME_CORRECTNESS, "%s", err->text);
    default:
        snprintf(run->result->detail, sizeof(run->result->detail), "%s",
                 err->text);
        return FAILED;
    }
}

/* A buffer has changed that a correct kernel does not touch.  The kernel may
 * have written elsewhere too, so the process must end. */
static int settle_damage(struct run *run, const struct wire_arg *arg,
                         const char *what, int64_t overrun)
{
    run->result->poisoned = true;
    snprintf(run->result->argument, sizeof(run->result->argument), "%s",
             arg->name);
    if (overrun > 0)
        return settle(run, OUTCOME_RUNTIME,
                      "out-of-bounds write: byte %lld after the end of %s '%s'",
                      (long long)overrun, what, arg->name);
    if (overrun < 0)
        return settle(run, OUTCOME_RUNTIME,
                      "out-of-bounds write: byte %lld before %s '%s'",
                      -(long long)overrun, what, arg->name);
    return settle(run, OUTCOME_RUNTIME, "the kernel changed %s '%s'", what,
                  arg->name);
}

static int intact(struct run *run, const struct wire_arg *arg, const char *what,
                  const struct device_buffer *buffer, uint64_t sum)
{
    struct device_err err = { .poisoned = false };
    uint64_t found;
    int64_t overrun;
    int rc = device_checksum(run->device, buffer, &found, &overrun, &err);

    if (rc < 0)
        return settle_device(run, rc, &err);
    if (overrun != 0 || found != sum)
        return settle_damage(run, arg, what, overrun);
    return 0;
}

/* Of what the kernel writes; outputs are compared elsewhere. */
static int guarded(struct run *run, size_t i, uint64_t *sum)
{
    struct device_err err = { .poisoned = false };
    int64_t overrun;
    int rc = device_checksum(run->device, run->problem->outputs[i], sum,
                             &overrun, &err);

    if (rc < 0)
        return settle_device(run, rc, &err);
    return overrun != 0 ? settle_damage(run, &run->problem->args[i],
                                        run->problem->args[i].role == WIRE_OUT
                                            ? "output"
                                            : "workspace",
                                        overrun)
                        : 0;
}

static const char *input_name(const struct wire_arg *arg)
{
    return arg->role == WIRE_IN ? "input" : "the initial contents of output";
}

static int check_inputs(struct run *run, const struct trial *trial)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < run->problem->n_args; i++) {
        const struct wire_arg *arg = &run->problem->args[i];

        if (trial->inputs[i])
            rc = intact(run, arg, input_name(arg), trial->inputs[i],
                        trial->input_sums[i]);
    }
    return rc;
}

/* What the kernel may not touch: of its own trial, the inputs and the
 * references. */
static int check_memory(struct run *run, const struct trial *trial)
{
    int rc = check_inputs(run, trial);

    for (size_t i = 0; rc == 0 && i < run->problem->n_args; i++)
        if (trial->references[i])
            rc = intact(run, &run->problem->args[i], "the reference of output",
                        trial->references[i], trial->reference_sums[i]);
    return rc;
}

/* Keep the worst check of the request, which the result reports.  An error that
 * is not finite breaks a rule, or is one relative to zeros. */
static void keep_check(struct wire_result *result, const struct wire_arg *arg,
                       const struct check *check)
{
    if (check_is_finite(check->relative_l2) &&
        !(check->relative_l2 <= result->relative_l2))
        result->relative_l2 = check->relative_l2;
    if (!check_is_finite(check->max_error) ||
        check->max_error <= result->max_error)
        return;
    result->max_error = check->max_error;
    result->max_at = check->max_at;
    snprintf(result->argument, sizeof(result->argument), "%s", arg->name);
}

/* Unwritten elements are NaN, so they look like computed NaN. */
static void say_value(char text[32], double value)
{
    if (isnan(value))
        snprintf(text, 32, "NaN or unwritten");
    else
        snprintf(text, 32, "%.9g", value);
}

static int settle_wrong(struct run *run, const struct wire_arg *arg,
                        const struct check *check, const char *when)
{
    struct wire_result *result = run->result;
    char got[32];

    result->relative_l2 = check->relative_l2;
    result->max_error = check->max_error;
    result->max_at = check->max_at;
    snprintf(result->argument, sizeof(result->argument), "%s", arg->name);
    say_value(got, check->got);
    if (check->rule == TOLERANCE_EXACT)
        return settle(run, OUTCOME_CORRECTNESS,
                      "%s: '%s'[%lld] is %s, should be exactly %.17g", when,
                      arg->name, (long long)check->max_at, got, check->want);
    return settle(
        run, OUTCOME_CORRECTNESS,
        "%s: '%s'[%lld] is %s, should be %.9g; %s is %.3g, at most %.3g", when,
        arg->name, (long long)check->max_at, got, check->want,
        wire_rule_name((enum tolerance_rule)check->rule), check->error,
        arg->tolerance.most[check->rule]);
}

/* An output has been compared with its reference.  The rules are those of the
 * request: a problem is kept without them.  If it is wrong because an input or
 * the reference is no longer what it was, that is said. */
static int judge_check(struct run *run, const struct trial *trial, size_t i,
                       const struct check_how *how, const struct check *check,
                       const char *when)
{
    const struct wire_arg *arg = &run->want->args[i];
    struct check broken = *check;
    int rc;

    keep_check(run->result, arg, check);
    if (!check_fails(how, &broken))
        return 0;
    rc = check_memory(run, trial);
    return rc != 0 ? rc : settle_wrong(run, arg, &broken, when);
}

/* How an output of a trial with these edges is compared.  An absolute error
 * grows with the inputs, so that of large ones only has to be finite. */
static struct check_how how_of(const struct wire_arg *arg, unsigned edges)
{
    struct check_how how = { arg->tolerance, edges >> EDGE_INFINITIES & 1u };

    if (edges >> EDGE_LARGE & 1u)
        how.tolerance.most[TOLERANCE_ABSOLUTE] = (double)INFINITY;
    return how;
}

static int check_output(struct run *run, const struct trial *trial, size_t i,
                        const char *when)
{
    const struct check_how how = how_of(&run->want->args[i], trial->edges);
    struct device_err err = { .poisoned = false };
    struct check check;
    uint64_t sum;
    int rc = guarded(run, i, &sum);

    if (rc != 0 || !trial->references[i])
        return rc;
    rc = device_check(run->device, run->problem->outputs[i],
                      trial->references[i], &how, &check, &err);
    if (rc < 0)
        return settle_device(run, rc, &err);
    rc = judge_check(run, trial, i, &how, &check, when);
    if (rc == 0)
        turns_learn(&run->turns, trial->number, i, sum);
    return rc;
}

/* What the kernel writes, as it is to be before a launch. */
static int start_outputs(struct run *run, const struct trial *trial)
{
    const struct poison poison = turns_poison(&run->turns);
    struct device_err err = { .poisoned = false };

    for (size_t i = 0; i < run->problem->n_args; i++) {
        struct device_buffer *output = run->problem->outputs[i];
        int rc = 0;

        if (output && trial->inputs[i])
            rc = device_copy(run->device, output, trial->inputs[i], &err);
        else if (output)
            rc = device_poison(run->device, output, &poison, &err);
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
    int rc = start_outputs(run, trial);

    if (rc != 0)
        return rc;
    resident_problem_args(run->problem, trial, run->problem->outputs,
                          &run->args);
    begin = launched_s(run);
    rc = device_run(run->device, &run->launch, run->left_s, &err);
    run->left_s -= launched_s(run) - begin;
    if (rc < 0)
        return settle_device(run, rc, &err);
    for (size_t i = 0; rc == 0 && i < run->problem->n_args; i++)
        if (run->problem->outputs[i])
            rc = check_output(run, trial, i, when);
    if (rc == 0)
        run->result->checked.launches++;
    return rc;
}

/* Judge what the launches of a batch have written. */
static int judge_batch(struct run *run, size_t n)
{
    char when[64];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct device_seen *seen =
            &run->times.seen[i * run->problem->n_args];

        snprintf(when, sizeof(when), "launch %zu of the timing",
                 run->timed + i + 1);
        for (size_t k = 0; rc == 0 && k < run->problem->n_args; k++) {
            if (!run->problem->outputs[k] || !seen[k].compared)
                continue;
            rc = judge_check(run, run->turns.trials[i], k, &run->hows[k],
                             &seen[k].check, when);
            if (rc == 0)
                turns_learn(&run->turns, run->turns.trials[i]->number, k,
                            seen[k].sum);
        }
    }
    run->timed += n;
    if (rc == 0)
        run->result->checked.launches += (int64_t)n;
    return rc;
}

/* Time the next n launches, and judge what they have written. */
static int time_batch(struct run *run, size_t n, bool flush)
{
    const struct device_batch batch = {
        .n = n,
        .turns = run->turns.batch,
        .written = run->problem->outputs,
        .hows = run->hows,
        .flush = flush,
        .timeout_s = run->left_s,
    };
    struct device_err err = { .poisoned = false };
    double begin = launched_s(run);
    int rc;

    turns_take(&run->turns, n);
    rc = device_time(run->device, &run->launch, &batch, &run->times, &err);
    run->left_s -= launched_s(run) - begin;
    return rc < 0 ? settle_device(run, rc, &err) : judge_batch(run, n);
}

/* n launches whose times do not count. */
static int launch_more(struct run *run, size_t n)
{
    int rc = 0;

    for (size_t done = 0, batch; rc == 0 && done < n; done += batch) {
        batch = n - done < DEVICE_BATCH ? n - done : DEVICE_BATCH;
        rc = time_batch(run, batch, false);
    }
    return rc;
}

/* Where launches share a process, each trial has one, so that its outputs are
 * known when samples are taken. */
static int warm_up(struct run *run)
{
    size_t least =
        device_isolates(run->device) ? 0 : (size_t)run->problem->n_seeds;

    return launch_more(run,
                       run->want->warmups > least ? run->want->warmups : least);
}

/* They take at most half of the time limit once more, and then there are fewer
 * of them.  Where a launch is alone, it is what it is in each of them. */
static int repeat(struct run *run)
{
    const double half_s = run->want->timeout_s / 2;
    size_t batch;
    int rc = 0;

    if (device_isolates(run->device))
        return 0;
    run->left_s = run->want->timeout_s;
    for (size_t done = 0;
         rc == 0 && done < run->want->repeats && run->left_s > half_s;
         done += batch) {
        batch = run->want->repeats - done;
        if (batch > DEVICE_BATCH)
            batch = DEVICE_BATCH;
        rc = time_batch(run, batch, false);
    }
    return rc;
}

static void keep_state(struct wire_state *kept,
                       const struct device_state *state)
{
    *kept = (struct wire_state){
        .clock_mhz = state->clock_mhz,
        .temp_c = state->temp_c,
        .power_w = state->power_w,
        .throttle = state->throttle,
    };
}

/* Time a batch and pass it to the sampler; keep the readings around it. */
static int take_batch(struct run *run, struct sampler *sampler, size_t n)
{
    struct wire_result *result = run->result;
    struct device_state after;
    int rc = time_batch(run, n, result->l2 == L2_MODE_FLUSH);

    if (rc != 0)
        return rc;
    device_state(run->device, &after);
    keep_state(&result->states[STATE_DURING], &run->times.during);
    keep_state(&result->states[STATE_AFTER], &after);
    result->blocked = result->blocked && run->times.blocked;
    sampler_take(sampler, run->times.seconds, n,
                 run->times.during.throttle | after.throttle);
    return 0;
}

static void nap(double seconds)
{
    const struct timespec time = { .tv_nsec = (long)(seconds * 1e9) };

    nanosleep(&time, NULL); /* if it wakes early, it measures early */
}

/* Make copies of the inputs, or switch to flushing if there is no room. */
static int choose_l2(struct run *run, struct resident *resident)
{
    struct device_err err = { .poisoned = false };
    int rc;

    run->result->l2 = run->want->l2;
    if (run->want->l2 != L2_MODE_ROTATE)
        return 0;
    rc = resident_rotate(resident, run->problem, &err);
    if (rc < 0)
        return settle_device(run, rc, &err);
    if (run->problem->n_copies == 0)
        run->result->l2 = L2_MODE_FLUSH;
    else
        run->result->copies = (unsigned)run->problem->n_copies + 1;
    return 0;
}

/* Times of a kernel that did not run to its end are dropped. */
static void forget_samples(struct wire_result *result)
{
    result->n_samples = result->n_rejected = 0;
    result->sampling = WIRE_SAMPLING_NONE;
    result->l2 = L2_MODE_NONE;
    result->copies = 0;
    result->blocked = false;
}

/* So that nothing is left of the launches that were checked. */
static int reload(struct run *run)
{
    struct device_err err = { .poisoned = false };
    int rc = device_reload(run->device, run->launch.kernel, &err);

    return rc < 0 ? settle_device(run, rc, &err) : 0;
}

static int time_samples(struct run *run, struct resident *resident)
{
    struct wire_result *result = run->result;
    struct device_state before;
    struct sampler sampler;
    size_t n;
    int rc = reload(run);

    if (rc == 0)
        rc = choose_l2(run, resident);
    turns_arrange(&run->turns, result->l2);
    device_state(run->device, &before);
    keep_state(&result->states[STATE_BEFORE], &before);
    if (rc == 0)
        rc = warm_up(run);
    sampler_init(&sampler, run->want, result);
    result->blocked = true;
    while (rc == 0 && (n = sampler_batch(&sampler)) > 0) {
        if (sampler.pausing)
            nap(SAMPLER_PAUSE_S);
        rc = take_batch(run, &sampler, n);
    }
    if (rc == 0)
        result->n_states = STATES;
    else
        forget_samples(result);
    return rc;
}

static int find_artifact(struct run *run, const char *path)
{
    if (access(path, R_OK) == 0)
        return 0;
    snprintf(run->result->detail, sizeof(run->result->detail),
             "artifact '%.900s': %s", path, strerror(errno));
    return FAILED;
}

static int load(struct run *run)
{
    const struct wire_kernel *kernel = &run->want->kernel;
    struct device_err err = { .poisoned = false };
    struct device_attributes attributes;
    int rc;

    wire_write_progress(run->progress, "load");
    if (find_artifact(run, kernel->path) < 0)
        return FAILED;
    rc = device_load(run->device, kernel->path, kernel->entry,
                     &run->launch.kernel, &err);
    if (rc < 0)
        return settle_device(run, rc, &err);
    device_kernel_attributes(run->launch.kernel, &attributes);
    run->result->usage.regs = attributes.regs;
    run->result->usage.local_bytes = attributes.local_bytes;
    run->result->usage.static_smem = attributes.static_smem;
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

    if (!resident_has(resident, run->want)) {
        if (find_artifact(run, run->want->reference.path) < 0)
            return FAILED;
        wire_write_progress(run->progress, WIRE_STAGE_REFERENCE);
    }
    rc = resident_problem(resident, run->want, &run->problem, &err);
    if (rc == 0) {
        turns_init(&run->turns, run->problem, run->key);
        for (size_t i = 0; i < run->want->n_args; i++)
            run->hows[i] = how_of(&run->want->args[i], 0);
        return 0;
    }
    run->result->poisoned = err.poisoned;
    snprintf(run->result->detail, sizeof(run->result->detail),
             "reference: %.980s", err.text);
    return rc == DEVICE_BROKEN ? FAILED : USELESS;
}

/* Of all that the launches were given, and the guards of the outputs. */
static int check_all_memory(struct run *run)
{
    const struct problem *problem = run->problem;
    uint64_t unused;
    int rc = 0;

    for (unsigned t = 0; rc == 0 && t < problem->n_trials; t++)
        rc = check_memory(run, &problem->trials[t]);
    for (size_t i = 1; rc == 0 && i < run->result->copies; i++)
        rc = check_inputs(run, &problem->copies[i - 1]);
    for (size_t i = 0; rc == 0 && i < problem->n_args; i++)
        if (problem->outputs[i])
            rc = guarded(run, i, &unused);
    return rc;
}

/* A trial that judges nothing is left out, and the result says so. */
static int check_edges(struct run *run, const struct trial *trial)
{
    char *detail = run->result->detail;
    const size_t n = strlen(detail);
    char name[TRIALS_NAME_MAX];

    trials_name(trial->edges, 0, name);
    if (!trial->unjudged)
        return check_once(run, trial, name);
    snprintf(detail + n, sizeof(run->result->detail) - n,
             "%snot judged by %s: there the reference is not finite, or beyond "
             "the output's type",
             n ? "; " : "", name);
    return 0;
}

static int check_trials(struct run *run)
{
    const struct problem *problem = run->problem;
    char name[TRIALS_NAME_MAX];
    int rc = 0;

    for (unsigned t = 0; rc == 0 && t < problem->n_seeds; t++) {
        trials_name(0, t, name);
        rc = check_once(run, &problem->trials[t], name);
    }
    for (unsigned t = problem->n_seeds; rc == 0 && t < problem->n_trials; t++)
        rc = check_edges(run, &problem->trials[t]);
    return rc;
}

static int judge(struct run *run, struct resident *resident)
{
    int rc = load(run);

    if (rc == 0)
        rc = prepare(run, resident);
    if (rc == 0)
        wire_write_progress(run->progress, "check");
    if (rc == 0)
        rc = check_trials(run);
    if (rc == 0 && !run->want->untimed) {
        wire_write_progress(run->progress, "time");
        rc = time_samples(run, resident);
        if (rc == 0)
            rc = repeat(run);
        if (rc == 0)
            wire_write_progress(run->progress, "recheck");
    }
    if (rc == 0)
        rc = check_all_memory(run);
    run->result->checked.varied = run->turns.varied;
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
        .key = resident_draw(resident),
        .left_s = want->timeout_s,
        .progress = progress,
        .result = &reply->result,
    };
    int rc;

    reply->kind = WIRE_RESULT;
    reply->result = (struct wire_result){
        .outcome = OUTCOME_CORRECT,
        .relative_l2 = NAN,
        .max_error = NAN,
        .max_at = -1,
        .usage = { -1, -1, -1 },
    };
    rc = judge(&run, resident);
    if (rc == 0 && isnan(reply->result.relative_l2))
        reply->result.relative_l2 = 0; /* every reference is all zero */
    if (rc == 0 && isnan(reply->result.max_error))
        reply->result.max_error = 0;
    if (rc < 0) {
        reply->kind = rc == USELESS ? WIRE_REFERENCE : WIRE_ERROR;
        memcpy(reply->error, reply->result.detail, sizeof(reply->error));
    }
    if (run.launch.kernel && !reply->result.poisoned)
        device_unload(device, run.launch.kernel);
    reply->result.held_s = now_s() - begin;
}
