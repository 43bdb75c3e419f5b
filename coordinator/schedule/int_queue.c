#include "coordinator/schedule/int_queue.h"

#include <stdlib.h>

#include "common/mem.h"

void int_queue_fini(struct int_queue *queue)
{
    free(queue->items);
    *queue = (struct int_queue){ 0 };
}

void int_queue_push(struct int_queue *queue, int item)
{
    if (queue->n == queue->cap) {
        int cap = queue->cap ? queue->cap * 2 : 64;
        int *items = mem_new((size_t)cap, sizeof(*items));

        for (int i = 0; i < queue->n; i++)
            items[i] = int_queue_peek(queue, i);
        free(queue->items);
        queue->items = items;
        queue->head = 0;
        queue->cap = cap;
    }
    queue->items[(queue->head + queue->n++) % queue->cap] = item;
}

/* int_queue_push() adds a place at the back; the new front takes that place.
 * Every item stays where it is in the ring, and the ring starts one place
 * earlier.
 */
void int_queue_push_front(struct int_queue *queue, int item)
{
    int_queue_push(queue, item);
    queue->head = (queue->head + queue->cap - 1) % queue->cap;
    queue->items[queue->head] = item;
}

int int_queue_peek(const struct int_queue *queue, int i)
{
    return queue->items[(queue->head + i) % queue->cap];
}

void int_queue_remove(struct int_queue *queue, int i)
{
    for (; i > 0; i--)
        queue->items[(queue->head + i) % queue->cap] =
            int_queue_peek(queue, i - 1);
    queue->head = (queue->head + 1) % queue->cap;
    queue->n--;
}
