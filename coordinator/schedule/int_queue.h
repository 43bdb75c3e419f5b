/* int_queue.h - numbers, first in first out
 *
 * A struct of zeros is an empty queue.  Pure.
 */
#ifndef FA_COORDINATOR_SCHEDULE_INT_QUEUE_H
#define FA_COORDINATOR_SCHEDULE_INT_QUEUE_H

struct int_queue {
    int *items; /* a ring */
    int head, n, cap;
};

void int_queue_fini(struct int_queue *queue);

void int_queue_push(struct int_queue *queue, int item);       /* to the back */
void int_queue_push_front(struct int_queue *queue, int item); /* to the front */
int int_queue_peek(const struct int_queue *queue, int i); /* 0 is the front */
void int_queue_remove(struct int_queue *queue, int i); /* the one peeked at */

#endif
