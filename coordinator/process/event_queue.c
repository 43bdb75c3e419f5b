#include "coordinator/process/event_queue.h"

#include <stdlib.h>

#include "common/mem.h"

static void drop(struct event_queue *queue)
{
    free(event_queue_take(queue));
    queue->dropped++;
}

void event_queue_add(struct event_queue *queue, const char *text, size_t len)
{
    if (queue->n == EVENT_QUEUE_MAX)
        drop(queue);
    queue->texts[(queue->first + queue->n++) % EVENT_QUEUE_MAX] =
        mem_dup(text, len);
}

char *event_queue_take(struct event_queue *queue)
{
    char *text;

    if (queue->n == 0)
        return NULL;
    text = queue->texts[queue->first];
    queue->first = (queue->first + 1) % EVENT_QUEUE_MAX;
    queue->n--;
    return text;
}

void event_queue_keep_last(struct event_queue *queue)
{
    while (queue->n > 1)
        drop(queue);
}

void event_queue_fini(struct event_queue *queue)
{
    while (queue->n > 0)
        free(event_queue_take(queue));
}
