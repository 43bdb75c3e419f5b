/* sim_queue.h - what will happen, in the order of (time, sequence)
 *
 * Two events of one time happen in the order they were added, so that a seed
 * repeats.  An event owns its 'data', one block of malloc(), until it has been
 * taken; then the taker does.
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
    int64_t number; /* of what it is about: an event that came too late for it
                       is ignored */
    int64_t more;
    void *data;
};

struct sim_queue {
    struct sim_event *heap;
    size_t n, cap;
    int64_t sequence;
};

void sim_queue_add(struct sim_queue *queue, struct sim_event event);
/* The earliest, if it is not after 'until_ns'. */
bool sim_queue_take(struct sim_queue *queue, int64_t until_ns,
                    struct sim_event *out);
void sim_queue_fini(struct sim_queue *queue);

#endif
