#include "worker/runner/measure.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/outcome.h"
#include "worker/runner/judge.h"
#include "worker/runner/sampler.h"
#include "worker/runner/secret.h"
#include "worker/runner/turns.h"

/* The request being handled, and the state that every step needs: a secret. */
struct run {
    struct judge judge;
    struct resident *resident;
    const struct problem *checked; /* the request's own */
    struct device_launch launch;
    struct problem_args args;
    struct turns turns;
    struct device_times times;            /* of the latest batch */
    struct check_how hows[WIRE_ARGS_MAX]; /* of its outputs */
    uint64_t key;  /* of this request, which no kernel knows */
    double left_s; /* of timeout_s */
    size_t timed;  /* launches in batches, so far */
    FILE *progress;
};

enum {
    STATE_BEFORE,
    STATE_DURING,
    STATE_AFTER,
    STATES
};

/* As JUDGE_FAILED, but it is the fault of the reference. */
enum {
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
    return device_clock_s(run->judge.device);
}

/* What the kernel writes, as it is to be before a launch. */
static int start_outputs(struct run *run, const struct trial *trial)
{
    const struct poison poison = turns_poison(&run->turns);
    const bool kept = turns_keep(&run->turns);
    struct device_err err = { .poisoned = false };

    for (size_t i = 0; i < run->judge.problem->n_args; i++) {
        struct device_buffer *output = run->judge.problem->outputs[i];
        int rc = 0;

        if (output && trial->inputs[i])
            rc = device_copy(run->judge.device, output, trial->inputs[i], &err);
        else if (output && (trial->references[i] || !kept))
            rc = device_poison(run->judge.device, output, &poison, &err);
        if (rc < 0)
            return judge_device(&run->judge, rc, &err);
    }
    return 0;
}

static int check_output(struct run *run, const struct trial *trial, size_t i,
                        const char *when)
{
    uint64_t sum;
    int rc = judge_output(&run->judge, trial, i, when, &sum);

    if (rc == 0 && trial->references[i])
        turns_learn(&run->turns, trial->number, i, sum);
    return rc;
}

static int check_once(struct run *run, const struct trial *trial,
                      const char *when)
{
    struct device_err err = { .poisoned = false };
    double begin;
    int rc = start_outputs(run, trial);

    if (rc != 0)
        return rc;
    problem_args(run->judge.problem, trial, run->judge.problem->outputs,
                 &run->args);
    begin = launched_s(run);
    rc = device_run(run->judge.device, &run->launch, run->left_s, &err);
    run->left_s -= launched_s(run) - begin;
    if (rc < 0)
        return judge_device(&run->judge, rc, &err);
    for (size_t i = 0; rc == 0 && i < run->judge.problem->n_args; i++)
        if (run->judge.problem->outputs[i])
            rc = check_output(run, trial, i, when);
    if (rc == 0)
        run->judge.result->checked.launches++;
    return rc;
}

/* Judge what the launches of a batch have written. */
static int judge_batch(struct run *run, size_t n)
{
    char when[64];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct device_seen *seen =
            &run->times.seen[i * run->judge.problem->n_args];

        snprintf(when, sizeof(when), "launch %zu of the timing",
                 run->timed + i + 1);
        for (size_t k = 0; rc == 0 && k < run->judge.problem->n_args; k++) {
            if (!run->judge.problem->outputs[k] || !seen[k].compared)
                continue;
            rc = judge_check(&run->judge, run->turns.trials[i], k,
                             &run->hows[k], &seen[k].check, when);
            if (rc == 0)
                turns_learn(&run->turns, run->turns.trials[i]->number, k,
                            seen[k].sum);
        }
    }
    run->timed += n;
    if (rc == 0)
        run->judge.result->checked.launches += (int64_t)n;
    return rc;
}

/* Time the next n launches, whose times count or not, and judge what they have
 * written. */
static int time_batch(struct run *run, size_t n, bool counted)
{
    const struct device_batch batch = {
        .n = n,
        .turns = run->turns.batch,
        .written = run->judge.problem->outputs,
        .hows = run->hows,
        .flush = counted && run->judge.result->l2 == L2_MODE_FLUSH,
        .timeout_s = run->left_s,
    };
    struct device_err err = { .poisoned = false };
    double begin = launched_s(run);
    int rc;

    turns_take(&run->turns, n, counted);
    rc =
        device_time(run->judge.device, &run->launch, &batch, &run->times, &err);
    run->left_s -= launched_s(run) - begin;
    return rc < 0 ? judge_device(&run->judge, rc, &err) : judge_batch(run, n);
}

/* A problem could not be made: is that the reference's fault? */
static int no_problem(struct run *run, int rc, const struct device_err *err)
{
    run->judge.result->poisoned = err->poisoned;
    snprintf(run->judge.result->detail, sizeof(run->judge.result->detail),
             "reference: %.980s", err->text);
    return rc == DEVICE_BROKEN ? JUDGE_FAILED : USELESS;
}

static bool keeps(const struct run *run)
{
    return device_keeps(run->launch.kernel);
}

/* A kernel that may keep results for later launches gets values that are new
 * to it, and memory that was not spoilt by those before. */
static int renew(struct run *run)
{
    struct device_err err = { .poisoned = false };
    struct problem *problem;
    int rc;

    if (!keeps(run))
        return 0;
    rc = judge_memory(&run->judge);
    if (rc != 0)
        return rc;
    rc = resident_renew(run->resident, run->judge.want, run->checked, &problem,
                        &err);
    if (rc < 0)
        return no_problem(run, rc, &err);
    run->judge.problem = problem;
    turns_renew(&run->turns, problem);
    return 0;
}

/* Of the n launches that are to come, how many are in one batch. */
static size_t batch_of(const struct run *run, size_t n)
{
    const size_t most = keeps(run) ? run->judge.problem->n_seeds : DEVICE_BATCH;

    return n < most ? n : most;
}

/* n launches whose times do not count. */
static int launch_more(struct run *run, size_t n)
{
    int rc = 0;

    for (size_t done = 0, batch; rc == 0 && done < n; done += batch) {
        batch = batch_of(run, n - done);
        rc = renew(run);
        if (rc == 0)
            rc = time_batch(run, batch, false);
    }
    return rc;
}

/* Where launches share a process, each trial has one, so that its outputs are
 * known when samples are taken. */
static int warm_up(struct run *run)
{
    size_t least = device_isolates(run->judge.device)
                       ? 0
                       : (size_t)run->judge.problem->n_seeds;

    return launch_more(run, run->judge.want->warmups > least
                                ? run->judge.want->warmups
                                : least);
}

/* They take at most half of the time limit once more, and then there are fewer
 * of them.  Where a launch is alone, it is what it is in each of them. */
static int repeat(struct run *run)
{
    const double half_s = run->judge.want->timeout_s / 2;
    size_t batch;
    int rc = 0;

    if (device_isolates(run->judge.device))
        return 0;
    run->left_s = run->judge.want->timeout_s;
    for (size_t done = 0;
         rc == 0 && done < run->judge.want->repeats && run->left_s > half_s;
         done += batch) {
        const double begin = now_s();

        batch = batch_of(run, run->judge.want->repeats - done);
        rc = renew(run);
        run->left_s -= now_s() - begin;
        if (rc == 0)
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
    struct wire_result *result = run->judge.result;
    struct device_state after;
    int rc = renew(run);

    if (rc == 0)
        rc = time_batch(run, n, true);
    if (rc != 0)
        return rc;
    device_state(run->judge.device, &after);
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

/* Make copies of the inputs, or switch to flushing if there is no room, or if
 * no launch may have the inputs of another. */
static int choose_l2(struct run *run, struct resident *resident)
{
    struct device_err err = { .poisoned = false };
    int rc;

    run->judge.result->l2 = keeps(run) ? L2_MODE_FLUSH : run->judge.want->l2;
    if (keeps(run))
        return 0;
    if (run->judge.want->l2 != L2_MODE_ROTATE)
        return 0;
    rc = resident_rotate(resident, run->judge.problem, &err);
    if (rc < 0)
        return judge_device(&run->judge, rc, &err);
    if (run->judge.problem->n_copies == 0)
        run->judge.result->l2 = L2_MODE_FLUSH;
    else
        run->judge.result->copies = (unsigned)run->judge.problem->n_copies + 1;
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
    int rc = device_reload(run->judge.device, run->launch.kernel, &err);

    return rc < 0 ? judge_device(&run->judge, rc, &err) : 0;
}

static int time_samples(struct run *run, struct resident *resident)
{
    struct wire_result *result = run->judge.result;
    struct device_state before;
    struct sampler sampler;
    size_t n;
    int rc = reload(run);

    if (rc == 0)
        rc = choose_l2(run, resident);
    turns_arrange(&run->turns, result->l2);
    device_state(run->judge.device, &before);
    keep_state(&result->states[STATE_BEFORE], &before);
    if (rc == 0)
        rc = warm_up(run);
    sampler_init(&sampler, run->judge.want, result);
    result->blocked = true;
    while (rc == 0 && (n = sampler_batch(&sampler)) > 0) {
        if (sampler.pausing)
            nap(SAMPLER_PAUSE_S);
        rc = take_batch(run, &sampler, batch_of(run, n));
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
    snprintf(run->judge.result->detail, sizeof(run->judge.result->detail),
             "artifact '%.900s': %s", path, strerror(errno));
    return JUDGE_FAILED;
}

static int load(struct run *run)
{
    const struct wire_kernel *kernel = &run->judge.want->kernel;
    struct device_err err = { .poisoned = false };
    struct device_attributes attributes;
    int rc;

    wire_write_progress(run->progress, "load");
    if (find_artifact(run, kernel->path) < 0)
        return JUDGE_FAILED;
    rc = device_load(run->judge.device, kernel->path, kernel->entry,
                     &run->launch.kernel, &err);
    if (rc < 0)
        return judge_device(&run->judge, rc, &err);
    device_kernel_attributes(run->launch.kernel, &attributes);
    run->judge.result->usage.regs = attributes.regs;
    run->judge.result->usage.local_bytes = attributes.local_bytes;
    run->judge.result->usage.static_smem = attributes.static_smem;
    memcpy(run->launch.grid, kernel->grid, sizeof(kernel->grid));
    memcpy(run->launch.block, kernel->block, sizeof(kernel->block));
    run->launch.smem = kernel->smem;
    run->launch.args = run->args.argv;
    run->launch.buffers = run->args.buffers;
    run->launch.n_args = run->judge.want->n_args;
    return 0;
}

static int prepare(struct run *run, struct resident *resident)
{
    struct device_err err = { .poisoned = false };
    int rc;

    if (!resident_has(resident, run->judge.want)) {
        if (find_artifact(run, run->judge.want->reference.path) < 0)
            return JUDGE_FAILED;
        wire_write_progress(run->progress, WIRE_STAGE_REFERENCE);
    }
    rc = resident_problem(resident, run->judge.want, &run->judge.problem, &err);
    run->checked = run->judge.problem;
    if (rc == 0) {
        turns_init(&run->turns, run->judge.problem, run->key);
        for (size_t i = 0; i < run->judge.want->n_args; i++)
            run->hows[i] = judge_how(&run->judge.want->args[i], 0);
        return 0;
    }
    return no_problem(run, rc, &err);
}

/* Values from a file are the same in all launches, so what a kernel has kept of
 * them is of use to it. */
static int refuse_what_keeps(struct run *run)
{
    const struct wire_measure *want = run->judge.want;

    for (size_t i = 0; i < want->n_args; i++) {
        if (want->untimed || !keeps(run) || want->args[i].fill != FILL_FILE)
            continue;
        run->judge.result->outcome = OUTCOME_CONSTRAINTS;
        snprintf(run->judge.result->detail, sizeof(run->judge.result->detail),
                 "'%s' cannot be timed: its memory (malloc(), or too much "
                 "local memory) cannot be cleared between launches, and '%s' "
                 "is read from a file, so a result kept from an earlier "
                 "launch would look right",
                 want->kernel.entry, want->args[i].name);
        return JUDGE_SETTLED;
    }
    return 0;
}

/* Add to what the result says of trials that do not judge. */
__attribute__((format(printf, 2, 3))) static void
say_unjudged(struct wire_result *result, const char *fmt, ...)
{
    const size_t n = strlen(result->detail);
    const int between = snprintf(result->detail + n, sizeof(result->detail) - n,
                                 "%s", n ? "; " : "");
    const size_t at = n + (size_t)between;
    va_list args;

    if (at >= sizeof(result->detail))
        return;
    va_start(args, fmt);
    vsnprintf(result->detail + at, sizeof(result->detail) - at, fmt, args);
    va_end(args);
}

/* A trial that judges nothing is left out.  Where it judges a part, the result
 * says of which outputs. */
static int check_edges(struct run *run, const struct trial *trial)
{
    char name[TRIALS_NAME_MAX];
    int rc;

    trials_name(trial->edges, 0, name);
    if (trial->unjudged) {
        say_unjudged(run->judge.result, OUTCOME_UNJUDGED " %s: there %s", name,
                     trial->unjudged);
        return 0;
    }
    rc = check_once(run, trial, name);
    for (size_t i = 0; rc == 0 && i < run->judge.want->n_args; i++)
        if (trial->left_out[i] > 0)
            say_unjudged(run->judge.result,
                         "%lld of %lld elements of '%s' " OUTCOME_UNJUDGED
                         " %s: "
                         "there " PROBLEM_LEFT_OUT,
                         (long long)trial->left_out[i],
                         (long long)run->judge.want->args[i].count,
                         run->judge.want->args[i].name, name);
    return rc;
}

static int check_trials(struct run *run)
{
    const struct problem *problem = run->judge.problem;
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

static int carry_out(struct run *run, struct resident *resident)
{
    int rc = load(run);

    if (rc == 0)
        rc = refuse_what_keeps(run);
    if (rc == 0)
        rc = prepare(run, resident);
    if (rc == 0)
        wire_write_progress(run->progress, "check");
    if (rc == 0)
        rc = check_trials(run);
    if (rc == 0 && !run->judge.want->untimed) {
        wire_write_progress(run->progress, "time");
        rc = time_samples(run, resident);
        if (rc == 0)
            rc = repeat(run);
        if (rc == 0)
            wire_write_progress(run->progress, "recheck");
    }
    if (rc == 0)
        rc = judge_memory(&run->judge);
    run->judge.result->checked.varied = run->turns.varied;
    return rc;
}

void measure(struct device *device, struct resident *resident,
             const struct wire_measure *want, FILE *progress,
             struct wire_reply *reply)
{
    double begin = now_s();
    struct run *run = secret_need(sizeof(*run));
    int rc;

    *run = (struct run){
        .judge = { .device = device, .want = want, .result = &reply->result },
        .resident = resident,
        .key = resident_draw(resident),
        .left_s = want->timeout_s,
        .progress = progress,
    };
    reply->kind = WIRE_RESULT;
    reply->result = (struct wire_result){
        .outcome = OUTCOME_CORRECT,
        .relative_l2 = NAN,
        .max_error = NAN,
        .max_at = -1,
        .usage = { -1, -1, -1 },
    };
    rc = carry_out(run, resident);
    if (rc == 0 && isnan(reply->result.relative_l2))
        reply->result.relative_l2 = 0; /* every reference is all zero */
    if (rc == 0 && isnan(reply->result.max_error))
        reply->result.max_error = 0;
    if (rc < 0) {
        reply->kind = rc == USELESS ? WIRE_REFERENCE : WIRE_ERROR;
        memcpy(reply->error, reply->result.detail, sizeof(reply->error));
    }
    if (run->launch.kernel && !reply->result.poisoned)
        device_unload(device, run->launch.kernel);
    secret_free(run, sizeof(*run));
    reply->result.held_s = now_s() - begin;
}
