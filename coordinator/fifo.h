/* fifo.h - numbers, first in first out
 *
 * All zero is an empty one.  Pure.
 */
#ifndef FA_COORDINATOR_FIFO_H
#define FA_COORDINATOR_FIFO_H

struct fifo {
    int *items; /* a ring */
    int head, n, cap;
};

void fifo_fini(struct fifo *fifo);

void fifo_push(struct fifo *fifo, int item);       /* to the back */
void fifo_push_front(struct fifo *fifo, int item); /* out of turn */
int fifo_peek(const struct fifo *fifo, int i);     /* 0 is the front */
void fifo_remove(struct fifo *fifo, int i);        /* the one peeked at */

#endif
