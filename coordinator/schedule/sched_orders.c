/* Orders: extra measurements, each on one given GPU. */
#include <assert.h>
#include <stdlib.h>

#include "common/int64.h"
#include "common/mem.h"
#include "coordinator/schedule/sched_internal.h"

static struct order *order_at(const struct sched *s, int64_t id)
{
    assert(id > 0 && id <= s->orders.n);
    return &s->orders.list[id - 1];
}

static struct int_queue *queue_of(const struct sched *s,
                                  const struct order *order)
{
    return &s->hosts[order->is.host].asked[order->is.gpu];
}

void sched_orders_fini(struct sched *s)
{
    for (int i = 0; i < s->limits.hosts; i++) {
        for (int gpu = 0; gpu < s->hosts[i].cap_gpus; gpu++)
            int_queue_fini(&s->hosts[i].asked[gpu]);
        free(s->hosts[i].asked);
        free(s->hosts[i].rests);
    }
    int_queue_fini(&s->orders.dropped);
    free(s->orders.list);
    free(s->units.ordered);
}

/* Build the unit ahead of the others if it is not built. */
static void want_built(struct sched *s, int unit)
{
    const struct job *build = &s->jobs.list[unit];

    if (build->state == JOB_DONE && s->units.home[unit] < 0) {
        s->units.held[unit] =
            false; /* its jobs are settled: only this build is handed out */
        sched_job_apply(s, unit, JOB_EV_VANISHED);
    }
    if (build->state == JOB_WAITING && !s->units.held[unit])
        int_queue_push_front(&s->units.builds, unit);
}

static bool cannot_be_built(const struct sched *s, int unit)
{
    return s->jobs.list[unit].state == JOB_FAILED ||
           s->jobs.list[s->limits.units].state == JOB_FAILED;
}

int64_t sched_order(struct sched *s, const struct sched_order *order)
{
    const struct sched_host *h = &s->hosts[order->host];

    assert(order->purpose != SCHED_SCREEN);
    if (!h->up || order->gpu >= h->gpus || cannot_be_built(s, order->unit))
        return 0;
    if (s->orders.n == s->orders.cap) {
        s->orders.cap = s->orders.cap ? s->orders.cap * 2 : 64;
        s->orders.list = mem_grow(s->orders.list, (size_t)s->orders.cap,
                                  sizeof(*s->orders.list));
    }
    s->orders.list[s->orders.n] =
        (struct order){ .is = *order, .tries_left = s->limits.attempts - 1 };
    int_queue_push(queue_of(s, &s->orders.list[s->orders.n]), s->orders.n);
    s->orders.n++;
    s->orders.open++;
    if (s->units.ordered[order->unit]++ == 0)
        want_built(s, order->unit);
    want_built(s, s->limits.units);
    return s->orders.n;
}

/* The order is over.  If its unit was built for this order alone, the build is
 * no longer needed. */
static void end(struct sched *s, struct order *order, enum order_state state)
{
    order->state = state;
    s->orders.open--;
    s->units.ordered[order->is.unit]--;
    sched_settle_needless(s, order->is.unit);
}

static void drop(struct sched *s, struct order *order, const char *why)
{
    order->why = why;
    int_queue_push(&s->orders.dropped, (int)(order - s->orders.list));
    end(s, order, ORDER_DROPPED);
}

bool sched_order_cancel(struct sched *s, int64_t id)
{
    struct order *order = order_at(s, id);

    if (order->state != ORDER_WAITING)
        return false;
    end(s, order, ORDER_ENDED); /* the queue skips its entry */
    return true;
}

/* The order as a lease; the id is 0 because it is not leased. */
static struct sched_lease describe(const struct order *order, int64_t id)
{
    return (struct sched_lease){ .stage = JOB_MEASURE,
                                 .unit = order->is.unit,
                                 .shape = order->is.shape,
                                 .host = order->is.host,
                                 .gpu = order->is.gpu,
                                 .attempt = order->losses + 1,
                                 .order = id,
                                 .purpose = order->is.purpose,
                                 .round = order->is.round,
                                 .pass = order->is.pass,
                                 .fresh = order->is.fresh };
}

/* The unit is built, and the order's host can get it. */
static bool is_at_hand(const struct sched *s, const struct order *order)
{
    int home = s->units.home[order->is.unit];

    return sched_is_built(s, s->limits.units) &&
           sched_is_built(s, order->is.unit) &&
           (home == order->is.host ||
            (s->hosts[home].up && !s->hosts[home].paused));
}

bool sched_orders_next(struct sched *s, int host, int gpu,
                       struct sched_lease *out)
{
    struct int_queue *queue = &s->hosts[host].asked[gpu];

    while (queue->n > 0) {
        int index = int_queue_peek(queue, 0);
        struct order *order = &s->orders.list[index];
        struct sched_lease *lease;
        int64_t id;

        if (order->state == ORDER_WAITING && !is_at_hand(s, order))
            return false;
        int_queue_remove(queue, 0);
        if (order->state != ORDER_WAITING)
            continue; /* cancelled, or its late result has come */
        lease = sched_lease_new(s, host, gpu);
        id = lease->id;
        *lease = describe(order, index + 1);
        lease->id = order->lease = id;
        order->state = ORDER_LEASED;
        *out = *lease;
        return true;
    }
    return false;
}

const struct sched_lease *sched_order_lease(const struct sched *s, int64_t id)
{
    const struct order *order = order_at(s, id);

    return order->lease ? sched_lease_get(s, order->lease) : NULL;
}

/* Put it back at the front of its GPU's queue, unless it can no longer be
 * measured. */
static void requeue(struct sched *s, struct order *order)
{
    const struct sched_host *h = &s->hosts[order->is.host];

    order->state = ORDER_WAITING;
    int_queue_push_front(queue_of(s, order), (int)(order - s->orders.list));
    if (cannot_be_built(s, order->is.unit))
        drop(s, order, "it cannot be built any more");
    else if (!h->up || order->is.gpu >= h->gpus)
        drop(s, order, "its GPU is gone");
}

static void lose(struct sched *s, struct order *order)
{
    order->losses++;
    if (order->tries_left-- == 0)
        drop(s, order, "its last attempt was lost");
    else
        requeue(s, order);
}

bool sched_order_apply(struct sched *s, int64_t id, enum job_event event)
{
    struct order *order = order_at(s, id);
    bool leased = order->state == ORDER_LEASED;

    sched_lease_end(s, order->lease);
    order->lease = 0;
    if (!leased && order->state != ORDER_WAITING)
        return false;
    switch (event) {
    case JOB_EV_RESULT:
    case JOB_EV_REJECT:
        end(s, order, ORDER_ENDED);
        return true;
    case JOB_EV_LOST:
        if (leased)
            lose(s, order);
        return leased;
    case JOB_EV_REFUSED:
        if (leased)
            requeue(s, order);
        return leased;
    default:
        return false;
    }
}

static void drop_queue(struct sched *s, struct int_queue *asked,
                       const char *why)
{
    while (asked->n > 0) {
        struct order *order = &s->orders.list[int_queue_peek(asked, 0)];

        int_queue_remove(asked, 0);
        if (order->state == ORDER_WAITING)
            drop(s, order, why);
    }
}

void sched_orders_drop(struct sched *s, int host, int gpu, const char *why)
{
    struct sched_host *h = &s->hosts[host];

    if (gpu < h->cap_gpus)
        drop_queue(s, &h->asked[gpu], why);
}

/* Those of this GPU and of all after it. */
static void drop_from(struct sched *s, int host, int gpu, const char *why)
{
    struct sched_host *h = &s->hosts[host];

    for (; gpu < h->cap_gpus; gpu++)
        drop_queue(s, &h->asked[gpu], why);
}

void sched_orders_host_down(struct sched *s, int host)
{
    drop_from(s, host, 0, "its host is gone");
}

void sched_orders_room(struct sched *s, int host)
{
    struct sched_host *h = &s->hosts[host];
    size_t room = (size_t)int64_max(h->gpus, h->cap_gpus);

    drop_from(s, host, h->gpus, "its GPU is gone");
    h->asked = mem_grow(h->asked, room, sizeof(*h->asked));
    h->rests = mem_grow(h->rests, room, sizeof(*h->rests));
    for (; h->cap_gpus < h->gpus; h->cap_gpus++) {
        h->asked[h->cap_gpus] = (struct int_queue){ 0 };
        h->rests[h->cap_gpus] = false;
    }
}

void sched_orders_doomed(struct sched *s, int unit, const char *why)
{
    bool all = unit == s->limits.units;

    if (!all && s->units.ordered[unit] == 0)
        return;
    for (int i = 0; i < s->orders.n; i++)
        if ((all || s->orders.list[i].is.unit == unit) &&
            s->orders.list[i].state == ORDER_WAITING)
            drop(s, &s->orders.list[i], why);
}

int sched_open_orders(const struct sched *s)
{
    return s->orders.open;
}

bool sched_order_dropped(struct sched *s, struct sched_lease *out,
                         const char **why)
{
    int index;

    if (s->orders.dropped.n == 0)
        return false;
    index = int_queue_peek(&s->orders.dropped, 0);
    int_queue_remove(&s->orders.dropped, 0);
    s->orders.list[index].state = ORDER_ENDED;
    *out = describe(&s->orders.list[index], index + 1);
    *why = s->orders.list[index].why;
    return true;
}
