#include "coordinator/schedule/sched_pieces.h"

#include <stddef.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/schedule/sched_internal.h"

/* What stands in the queues. */
struct queued {
    bool *jobs;
    bool *orders; /* by index: id - 1 */
};

static void mark(bool *flags, const struct int_queue *queue)
{
    for (int i = 0; i < queue->n; i++)
        flags[int_queue_peek(queue, i)] = true;
}

static struct queued look(const struct sched *s)
{
    struct queued in = { .jobs = mem_new((size_t)sched_n_jobs(s), sizeof(bool)),
                         .orders =
                             mem_new((size_t)s->orders.n + 1, sizeof(bool)) };

    mark(in.jobs, &s->units.builds);
    for (int i = 0; i < s->limits.hosts; i++) {
        const struct sched_host *h = &s->hosts[i];

        mark(in.jobs, &h->ready);
        for (int gpu = 0; h->up && gpu < h->gpus; gpu++)
            mark(in.orders, &h->asked[gpu]);
    }
    mark(in.orders, &s->orders.dropped);
    return in;
}

static bool is_unsettled(const struct sched *s, int job)
{
    return !job_is_settled(&s->jobs.list[job]);
}

/* A build that is yet to come, of the unit or of the reference. */
static bool waits_for_build(const struct sched *s, int unit)
{
    return is_unsettled(s, unit) || is_unsettled(s, s->limits.units);
}

static enum sched_hold hold_of_job(const struct sched *s, int job,
                                   const struct queued *in)
{
    int unit = sched_unit_of(s, job);
    bool build = s->jobs.list[job].stage == JOB_BUILD;

    switch (s->jobs.list[job].state) {
    case JOB_LEASED:
        return sched_lease_get(s, s->jobs.lease[job]) ? SCHED_HOLD_LEASE
                                                      : SCHED_HOLD_NONE;
    case JOB_WAITING:
        if (build && s->units.held[unit])
            return SCHED_HOLD_CALLER;
        return in->jobs[job] ? SCHED_HOLD_QUEUE : SCHED_HOLD_NONE;
    case JOB_BLOCKED:
        return waits_for_build(s, unit) ? SCHED_HOLD_BUILD : SCHED_HOLD_NONE;
    case JOB_DONE:
    case JOB_FAILED:
        break;
    }
    return SCHED_HOLD_NONE;
}

static enum sched_hold hold_of_order(const struct sched *s, int index,
                                     const struct queued *in)
{
    const struct order *order = &s->orders.list[index];

    if (order->state == ORDER_LEASED)
        return sched_lease_get(s, order->lease) ? SCHED_HOLD_LEASE
                                                : SCHED_HOLD_NONE;
    if (!in->orders[index])
        return SCHED_HOLD_NONE;
    if (order->state == ORDER_DROPPED)
        return SCHED_HOLD_QUEUE;
    if (waits_for_build(s, order->is.unit))
        return SCHED_HOLD_BUILD;
    return sched_is_built(s, order->is.unit) &&
                   sched_is_built(s, s->limits.units)
               ? SCHED_HOLD_QUEUE
               : SCHED_HOLD_NONE;
}

bool sched_unit_is_open(const struct sched *s, int unit)
{
    for (int shape = 0; shape < s->limits.shapes; shape++)
        if (is_unsettled(s, sched_job_index(s, JOB_MEASURE, unit, shape)))
            return true;
    return false;
}

bool sched_order_is_open(const struct sched *s, int64_t id)
{
    return id > 0 && id <= s->orders.n &&
           s->orders.list[id - 1].state != ORDER_ENDED;
}

void sched_pieces(const struct sched *s, sched_piece_fn *fn, void *arg)
{
    struct queued in = look(s);

    for (int job = 0; job < sched_n_jobs(s); job++)
        if (is_unsettled(s, job))
            fn(arg, &(struct sched_piece){ .stage = s->jobs.list[job].stage,
                                           .unit = sched_unit_of(s, job),
                                           .shape = sched_shape_of(s, job),
                                           .hold = hold_of_job(s, job, &in),
                                           .lease = s->jobs.lease[job] });
    for (int i = 0; i < s->orders.n; i++) {
        const struct order *order = &s->orders.list[i];

        if (order->state != ORDER_ENDED)
            fn(arg, &(struct sched_piece){ .stage = JOB_MEASURE,
                                           .unit = order->is.unit,
                                           .shape = order->is.shape,
                                           .order = i + 1,
                                           .pass = order->is.pass,
                                           .hold = hold_of_order(s, i, &in),
                                           .lease = order->lease });
    }
    free(in.jobs);
    free(in.orders);
}
