/* Launch geometry of one configuration, and of the reference. */
#include <string.h>

#include "common/err.h"
#include "coordinator/space/space_config.h"
#include "coordinator/space/space_internal.h"

static void add_launch(struct space_batch *batch,
                       const struct spec_launch *launch)
{
    for (int i = 0; i < 3; i++)
        space_batch_add(batch, &launch->grid[i]);
    for (int i = 0; i < 3; i++)
        space_batch_add(batch, &launch->block[i]);
    space_batch_add(batch, &launch->smem);
}

int space_launch_open(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;
    struct space_batch batch;

    space_batch_init(&batch, space,
                     SQL_RULE_TUNABLE | SQL_RULE_DERIVED | SQL_RULE_VAR |
                         SQL_RULE_FACT,
                     "launch", "a launch cannot depend on its own time");
    add_launch(&batch, &spec->kernel.launch);
    if (space_eval_open(space, &batch, &space->evals.launch, err) < 0)
        return ERR_INPUT;
    space_batch_init(&batch, space, SQL_RULE_VAR | SQL_RULE_FACT,
                     "the reference's launch",
                     "the reference must be the same for all configurations");
    add_launch(&batch, &spec->reference.launch);
    return space_eval_open(space, &batch, &space->evals.reference, err);
}

uint64_t space_work_axes(const struct space *space)
{
    return space->evals.derived.axes | space->evals.launch.axes |
           space->evals.arguments.axes | space->evals.fills.axes;
}

static int launch(struct space *space, const struct space_eval *eval,
                  const struct spec_launch *rules, const struct value *values,
                  const struct spec_shape *shape, struct space_launch *out,
                  struct err *err)
{
    int64_t numbers[7] = { 0 };
    int rc = space_eval_run(space, eval, values, shape, 0, err);

    for (size_t i = 0; i < 7 && rc == 0; i++) {
        const struct spec_rule *rule = i < 3   ? &rules->grid[i]
                                       : i < 6 ? &rules->block[i - 3]
                                               : &rules->smem;
        const char *what = i < 3 ? "'grid'" : i < 6 ? "'block'" : "'smem'";
        struct value value = space_eval_column(eval, i);

        if (!space_eval_whole(&value, &numbers[i]) || numbers[i] < (i < 6) ||
            numbers[i] > UINT32_MAX)
            rc = space_eval_flaw(
                space, rule, what, &value, values, shape,
                i < 6 ? "it must be a whole number from 1 to 2^32 - 1"
                      : "it must be a whole number of bytes, 0 or more",
                err);
    }
    if (rc < 0)
        return rc;
    memcpy(out->grid, numbers, sizeof(out->grid));
    memcpy(out->block, numbers + 3, sizeof(out->block));
    out->smem = numbers[6];
    return 0;
}

int space_launch(struct space *space, const struct value *values,
                 const struct spec_shape *shape, struct space_launch *out,
                 struct err *err)
{
    return launch(space, &space->evals.launch, &space->spec->kernel.launch,
                  values, shape, out, err);
}

int space_reference_launch(struct space *space, const struct spec_shape *shape,
                           struct space_launch *out, struct err *err)
{
    return launch(space, &space->evals.reference,
                  &space->spec->reference.launch, NULL, shape, out, err);
}
