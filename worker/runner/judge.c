#include "worker/runner/judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 3, 4))) static int
settle(struct judge *judge, enum outcome outcome, const char *fmt, ...)
{
    va_list args;

    judge->result->outcome = outcome;
    va_start(args, fmt);
    vsnprintf(judge->result->detail, sizeof(judge->result->detail), fmt, args);
    va_end(args);
    return JUDGE_SETTLED;
}

int judge_device(struct judge *judge, int rc, const struct device_err *err)
{
    judge->result->poisoned = err->poisoned;
    switch (rc) {
    case DEVICE_REFUSED:
        return settle(judge, OUTCOME_CONSTRAINTS, "%s", err->text);
    case DEVICE_FAULT:
        return settle(judge, OUTCOME_RUNTIME, "%s", err->text);
    case DEVICE_TIMEOUT:
        return settle(judge, OUTCOME_TIMEOUT, "%s", err->text);
    case DEVICE_WRONG:
        return settle(judge, OUTCOME_CORRECTNESS, "%s", err->text);
    default:
        snprintf(judge->result->detail, sizeof(judge->result->detail), "%s",
                 err->text);
        return JUDGE_FAILED;
    }
}

/* A buffer has changed that a correct kernel does not touch.  The kernel may
 * have written elsewhere too, so the process must end. */
static int settle_damage(struct judge *judge, const struct wire_arg *arg,
                         const char *what, int64_t overrun)
{
    judge->result->poisoned = true;
    snprintf(judge->result->argument, sizeof(judge->result->argument), "%s",
             arg->name);
    if (overrun > 0)
        return settle(judge, OUTCOME_RUNTIME,
                      "out-of-bounds write: byte %lld after the end of %s '%s'",
                      (long long)overrun, what, arg->name);
    if (overrun < 0)
        return settle(judge, OUTCOME_RUNTIME,
                      "out-of-bounds write: byte %lld before %s '%s'",
                      -(long long)overrun, what, arg->name);
    return settle(judge, OUTCOME_RUNTIME, "the kernel changed %s '%s'", what,
                  arg->name);
}

enum {
    LOOKS_MAX = 32
};

/* Buffers to look at, all at the same time. */
struct looks {
    struct judge *judge;
    struct device_scan scans[LOOKS_MAX];
    struct look {
        const struct wire_arg *arg;
        const char *what;
        uint64_t sum; /* of its contents, if they may not change */
    } of[LOOKS_MAX];
    size_t n;
};

static int look(struct looks *looks)
{
    struct judge *judge = looks->judge;
    struct device_err err = { .poisoned = false };
    int rc = device_scan(judge->device, looks->scans, looks->n, &err);

    if (rc < 0)
        return judge_device(judge, rc, &err);
    for (size_t i = 0; i < looks->n; i++) {
        const struct device_scan *scan = &looks->scans[i];
        const struct look *of = &looks->of[i];

        if (scan->overrun != 0 || (scan->sums && scan->sum != of->sum))
            return settle_damage(judge, of->arg, of->what, scan->overrun);
    }
    looks->n = 0;
    return 0;
}

/* 'sum': of what may not change; NULL: only the guards are looked at. */
static int look_at(struct looks *looks, const struct wire_arg *arg,
                   const char *what, const struct device_buffer *buffer,
                   const uint64_t *sum)
{
    int rc = looks->n == LOOKS_MAX ? look(looks) : 0;

    if (rc != 0)
        return rc;
    looks->of[looks->n] = (struct look){ arg, what, sum ? *sum : 0 };
    looks->scans[looks->n++] =
        (struct device_scan){ .buffer = buffer, .sums = sum != NULL };
    return 0;
}

/* What the kernel writes; outputs are compared elsewhere. */
static int look_at_written(struct looks *looks, size_t i)
{
    const struct problem *problem = looks->judge->problem;
    const struct wire_arg *arg = &problem->args[i];

    return look_at(looks, arg, arg->role == WIRE_OUT ? "output" : "workspace",
                   problem->outputs[i], NULL);
}

static const char *input_name(const struct wire_arg *arg)
{
    return arg->role == WIRE_IN ? "input" : "the initial contents of output";
}

static int look_at_inputs(struct looks *looks, const struct trial *trial)
{
    const struct problem *problem = looks->judge->problem;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < problem->n_args; i++) {
        const struct wire_arg *arg = &problem->args[i];

        if (trial->inputs[i])
            rc = look_at(looks, arg, input_name(arg), trial->inputs[i],
                         &trial->input_sums[i]);
    }
    return rc;
}

/* What the kernel may not touch: of its own trial, the inputs and the
 * references. */
static int look_at_trial(struct looks *looks, const struct trial *trial)
{
    const struct problem *problem = looks->judge->problem;
    int rc = look_at_inputs(looks, trial);

    for (size_t i = 0; rc == 0 && i < problem->n_args; i++)
        if (trial->references[i])
            rc = look_at(looks, &problem->args[i], "the reference of output",
                         trial->references[i], &trial->reference_sums[i]);
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

static int settle_wrong(struct judge *judge, const struct wire_arg *arg,
                        const struct check_how *how, const struct check *check,
                        const char *when)
{
    struct wire_result *result = judge->result;
    char got[32];

    result->relative_l2 = check->relative_l2;
    result->max_error = check->max_error;
    result->max_at = check->max_at;
    snprintf(result->argument, sizeof(result->argument), "%s", arg->name);
    say_value(got, check->got);
    if (check->rule == TOLERANCE_EXACT)
        return settle(judge, OUTCOME_CORRECTNESS,
                      "%s: '%s'[%lld] is %s, should be exactly %.17g", when,
                      arg->name, (long long)check->max_at, got, check->want);
    return settle(
        judge, OUTCOME_CORRECTNESS,
        "%s: '%s'[%lld] is %s, should be %.9g; %s is %.3g, at most %.3g", when,
        arg->name, (long long)check->max_at, got, check->want,
        wire_rule_name((enum tolerance_rule)check->rule), check->error,
        how->tolerance.most[check->rule]);
}

/* An output has been compared with its reference.  The rules are those of the
 * request: a problem is kept without them.  If it is wrong because an input or
 * the reference is no longer what it was, that is said. */
int judge_check(struct judge *judge, const struct trial *trial, size_t i,
                const struct check_how *how, const struct check *check,
                const char *when)
{
    const struct wire_arg *arg = &judge->want->args[i];
    struct check broken = *check;
    struct looks looks = { .judge = judge };
    int rc;

    if (!(trial->edges >> EDGE_OFFSET & 1u)) /* its errors are no measure */
        keep_check(judge->result, arg, check);
    if (!check_fails(how, &broken))
        return 0;
    rc = look_at_trial(&looks, trial);
    if (rc == 0)
        rc = look(&looks);
    return rc != 0 ? rc : settle_wrong(judge, arg, how, &broken, when);
}

/* An absolute error grows with the inputs, so that of larger ones only has to
 * be finite. */
struct check_how judge_how(const struct wire_arg *arg, unsigned edges)
{
    struct check_how how = problem_how(arg, edges);

    if (edges & (1u << EDGE_LARGE | 1u << EDGE_EXTREME | 1u << EDGE_OFFSET))
        how.tolerance.most[TOLERANCE_ABSOLUTE] = (double)INFINITY;
    return how;
}

/* How far inputs are nudged for what an output may be off by. */
#define OFFSET_PART 0.25

/* The largest nudge of an input. */
static double most_nudged(const struct problem *problem, unsigned edges)
{
    double most = EDGE_OFFSET_NUDGE;

    for (size_t i = 0; i < problem->n_args; i++)
        if (problem->args[i].buffer && fill_is_random(problem->args[i].fill))
            most = fmax(most, edge_nudge(edges, problem->args[i].type));
    return most;
}

/* A kernel errs as if its inputs were others by some steps of fp32, or by a
 * part of what its output may be off.  With an offset it may err by as much as
 * the reference moves then.  What has to be exact and moves is not judged. */
static void allow_moves(const struct judge *judge, const struct trial *trial,
                        size_t i, struct tolerance *tolerance)
{
    const double nudge = most_nudged(judge->problem, trial->edges);
    const double moved[] = {
        [TOLERANCE_RELATIVE_L2] = trial->moved[i].relative_l2,
        [TOLERANCE_MAX_ERROR] = trial->moved[i].max_error,
    };

    for (size_t rule = 0; rule < sizeof(moved) / sizeof(*moved); rule++) {
        double *most = &tolerance->most[rule];
        const double times = fmax(1, *most * OFFSET_PART / nudge);

        *most = fmax(*most, moved[rule] * times);
    }
    tolerance->most[TOLERANCE_ULP] *=
        fmax(1, trial->moved[i].max_error / nudge);
    if (trial->moved[i].max_error > 0)
        tolerance->most[TOLERANCE_EXACT] = (double)INFINITY;
}

int judge_output(struct judge *judge, const struct trial *trial, size_t i,
                 const char *when, uint64_t *sum)
{
    struct check_how how = judge_how(&judge->want->args[i], trial->edges);
    struct device_err err = { .poisoned = false };
    struct looks looks = { .judge = judge };
    struct check check;
    int rc = look_at_written(&looks, i);

    if (rc == 0)
        rc = look(&looks);
    if (rc != 0 || !trial->references[i])
        return rc;
    if (trial->edges >> EDGE_OFFSET & 1u)
        allow_moves(judge, trial, i, &how.tolerance);
    rc = device_check(judge->device, judge->problem->outputs[i],
                      trial->references[i], &how, &check, sum, &err);
    if (rc < 0)
        return judge_device(judge, rc, &err);
    return judge_check(judge, trial, i, &how, &check, when);
}

int judge_memory(struct judge *judge)
{
    const struct problem *problem = judge->problem;
    struct looks looks = { .judge = judge };
    int rc = 0;

    for (unsigned t = 0; rc == 0 && t < problem->n_trials; t++)
        rc = look_at_trial(&looks, &problem->trials[t]);
    for (size_t i = 1; rc == 0 && i < judge->result->copies; i++)
        rc = look_at_inputs(&looks, &problem->copies[i - 1]);
    for (size_t i = 0; rc == 0 && i < problem->n_args; i++)
        if (problem->outputs[i])
            rc = look_at_written(&looks, i);
    return rc == 0 ? look(&looks) : rc;
}
