/* sim_queue.h - future events, ordered by time
 *
 * Events of the same time happen in the order in which they were added, so a
 * seed always gives the same run.  An event owns its 'data', one block of
 * malloc(). Whoever takes the event owns it after that.
 */
#ifndef FA_TESTS_SIMULATION_SIM_QUEUE_H
#define FA_TESTS_SIMULATION_SIM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_event;
struct sim_world;

typedef void sim_event_fn(struct sim_world *world,
                          const struct sim_event *event);

struct sim_event {
    int64_t at_ns, sequence;
    sim_event_fn *fn;
    size_t host;
    int64_t number; /* of its subject: an event for an older one is ignored */
    int64_t more;
    void *data;
};

struct sim_queue {
    struct sim_event *heap;
    size_t n, cap;
    int64_t sequence;
};

void sim_queue_add(struct sim_queue *queue, struct sim_event event);
/* Takes the earliest event, if it is not after 'until_ns'. */
bool sim_queue_take(struct sim_queue *queue, int64_t until_ns,
                    struct sim_event *out);
void sim_queue_fini(struct sim_queue *queue);

#endif
