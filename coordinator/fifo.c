#include "coordinator/fifo.h"

#include <stdlib.h>

#include "common/mem.h"

void fifo_fini(struct fifo *fifo)
{
    free(fifo->items);
    *fifo = (struct fifo){ 0 };
}

void fifo_push(struct fifo *fifo, int item)
{
    if (fifo->n == fifo->cap) {
        int cap = fifo->cap ? fifo->cap * 2 : 64;
        int *items = mem_new((size_t)cap, sizeof(*items));

        for (int i = 0; i < fifo->n; i++)
            items[i] = fifo_peek(fifo, i);
        free(fifo->items);
        fifo->items = items;
        fifo->head = 0;
        fifo->cap = cap;
    }
    fifo->items[(fifo->head + fifo->n++) % fifo->cap] = item;
}

/* The back place that fifo_push() makes is the one the new front takes over:
 * every item keeps its place in the ring and the ring starts one earlier. */
void fifo_push_front(struct fifo *fifo, int item)
{
    fifo_push(fifo, item);
    fifo->head = (fifo->head + fifo->cap - 1) % fifo->cap;
    fifo->items[fifo->head] = item;
}

int fifo_peek(const struct fifo *fifo, int i)
{
    return fifo->items[(fifo->head + i) % fifo->cap];
}

void fifo_remove(struct fifo *fifo, int i)
{
    for (; i > 0; i--)
        fifo->items[(fifo->head + i) % fifo->cap] = fifo_peek(fifo, i - 1);
    fifo->head = (fifo->head + 1) % fifo->cap;
    fifo->n--;
}
