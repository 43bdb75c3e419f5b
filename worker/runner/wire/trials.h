/* trials.h - which inputs a kernel is checked on
 *
 * The trials of a request are its seeds, then its edges: "2 zeros+ties large"
 * has two seeds, one trial with zeros and ties, one with large inputs.
 */
#ifndef FA_WORKER_RUNNER_WIRE_TRIALS_H
#define FA_WORKER_RUNNER_WIRE_TRIALS_H

#include <stdbool.h>
#include <stddef.h>

#include "worker/runner/wire/edge.h"

enum {
    TRIALS_SEEDS_MAX = 8,
    TRIALS_EDGES_MAX = 8,
    TRIALS_MAX = TRIALS_SEEDS_MAX + TRIALS_EDGES_MAX,
    TRIALS_NAME_MAX = 96
};

struct trials {
    unsigned seeds;                   /* >= 1 */
    unsigned edges[TRIALS_EDGES_MAX]; /* bit e: enum edge e; not 0 */
    size_t n_edges;
};

static inline size_t trials_count(const struct trials *trials)
{
    return trials->seeds + trials->n_edges;
}

/* The edges of a trial; none of a seed. */
static inline unsigned trials_edges(const struct trials *trials, size_t trial)
{
    return trial < trials->seeds ? 0 : trials->edges[trial - trials->seeds];
}

/* "second seed", "zeros and ties", for messages. */
void trials_name(const struct trials *trials, size_t trial,
                 char out[TRIALS_NAME_MAX]);

#endif
