#include "worker/runner/trial.h"

#include "worker/runner/input_file.h"

bool trial_is_filled(const struct wire_arg *arg)
{
    return arg->buffer && arg->fill != FILL_POISON;
}

void trial_free(struct device *device, struct trial *trial)
{
    for (size_t i = 0; i < WIRE_ARGS_MAX; i++) {
        device_free(device, trial->inputs[i]);
        device_free(device, trial->references[i]);
        trial->inputs[i] = trial->references[i] = NULL;
    }
}

/* The edges of a trial that this argument can have. */
static unsigned arg_edges(const struct wire_arg *arg, unsigned edges)
{
    if (!element_is_float(arg->type) && fill_is_drawn(arg->fill))
        return edges;
    if (!element_is_float(arg->type) || !fill_is_random(arg->fill))
        return 0;
    return arg->infinities ? edges : edges & ~(1u << EDGE_INFINITIES);
}

static int input_fill(struct device *device, const struct wire_arg *arg,
                      const char *files, const struct trial *trial, size_t i,
                      struct device_err *err)
{
    const struct fill fill = { .kind = arg->fill,
                               .scale = arg->scale,
                               .rows = arg->rows,
                               .columns = arg->columns,
                               .low = arg->low,
                               .high = arg->high,
                               .count = arg->count,
                               .edges = arg_edges(arg, trial->edges),
                               .type = arg->type,
                               .nudged = trial->nudged,
                               .moderate = trial->moderate };

    return arg->fill == FILL_FILE
               ? input_file_fill(device, files, arg, trial->inputs[i], err)
               : device_fill(device, trial->inputs[i], &fill,
                             fill_key(trial->seed, (unsigned)i), err);
}

int trial_fill(struct device *device, const struct wire_arg *args,
               size_t n_args, const char *files, bool outputs,
               struct trial *trial, struct device_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n_args; i++) {
        const struct wire_arg *arg = &args[i];
        struct device_buffer **input = &trial->inputs[i];
        struct device_scan scan = { .sums = true };

        if (!trial_is_filled(arg) || (arg->role != WIRE_IN && !outputs))
            continue;
        rc = device_alloc(device, arg->name, arg->type, arg->count, input, err);
        if (rc == 0)
            rc = input_fill(device, arg, files, trial, i, err);
        scan.buffer = *input;
        if (rc == 0)
            rc = device_scan(device, &scan, 1, err);
        trial->input_sums[i] = scan.sum;
        if (rc == 0)
            rc = device_guard(device, *input, DEVICE_READ, err);
    }
    return rc;
}

bool trial_can_moderate(const struct wire_arg *args, size_t n_args)
{
    for (size_t i = 0; i < n_args; i++)
        if (args[i].buffer && fill_is_random(args[i].fill) &&
            edge_extreme(args[i].type, false) !=
                edge_extreme(args[i].type, true))
            return true;
    return false;
}
