/* Continue a confirmation where an earlier run left it, if that still holds. */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/passes/confirmation_internal.h"
#include "coordinator/passes/confirmation_looks.h"

static int changed(struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "the sweep file, its sources or the device changed since "
                   "the sweep: run fa-coord sweep first");
}

int confirmation_recall_units(struct sweep *sweep, struct confirmation_pass *c,
                              struct err *err)
{
    const struct confirmation *is = c->is;

    for (size_t i = 0; i < is->n_running; i++) {
        const struct candidate *one = &is->candidates[i];
        int unit = plan_find(sweep->work.plan, one->key);

        if (unit < 0 ||
            strcmp(one->source_key,
                   plan_unit(sweep->work.plan, unit)->source_key) != 0)
            return changed(err);
        c->units[i] = unit;
    }
    return 0;
}

int confirmation_recall_shapes(struct sweep *sweep, struct confirmation *is,
                               struct err *err)
{
    int n = plan_shapes(sweep->work.plan);

    if (is->pass == 0) {
        is->shapes = mem_new((size_t)n, sizeof(*is->shapes));
        for (; is->n_shapes < (size_t)n; is->n_shapes++) {
            struct confirmation_shape *shape = &is->shapes[is->n_shapes];

            shape->name = mem_strdup(
                plan_shape_name(sweep->work.plan, (int)is->n_shapes));
            memcpy(shape->measure_key,
                   plan_measure_key(sweep->work.plan, (int)is->n_shapes),
                   HASH_HEX);
        }
        return 0;
    }
    if (is->n_shapes != (size_t)n)
        return changed(err);
    for (int i = 0; i < n; i++)
        if (strcmp(is->shapes[i].measure_key,
                   plan_measure_key(sweep->work.plan, i)) != 0)
            return changed(err);
    return 0;
}

int confirmation_recall(struct sweep *sweep, struct confirmation_pass *c,
                        struct err *err)
{
    bool *out = mem_new(c->is->n_running, sizeof(*out));
    const struct sequential *found;
    int rc = confirmation_looks_replay(sweep, c, out, &found, err);

    for (size_t i = 0; found && i < found->n_blocks; i++)
        block_schedule_had(c->confirm, found->blocks[i].number,
                           found->blocks[i].gpu, found->blocks[i].complete);
    for (size_t i = 0; found && i < c->is->n_running; i++)
        if (out[i])
            block_schedule_out(c->confirm, (int)i);
    if (found) {
        c->done = block_schedule_complete(c->confirm) *
                  (int)(c->is->n_running * c->is->n_shapes);
        confirmation_looks_apply(c, found);
    }
    free(out);
    return rc;
}
