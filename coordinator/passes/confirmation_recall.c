/* Continue a confirmation where an earlier run left it, if that still holds. */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/passes/confirmation_internal.h"

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

/* The results of an earlier run, block by block. */
struct past {
    struct confirmation_pass *c;
    int block, gpu;
    int right; /* of this block, by candidates that still take part */
    bool *out;
    bool counting; /* again, because the dropped candidates are known now */
};

static void end_past_block(struct past *past)
{
    struct confirmation_pass *c = past->c;
    int running = 0;

    if (past->block == 0)
        return;
    for (size_t i = 0; i < c->is->n_running; i++)
        running += !past->out[i];
    block_schedule_had(c->confirm, past->block, past->gpu,
                       past->right == running * (int)c->is->n_shapes);
    past->block = past->right = 0;
}

static void look_at_past(void *arg, const struct confirmation_result *result)
{
    struct past *past = arg;

    if (!past->counting) {
        if (!outcome_is(result->outcome, OUTCOME_CORRECT))
            past->out[result->candidate] = true;
        return;
    }
    if (past->block != result->block)
        end_past_block(past);
    past->block = result->block;
    past->gpu = confirmation_state_card(past->c, result->gpu);
    past->right += !past->out[result->candidate];
}

int confirmation_recall(struct sweep *sweep, struct confirmation_pass *c,
                        struct err *err)
{
    struct past past = { .c = c, .out = mem_new(c->is->n, sizeof(bool)) };
    int rc;

    for (size_t i = 0; i < c->is->n_running; i++)
        past.out[i] = c->is->candidates[i].reason[0] != '\0';
    rc = confirmation_results(sweep->mail.store, c->is, look_at_past, &past,
                              err);
    past.counting = true;
    if (rc == 0)
        rc = confirmation_results(sweep->mail.store, c->is, look_at_past, &past,
                                  err);
    end_past_block(&past);
    for (size_t i = 0; i < c->is->n_running; i++)
        if (past.out[i])
            block_schedule_out(c->confirm, (int)i);
    free(past.out);
    return rc;
}
