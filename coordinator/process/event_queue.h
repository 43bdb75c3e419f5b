/* event_queue.h - texts that wait to be told, the oldest first
 *
 * When it is full, the oldest one is dropped: the last one says how it ended.
 * Pure.
 */
#ifndef FA_COORDINATOR_PROCESS_EVENT_QUEUE_H
#define FA_COORDINATOR_PROCESS_EVENT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#define EVENT_QUEUE_MAX 64

struct event_queue {
    char *texts[EVENT_QUEUE_MAX]; /* owned; the oldest is at 'first' */
    size_t first, n;
    int64_t dropped; /* in all */
};

void event_queue_add(struct event_queue *queue, const char *text, size_t len);
/* The oldest, which the caller frees; NULL if there is none. */
char *event_queue_take(struct event_queue *queue);
/* Drop all but the newest. */
void event_queue_keep_last(struct event_queue *queue);
void event_queue_fini(struct event_queue *queue);

#endif
