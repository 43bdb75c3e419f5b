#include "coordinator/confirm/confirmation_replay.h"

#include <stdlib.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/confirm/confirmation.h"
#include "coordinator/confirm/look_plan.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/stored/stored_samples.h"

/* All results of the pass, by block. */
struct past {
    confirmation_replay_gpu_fn *gpu;
    void *arg;
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
        .gpu = past->gpu(past->arg, result->gpu),
        .seconds = past->samples[past->n],
        .n = n,
    };
    past->n++;
    if (!outcome_is(result->outcome, OUTCOME_CORRECT))
        past->out[result->candidate] = true;
}

static int load(struct store *store, const struct confirmation *confirmation,
                struct past *past, struct err *err)
{
    int rc;

    for (size_t i = 0; i < confirmation->n_running; i++)
        past->out[i] = confirmation->candidates[i].reason[0] != '\0';
    rc = confirmation_results(store, confirmation, take, past, err);
    return rc < 0 ? rc : 0;
}

static void unload(struct past *past)
{
    for (size_t i = 0; i < past->n; i++)
        free(past->samples[i]);
    free(past->samples);
    free(past->items);
}

int confirmation_replay(struct store *store,
                        const struct confirmation *confirmation,
                        confirmation_replay_gpu_fn *gpu, void *arg, bool *out,
                        struct sequential **found, struct err *err)
{
    struct past past = { .gpu = gpu, .arg = arg, .out = out };
    struct sequential_design design;
    int rc = load(store, confirmation, &past, err);

    *found = NULL;
    look_plan_design(confirmation, confirmation->n_running, &design);
    if (rc == 0)
        *found = sequential_replay(&design, past.items, past.n, out);
    unload(&past);
    return rc;
}

int confirmation_replay_on(struct store *store,
                           const struct confirmation *confirmation,
                           const struct confirmation_replay_cards *cards,
                           struct sequential_course **course, bool *out,
                           const struct sequential **found, struct err *err)
{
    struct past past = { .gpu = cards->gpu, .arg = cards->arg, .out = out };
    struct sequential_design design;
    int rc = load(store, confirmation, &past, err);

    *found = NULL;
    if (!*course) {
        look_plan_design(confirmation, confirmation->n_running, &design);
        *course = sequential_course_new(&design);
    }
    if (rc == 0)
        *found = sequential_course_go_on(*course, past.items, past.n, out);
    unload(&past);
    return rc;
}
