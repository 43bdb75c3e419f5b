#include "worker/runner/problem.h"

#include <stdlib.h>
#include <string.h>

#include "worker/runner/secret.h"

/* By how many nudges of its inputs a reference may change, as a whole and in an
 * element.  Sums and products of independent values change by 1 to 2 as a
 * whole, and the largest of a million elements by some 7. */
#define NUDGED_L2 4.0
#define NUDGED_ELEMENT 16.0

void problem_copies_free(struct device *device, struct problem *problem)
{
    for (size_t c = 0; c < problem->n_copies; c++)
        trial_free(device, &problem->copies[c]);
    secret_free(problem->copies, problem->most_copies * sizeof(struct trial));
    problem->copies = NULL;
    problem->n_copies = 0;
}

void problem_free(struct device *device, struct problem *problem)
{
    if (!problem)
        return;
    for (size_t i = 0; i < problem->n_args; i++)
        device_free(device, problem->outputs[i]);
    for (int t = 0; t < PROBLEM_TRIALS; t++)
        trial_free(device, &problem->trials[t]);
    problem_copies_free(device, problem);
    secret_free(problem, sizeof(*problem));
}

/* Compare bits: a NaN equals itself, and 0 differs from -0. */
static bool same_real(double a, double b)
{
    uint64_t a_bits, b_bits;

    memcpy(&a_bits, &a, sizeof(a));
    memcpy(&b_bits, &b, sizeof(b));
    return a_bits == b_bits;
}

static bool arg_equals(const struct wire_arg *a, const struct wire_arg *b)
{
    return strcmp(a->name, b->name) == 0 && a->type == b->type &&
           a->buffer == b->buffer && a->role == b->role &&
           a->infinities == b->infinities && a->count == b->count &&
           a->fill == b->fill && strcmp(a->file, b->file) == 0 &&
           a->rows == b->rows && a->columns == b->columns && a->low == b->low &&
           a->high == b->high && same_real(a->scale, b->scale) &&
           a->integer == b->integer && same_real(a->real, b->real);
}

static bool same_trials(const struct trials *a, const struct trials *b)
{
    return a->seeds == b->seeds && a->n_edges == b->n_edges &&
           memcmp(a->edges, b->edges, a->n_edges * sizeof(*a->edges)) == 0;
}

bool problem_is(const struct problem *problem, const struct wire_measure *want)
{
    const struct wire_kernel *a = &problem->reference;
    const struct wire_kernel *b = &want->reference;

    if (problem->seed != want->seed ||
        !same_trials(&problem->kinds, &want->trials) ||
        problem->n_args != want->n_args || strcmp(a->path, b->path) != 0 ||
        strcmp(a->entry, b->entry) != 0 ||
        memcmp(a->grid, b->grid, sizeof(a->grid)) != 0 ||
        memcmp(a->block, b->block, sizeof(a->block)) != 0 || a->smem != b->smem)
        return false;
    for (size_t i = 0; i < problem->n_args; i++)
        if (!arg_equals(&problem->args[i], &want->args[i]))
            return false;
    return true;
}

static void scalar_value(const struct wire_arg *arg, void *value)
{
    if (element_is_float(arg->type))
        element_store(value, arg->type, 0, arg->real);
    else if (arg->type == ELEMENT_INT64)
        *(int64_t *)value = arg->integer;
    else if (arg->type == ELEMENT_INT32)
        *(int32_t *)value = (int32_t)arg->integer;
    else
        *(int8_t *)value = (int8_t)arg->integer;
}

/* NULL: it is a scalar. */
static struct device_buffer *arg_buffer(const struct problem *problem,
                                        const struct trial *trial,
                                        struct device_buffer *const *outputs,
                                        size_t i)
{
    if (!problem->args[i].buffer)
        return NULL;
    if (problem->args[i].role == WIRE_IN)
        return trial->inputs[i];
    return problem->args[i].role == WIRE_OUT ? outputs[i] : problem->outputs[i];
}

void problem_args(const struct problem *problem, const struct trial *trial,
                  struct device_buffer *const *outputs,
                  struct problem_args *out)
{
    for (size_t i = 0; i < problem->n_args; i++) {
        const struct wire_arg *arg = &problem->args[i];

        out->buffers[i] = arg_buffer(problem, trial, outputs, i);
        if (out->buffers[i])
            out->values[i].address = device_address(out->buffers[i]);
        else
            scalar_value(arg, &out->values[i]);
        out->argv[i] = &out->values[i];
    }
}

static bool is_written(const struct wire_arg *arg)
{
    return arg->buffer && arg->role != WIRE_IN;
}

static bool is_compared(const struct wire_arg *arg)
{
    return arg->buffer && arg->role == WIRE_OUT;
}

static int values_new(struct device *device, const struct problem *problem,
                      bool outputs, struct trial *trial, struct device_err *err)
{
    return trial_fill(device, problem->args, problem->n_args, problem->files,
                      outputs, trial, err);
}

/* What fails besides the reference is not its fault, whatever it is. */
static int not_the_reference(int rc)
{
    return rc < 0 ? DEVICE_BROKEN : 0;
}

struct check_how problem_how(const struct wire_arg *arg, unsigned edges)
{
    struct check_how how = { .tolerance = arg->tolerance,
                             .infinities = edges >> EDGE_INFINITIES & 1u };

    if (edges)
        check_set_range(&how, arg->type);
    return how;
}

/* Compare the reference with itself: the largest error is 0, or infinite if an
 * element that judges is not a finite number. */
static int reference_check(struct device *device, const struct wire_arg *arg,
                           struct device_buffer *reference, unsigned edges,
                           struct check *check, struct device_err *err)
{
    const struct check_how how = problem_how(arg, edges);
    struct device_scan scan = { .buffer = reference };
    int rc = device_scan(device, &scan, 1, err);

    if (rc == 0)
        rc = device_check(device, reference, reference, &how, check, NULL, err);
    if (rc < 0)
        return not_the_reference(rc);
    if (scan.overrun == 0)
        return 0;
    snprintf(err->text, sizeof(err->text),
             "the reference wrote outside '%s', %lld bytes", arg->name,
             (long long)scan.overrun);
    return DEVICE_WRONG;
}

/* A reference with a NaN or an unwritten element cannot be used.  Edges may
 * lead to one some of whose elements judge no kernel. */
static int reference_judges(struct device *device,
                            const struct problem *problem, size_t i,
                            struct trial *trial, struct device_err *err)
{
    const struct wire_arg *arg = &problem->args[i];
    struct check check = { .max_error = INFINITY };
    int rc = reference_check(device, arg, trial->references[i], trial->edges,
                             &check, err);

    if (rc < 0)
        return rc;
    trial->left_out[i] = check.left_out;
    if (check.max_error == 0)
        return 0;
    snprintf(err->text, sizeof(err->text),
             "the reference left '%s'[%lld] unwritten, or not a finite "
             "number",
             arg->name, (long long)check.max_at);
    return DEVICE_WRONG;
}

/* Does no element of any reference of the trial judge? */
static bool none_judges(const struct problem *problem,
                        const struct trial *trial)
{
    for (size_t i = 0; i < problem->n_args; i++)
        if (trial->references[i] && trial->left_out[i] < problem->args[i].count)
            return false;
    return true;
}

static int references_judge(struct device *device,
                            const struct problem *problem, struct trial *trial,
                            struct device_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < problem->n_args; i++)
        if (trial->references[i])
            rc = reference_judges(device, problem, i, trial, err);
    if (rc == 0 && trial->edges && none_judges(problem, trial))
        trial->unjudged = PROBLEM_LEFT_OUT;
    return rc;
}

static int reference_hide(struct device *device, struct trial *trial, size_t i,
                          struct device_err *err)
{
    struct device_scan scan = { .buffer = trial->references[i], .sums = true };
    int rc = device_guard(device, trial->references[i], DEVICE_HIDDEN, err);

    if (rc == 0)
        rc = device_scan(device, &scan, 1, err);
    trial->reference_sums[i] = scan.sum;
    return rc;
}

static int reference_run(struct device *device, const struct problem *problem,
                         const struct trial *trial,
                         struct device_kernel *kernel, struct device_err *err)
{
    struct problem_args args;
    struct device_launch launch = {
        .kernel = kernel,
        .smem = problem->reference.smem,
        .args = args.argv,
        .buffers = args.buffers,
        .n_args = problem->n_args,
    };

    memcpy(launch.grid, problem->reference.grid, sizeof(launch.grid));
    memcpy(launch.block, problem->reference.block, sizeof(launch.block));
    problem_args(problem, trial, trial->references, &args);
    return device_run(device, &launch, PROBLEM_REFERENCE_S, err);
}

/* What the reference writes begins as what the kernel writes does. */
static int references_new(struct device *device, const struct problem *problem,
                          struct trial *trial, struct device_err *err)
{
    const struct poison poison = { .kind = POISON_UNWRITTEN };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < problem->n_args; i++) {
        const struct wire_arg *arg = &problem->args[i];

        if (is_written(arg) && !is_compared(arg))
            rc = device_poison(device, problem->outputs[i], &poison, err);
        if (!is_compared(arg))
            continue;
        rc = device_alloc(device, arg->name, ELEMENT_FP64, arg->count,
                          &trial->references[i], err);
        if (rc == 0 && trial->inputs[i])
            rc = device_copy(device, trial->references[i], trial->inputs[i],
                             err);
    }
    return rc;
}

/* Inputs that are nudged, and their reference. */
static int nudged_make(struct device *device, const struct problem *problem,
                       struct device_kernel *kernel, struct trial *nudged,
                       struct device_err *err)
{
    int rc = not_the_reference(values_new(device, problem, true, nudged, err));

    if (rc == 0)
        rc = not_the_reference(references_new(device, problem, nudged, err));
    return rc < 0 ? rc : reference_run(device, problem, nudged, kernel, err);
}

/* Does the trial's reference change much when its inputs change little? */
static int nudged_compare(struct device *device, const struct problem *problem,
                          const struct trial *nudged, struct trial *trial,
                          struct device_err *err)
{
    struct check check;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < problem->n_args; i++) {
        const struct check_how how =
            problem_how(&problem->args[i], trial->edges);

        if (!trial->references[i])
            continue;
        rc = not_the_reference(device_check(device, nudged->references[i],
                                            trial->references[i], &how, &check,
                                            NULL, err));
        if (rc < 0)
            break;
        trial->moved[i] =
            (struct trial_moved){ check.relative_l2, check.max_error };
        if (trial->edges >> EDGE_EXTREME & 1u &&
            !(check.relative_l2 <= NUDGED_L2 * EDGE_NUDGE &&
              check.max_error <= NUDGED_ELEMENT * EDGE_NUDGE))
            trial->unjudged = "small changes of the inputs change the "
                              "reference much";
    }
    return rc;
}

/* The reference of the trial is there, and not hidden yet. */
static int nudged_judges(struct device *device, const struct problem *problem,
                         struct device_kernel *kernel, struct trial *trial,
                         struct device_err *err)
{
    struct trial nudged = { .seed = trial->seed,
                            .edges = trial->edges,
                            .nudged = true,
                            .moderate = trial->moderate };
    int rc;

    if (!edge_nudges(trial->edges) || trial->unjudged)
        return 0;
    rc = nudged_make(device, problem, kernel, &nudged, err);
    if (rc == 0)
        rc = nudged_compare(device, problem, &nudged, trial, err);
    if (!err->poisoned)
        trial_free(device, &nudged);
    secret_wipe(&nudged, sizeof(nudged));
    return rc;
}

/* Its values and what the reference makes of them. */
static int trial_make(struct device *device, const struct problem *problem,
                      struct trial *trial, struct device_kernel *kernel,
                      struct device_err *err)
{
    int rc = not_the_reference(values_new(device, problem, true, trial, err));

    if (rc == 0)
        rc = not_the_reference(references_new(device, problem, trial, err));
    if (rc == 0)
        rc = reference_run(device, problem, trial, kernel, err);
    return rc < 0 ? rc : references_judge(device, problem, trial, err);
}

/* Are its values too extreme for the output, and can they be less so? */
static bool is_too_extreme(const struct problem *problem,
                           const struct trial *trial)
{
    bool left_out = false;

    for (size_t i = 0; i < problem->n_args; i++)
        left_out = left_out || trial->left_out[i] > 0;
    return left_out && trial->edges >> EDGE_EXTREME & 1u &&
           trial_can_moderate(problem->args, problem->n_args);
}

static int trial_new(struct device *device, const struct problem *problem,
                     struct trial *trial, struct device_kernel *kernel,
                     struct device_err *err)
{
    int rc = trial_make(device, problem, trial, kernel, err);

    if (rc == 0 && is_too_extreme(problem, trial)) {
        trial_free(device, trial);
        trial->moderate = true;
        trial->unjudged = NULL;
        rc = trial_make(device, problem, trial, kernel, err);
    }
    if (rc == 0)
        rc = nudged_judges(device, problem, kernel, trial, err);
    for (size_t i = 0; rc == 0 && i < problem->n_args; i++)
        if (trial->references[i])
            rc = not_the_reference(reference_hide(device, trial, i, err));
    return rc;
}

static int problem_fill(struct device *device, struct problem *problem,
                        struct device_err *err)
{
    struct device_kernel *kernel = NULL;
    int rc = device_load(device, problem->reference.path,
                         problem->reference.entry, &kernel, err);

    for (size_t i = 0; rc == 0 && i < problem->n_args; i++)
        if (is_written(&problem->args[i]))
            rc = not_the_reference(device_alloc(
                device, problem->args[i].name, problem->args[i].type,
                problem->args[i].count, &problem->outputs[i], err));
    for (unsigned t = 0; rc == 0 && t < problem->n_trials; t++)
        rc = trial_new(device, problem, &problem->trials[t], kernel, err);
    if (!err->poisoned)
        device_unload(device, kernel);
    return rc;
}

static size_t arg_bytes(const struct wire_arg *arg)
{
    return (size_t)arg->count * element_bytes(arg->type);
}

static size_t input_bytes(const struct wire_arg *args, size_t n)
{
    size_t bytes = 0;

    for (size_t i = 0; i < n; i++)
        if (args[i].buffer && args[i].role == WIRE_IN)
            bytes += arg_bytes(&args[i]);
    return bytes;
}

size_t problem_input_bytes(const struct problem *problem)
{
    return input_bytes(problem->args, problem->n_args);
}

/* How many seeds the trials of a problem have. */
static unsigned seeds_on(bool isolates, const struct trials *trials)
{
    return isolates || trials->seeds > PROBLEM_SHARED ? trials->seeds
                                                      : PROBLEM_SHARED;
}

/* While it is made, a trial may have a nudged one beside it. */
static size_t trials_at_once(bool isolates, const struct trials *trials)
{
    size_t n = seeds_on(isolates, trials) + trials->n_edges;

    for (size_t i = 0; i < trials->n_edges; i++)
        if (edge_nudges(trials->edges[i]))
            return n + 1;
    return n;
}

size_t problem_bytes(bool isolates, const struct wire_measure *want)
{
    const size_t n = trials_at_once(isolates, &want->trials);
    size_t bytes = n * input_bytes(want->args, want->n_args);

    for (size_t i = 0; i < want->n_args; i++) {
        const struct wire_arg *arg = &want->args[i];

        if (!is_written(arg))
            continue;
        bytes += arg_bytes(arg);
        if (trial_is_filled(arg))
            bytes += n * arg_bytes(arg);
        if (is_compared(arg))
            bytes += n * (size_t)arg->count * element_bytes(ELEMENT_FP64);
    }
    return bytes;
}

/* The first trial has the seed of the request. */
static void seed_trials(uint64_t secret, struct problem *problem)
{
    for (unsigned t = 0; t < problem->n_trials; t++)
        problem->trials[t] = (struct trial){
            .number = t,
            .seed =
                t == 0 ? problem->seed : fill_mix(problem->seed + t + secret),
            .edges = t < problem->n_seeds
                         ? 0
                         : problem->kinds.edges[t - problem->n_seeds],
        };
}

int problem_new(struct device *device, uint64_t secret,
                const struct wire_measure *want, struct problem **out,
                struct device_err *err)
{
    struct problem *problem = secret_need(sizeof(*problem));
    int rc;

    memcpy(problem->args, want->args, sizeof(problem->args));
    problem->n_args = want->n_args;
    problem->reference = want->reference;
    memcpy(problem->files, want->files, sizeof(problem->files));
    problem->seed = want->seed;
    problem->kinds = want->trials;
    problem->n_seeds = seeds_on(device_isolates(device), &want->trials);
    problem->n_trials = problem->n_seeds + (unsigned)want->trials.n_edges;
    problem->bytes = problem_bytes(device_isolates(device), want);
    seed_trials(secret, problem);
    rc = problem_fill(device, problem, err);
    if (rc == 0) {
        *out = problem;
    } else if (err->poisoned) {
        /* the process frees the device's memory */
        secret_free(problem, sizeof(*problem));
    } else {
        problem_free(device, problem);
    }
    return rc;
}

static int buffers_guard(struct device *device,
                         struct device_buffer *const *buffers,
                         enum device_access access, struct device_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < WIRE_ARGS_MAX; i++)
        if (buffers[i])
            rc = device_guard(device, buffers[i], access, err);
    return not_the_reference(rc);
}

int problem_guard(struct device *device, const struct problem *problem,
                  bool hidden, struct device_err *err)
{
    const enum device_access inputs = hidden ? DEVICE_HIDDEN : DEVICE_READ;
    int rc = buffers_guard(device, problem->outputs,
                           hidden ? DEVICE_HIDDEN : DEVICE_WRITE, err);

    for (unsigned t = 0; rc == 0 && t < problem->n_trials; t++)
        rc = buffers_guard(device, problem->trials[t].inputs, inputs, err);
    for (size_t c = 0; rc == 0 && c < problem->n_copies; c++)
        rc = buffers_guard(device, problem->copies[c].inputs, inputs, err);
    return rc;
}

/* The originals of the first trial stand in the same rotation, so the copies
 * begin with the second one's values. */
int problem_copy(struct device *device, struct problem *problem, size_t n,
                 struct device_err *err)
{
    int rc = 0;

    problem->copies = secret_need(n * sizeof(*problem->copies));
    problem->most_copies = n;
    while (rc == 0 && problem->n_copies < n) {
        unsigned t = (unsigned)(problem->n_copies + 1) % problem->n_seeds;
        struct trial *copy = &problem->copies[problem->n_copies++];

        copy->number = t;
        copy->seed = problem->trials[t].seed;
        rc = values_new(device, problem, false, copy, err);
    }
    return rc;
}
