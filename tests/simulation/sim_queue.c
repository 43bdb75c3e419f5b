#include "tests/simulation/sim_queue.h"

#include <stdlib.h>

#include "common/mem.h"

static bool is_before(const struct sim_event *a, const struct sim_event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns
                                : a->sequence < b->sequence;
}

static void swap(struct sim_event *a, struct sim_event *b)
{
    struct sim_event was = *a;

    *a = *b;
    *b = was;
}

void sim_queue_add(struct sim_queue *queue, struct sim_event event)
{
    size_t at = queue->n++;

    if (queue->n > queue->cap) {
        queue->cap = queue->cap ? 2 * queue->cap : 256;
        queue->heap = mem_grow(queue->heap, queue->cap, sizeof(*queue->heap));
    }
    event.sequence = queue->sequence++;
    queue->heap[at] = event;
    for (; at > 0 && is_before(&queue->heap[at], &queue->heap[(at - 1) / 2]);
         at = (at - 1) / 2)
        swap(&queue->heap[at], &queue->heap[(at - 1) / 2]);
}

static void sink(struct sim_queue *queue)
{
    size_t at = 0;

    for (;;) {
        size_t left = 2 * at + 1, right = left + 1, least = at;

        if (left < queue->n && is_before(&queue->heap[left], &queue->heap[at]))
            least = left;
        if (right < queue->n &&
            is_before(&queue->heap[right], &queue->heap[least]))
            least = right;
        if (least == at)
            return;
        swap(&queue->heap[at], &queue->heap[least]);
        at = least;
    }
}

bool sim_queue_take(struct sim_queue *queue, int64_t until_ns,
                    struct sim_event *out)
{
    if (queue->n == 0 || queue->heap[0].at_ns > until_ns)
        return false;
    *out = queue->heap[0];
    queue->heap[0] = queue->heap[--queue->n];
    sink(queue);
    return true;
}

void sim_queue_fini(struct sim_queue *queue)
{
    for (size_t i = 0; i < queue->n; i++)
        free(queue->heap[i].data);
    free(queue->heap);
}
