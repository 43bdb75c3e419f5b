#include "coordinator/confirm/confirmation_replay.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/confirm/confirmation.h"
#include "coordinator/confirm/look_plan.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/stored/stored_samples.h"

/* All results of the pass, by block. */
struct past {
    const struct confirmation_replay_ask *ask;
    struct sequential_result *items;
    double **samples; /* [n] */
    size_t n, cap;
    size_t over; /* the number of an external baseline */
    bool *out;   /* by candidate: wrong, now or before */
};

/* 'samples' are taken over. */
static void add(struct past *past, struct sequential_result result,
                const char *gpu, double *samples)
{
    if (past->n == past->cap) {
        past->cap = past->cap ? 2 * past->cap : 256;
        past->items = mem_grow(past->items, past->cap, sizeof(*past->items));
        past->samples =
            mem_grow(past->samples, past->cap, sizeof(*past->samples));
    }
    result.gpu = past->ask->gpu(past->ask->arg, gpu);
    result.seconds = past->samples[past->n] = samples;
    past->items[past->n++] = result;
}

static void take(void *arg, const struct confirmation_result *result)
{
    struct past *past = arg;
    size_t n;
    double *samples = stored_samples_read(result->samples, &n);

    add(past,
        (struct sequential_result){ .candidate = result->candidate,
                                    .shape = result->shape,
                                    .block = result->block,
                                    .n = n },
        result->gpu, samples);
    if (!outcome_is(result->outcome, OUTCOME_CORRECT))
        past->out[result->candidate] = true;
}

static void take_time(void *arg, const struct confirmation_replay_time *time)
{
    struct past *past = arg;

    add(past,
        (struct sequential_result){ .candidate = past->over,
                                    .shape = time->shape,
                                    .block = time->block,
                                    .n = time->n },
        time->gpu, mem_dup(time->seconds, time->n * sizeof(*time->seconds)));
}

static int by_block(const void *a, const void *b)
{
    const struct sequential_result *x = a, *y = b;

    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->shape != y->shape)
        return x->shape < y->shape ? -1 : 1;
    return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

static int load(struct store *store, const struct confirmation *confirmation,
                const struct sequential_design *design, struct past *past,
                struct err *err)
{
    int rc;

    past->over = design->over;
    past->out = mem_new(design->candidates, sizeof(*past->out));
    for (size_t i = 0; i < confirmation->n_running; i++)
        past->out[i] = confirmation->candidates[i].reason[0] != '\0';
    rc = confirmation_results(store, confirmation, take, past, err);
    if (rc >= 0 && design->over > 0) {
        rc = past->ask->times(store, confirmation, take_time, past, err);
        if (past->n > 0)
            qsort(past->items, past->n, sizeof(*past->items), by_block);
    }
    return rc < 0 ? rc : 0;
}

static void unload(struct past *past, size_t running, bool *out)
{
    memcpy(out, past->out, running * sizeof(*out));
    for (size_t i = 0; i < past->n; i++)
        free(past->samples[i]);
    free(past->samples);
    free(past->items);
    free(past->out);
}

int confirmation_replay(struct store *store,
                        const struct confirmation *confirmation,
                        const struct confirmation_replay_ask *ask, bool *out,
                        struct sequential **found, struct err *err)
{
    struct past past = { .ask = ask };
    struct sequential_design design;
    int rc;

    *found = NULL;
    look_plan_design(confirmation, confirmation->n_running, &design);
    rc = load(store, confirmation, &design, &past, err);
    if (rc == 0)
        *found = sequential_replay(&design, past.items, past.n, past.out);
    unload(&past, confirmation->n_running, out);
    return rc;
}

int confirmation_replay_on(struct store *store,
                           const struct confirmation *confirmation,
                           const struct confirmation_replay_ask *ask,
                           struct sequential_course **course, bool *out,
                           const struct sequential **found, struct err *err)
{
    struct past past = { .ask = ask };
    struct sequential_design design;
    int rc;

    *found = NULL;
    look_plan_design(confirmation, confirmation->n_running, &design);
    rc = load(store, confirmation, &design, &past, err);
    if (!*course)
        *course = sequential_course_new(&design);
    if (rc == 0)
        *found = sequential_course_go_on(*course, past.items, past.n, past.out);
    unload(&past, confirmation->n_running, out);
    return rc;
}
