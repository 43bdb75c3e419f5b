/* Looks at a confirmation: its stored results say how it continues. */
#include <stdlib.h>

#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/passes/confirmation_internal.h"
#include "coordinator/passes/confirmation_looks.h"
#include "coordinator/stored/stored_samples.h"
#include "coordinator/text/exit_code.h"

/* All results of the pass, by block. */
struct past {
    struct confirmation_pass *c;
    struct sequential_result *items;
    double **samples; /* [n] */
    size_t n, cap;
    bool *out; /* by candidate: wrong, now or before */
};

static void take(void *arg, const struct confirmation_result *result)
{
    struct past *past = arg;
    size_t n;

    if (past->n == past->cap) {
        past->cap = past->cap ? 2 * past->cap : 256;
        past->items = mem_grow(past->items, past->cap, sizeof(*past->items));
        past->samples =
            mem_grow(past->samples, past->cap, sizeof(*past->samples));
    }
    past->samples[past->n] = stored_samples_read(result->samples, &n);
    past->items[past->n] = (struct sequential_result){
        .candidate = result->candidate,
        .shape = result->shape,
        .block = result->block,
        .gpu = confirmation_state_card(past->c, result->gpu),
        .seconds = past->samples[past->n],
        .n = n,
    };
    past->n++;
    if (!outcome_is(result->outcome, OUTCOME_CORRECT))
        past->out[result->candidate] = true;
}

int confirmation_looks_replay(struct sweep *sweep, struct confirmation_pass *c,
                              bool *out, struct sequential **found,
                              struct err *err)
{
    const struct confirmation *is = c->is;
    const struct sequential_design design = {
        .candidates = is->n_running,
        .shapes = is->n_shapes,
        .group = is->looks.group,
        .most = is->looks.most,
        .over_all = is->looks.over_all,
        .rules = is->rules,
    };
    struct past past = { .c = c, .out = out };
    int rc;

    *found = NULL;
    for (size_t i = 0; i < is->n_running; i++)
        out[i] = is->candidates[i].reason[0] != '\0';
    rc = confirmation_results(sweep->mail.store, is, take, &past, err);
    if (rc >= 0)
        *found = sequential_replay(&design, past.items, past.n, out);
    for (size_t i = 0; i < past.n; i++)
        free(past.samples[i]);
    free(past.samples);
    free(past.items);
    return rc < 0 ? rc : 0;
}

void confirmation_looks_apply(struct confirmation_pass *c,
                              const struct sequential *found)
{
    int complete = block_schedule_complete(c->confirm), steps = 0;
    int more = found->next - found->complete;

    if (c->is->looks.group == 0)
        return;
    c->end = found->end;
    c->looks = found->looks;
    for (size_t i = 0; i < c->is->n_running; i++) {
        bool rests = found->candidates[i].dropped;

        block_schedule_rest(c->confirm, (int)i, rests);
        steps += !rests && !block_schedule_is_out(c->confirm, (int)i);
    }
    more = found->end == SEQUENTIAL_OPEN ? more : 0;
    block_schedule_want(c->confirm, complete + more);
    c->total = c->done + more * steps * (int)c->is->n_shapes;
}

static void say(struct sweep *sweep, const struct confirmation_pass *c,
                const struct sequential *found)
{
    int left = 0;

    for (size_t i = 1; i < c->is->n_running; i++)
        left += !found->candidates[i].dropped &&
                !block_schedule_is_out(c->confirm, (int)i);
    if (found->end != SEQUENTIAL_OPEN)
        progress_say(sweep->reactor.progress, "%d of at most %d blocks: %s",
                     found->used, found->most,
                     sequential_end_words(found->end));
    else if (found->looks > 0)
        progress_say(sweep->reactor.progress,
                     "after %d of at most %d blocks, %d of %zu finalists can "
                     "still be the best%s",
                     found->used, found->most, left, c->is->n_running - 1,
                     found->noise.noticed ? "; processes differ by more than "
                                            "their samples"
                                          : "");
}

void confirmation_looks_take(struct sweep *sweep, struct confirmation_pass *c)
{
    bool *out = mem_new(c->is->n_running, sizeof(*out));
    struct sequential *found;
    struct err err;
    int looks = c->looks;

    (void)confirmation_looks_replay(sweep, c, out, &found, &err);
    if (!found) {
        reactor_fail(sweep, EXIT_DATABASE, &err);
    } else {
        confirmation_looks_apply(c, found);
        if (found->looks != looks)
            say(sweep, c, found);
    }
    sequential_free(found);
    free(out);
}
