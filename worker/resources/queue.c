#include "worker/resources/queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

struct queue {
    size_t slots, credit;
    size_t builds; /* at once; at most 'slots' */
    size_t gpus;
    struct lease *first;
    int64_t last_number;
};

struct queue *queue_new(size_t slots, size_t gpus, size_t credit)
{
    struct queue *queue = mem_new(1, sizeof(*queue));

    *queue = (struct queue){
        .slots = slots, .credit = credit, .builds = slots, .gpus = gpus
    };
    return queue;
}

void queue_add_gpus(struct queue *queue, size_t gpus)
{
    assert(gpus >= queue->gpus);
    queue->gpus = gpus;
}

void queue_limit_builds(struct queue *queue, size_t most)
{
    assert(most > 0);
    queue->builds = most < queue->slots ? most : queue->slots;
}

void queue_free(struct queue *queue)
{
    if (!queue)
        return;
    while (queue->first)
        queue_remove(queue, queue->first);
    free(queue);
}

static size_t count(const struct queue *queue, int place, bool running_only)
{
    size_t n = 0;

    for (const struct lease *lease = queue->first; lease; lease = lease->next)
        n += lease->place == place && (lease->running || !running_only);
    return n;
}

/* NULL for "": a tool needs only what it names. */
static const char *named(const char *hash)
{
    return hash && *hash ? hash : NULL;
}

static void set_missing(struct lease *lease)
{
    const struct msg *msg = &lease->msg;
    const struct msg_launch *launch = msg_launch(msg);

    if (msg->type == MSG_BUILD)
        lease->missing[LEASE_BUNDLE] = named(msg->build.bundle);
    if (msg->type == MSG_TOOL)
        lease->missing[LEASE_BUNDLE] = named(msg->tool.bundle);
    if (launch) {
        lease->missing[LEASE_ARTIFACT] = named(launch->artifact);
        lease->missing[LEASE_REFERENCE] = named(launch->reference);
        for (size_t i = 0; i < launch->inputs.n; i++)
            lease->missing[LEASE_INPUTS + i] = launch->inputs.items[i];
    }
}

int queue_add(struct queue *queue, struct msg *msg, int place,
              struct lease **out, struct err *err)
{
    size_t credit = place == QUEUE_BUILDS ? queue->slots + 1 : queue->credit;
    int64_t number = msg_work(msg)->lease;
    struct lease *lease, **at = &queue->first;

    assert(place == QUEUE_BUILDS || (size_t)place < queue->gpus);
    if (queue_find(queue, msg->epoch, number))
        return err_set(err, ERR_INPUT, "the worker has lease %lld already",
                       (long long)number);
    if (count(queue, place, false) >= credit)
        return err_set(err, ERR_INPUT, "the worker is full (%zu of %zu leases)",
                       count(queue, place, false), credit);
    lease = mem_new(1, sizeof(*lease));
    *lease = (struct lease){ .msg = *msg,
                             .place = place,
                             .number = ++queue->last_number };
    *msg = (struct msg){ 0 };
    set_missing(lease);
    while (*at)
        at = &(*at)->next;
    *at = lease;
    *out = lease;
    return 0;
}

void queue_remove(struct queue *queue, struct lease *lease)
{
    struct lease **at = &queue->first;

    while (*at != lease)
        at = &(*at)->next;
    *at = lease->next;
    msg_fini(&lease->msg);
    free(lease);
}

void queue_lease_found(struct lease *lease, const char *hash)
{
    for (int i = 0; i < LEASE_FILES; i++)
        if (lease->missing[i] && strcmp(lease->missing[i], hash) == 0)
            lease->missing[i] = NULL;
}

void queue_arrived(struct queue *queue, const char *hash)
{
    for (struct lease *lease = queue->first; lease; lease = lease->next)
        queue_lease_found(lease, hash);
}

bool queue_lease_is_waiting(const struct lease *lease)
{
    for (int i = 0; i < LEASE_FILES; i++)
        if (lease->missing[i])
            return false;
    return !lease->running;
}

bool queue_lease_lacks(const struct lease *lease, const char *hash)
{
    for (int i = 0; i < LEASE_FILES; i++)
        if (lease->missing[i] && strcmp(lease->missing[i], hash) == 0)
            return true;
    return false;
}

struct lease *queue_next(struct queue *queue, int place)
{
    size_t most = place == QUEUE_BUILDS ? queue->builds : 1;

    if (count(queue, place, true) >= most)
        return NULL;
    for (struct lease *lease = queue->first; lease; lease = lease->next)
        if (lease->place == place && queue_lease_is_waiting(lease))
            return lease;
    return NULL;
}

bool queue_lease_is_cancelled(const struct lease *lease, int64_t epoch,
                              const struct msg_cancel *cancel)
{
    const struct msg_work *work = msg_work(&lease->msg);
    char text[MSG_IDENTITY_BYTES];

    if (lease->msg.epoch == epoch)
        return work->lease == cancel->lease;
    msg_identity_text(&work->id, text);
    for (size_t i = 0; i < cancel->running.n; i++)
        if (strcmp(cancel->running.items[i], text) == 0)
            return true;
    return false;
}

struct lease *queue_find(struct queue *queue, int64_t epoch, int64_t number)
{
    for (struct lease *lease = queue->first; lease; lease = lease->next)
        if (lease->msg.epoch == epoch && msg_work(&lease->msg)->lease == number)
            return lease;
    return NULL;
}

struct lease *queue_numbered(struct queue *queue, int64_t number)
{
    for (struct lease *lease = queue->first; lease; lease = lease->next)
        if (lease->number == number)
            return lease;
    return NULL;
}

struct lease *queue_first(struct queue *queue)
{
    return queue->first;
}

size_t queue_running(const struct queue *queue)
{
    size_t n = 0;

    for (const struct lease *lease = queue->first; lease; lease = lease->next)
        n += lease->running;
    return n;
}

size_t queue_drop_idle(struct queue *queue)
{
    struct lease *lease = queue->first, *next;
    size_t n = 0;

    for (; lease; lease = next) {
        next = lease->next;
        if (lease->running)
            continue;
        queue_remove(queue, lease);
        n++;
    }
    return n;
}
