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
    TRIALS_NAME_MAX = 128
};

struct trials {
    unsigned seeds;                   /* >= 1 */
    unsigned edges[TRIALS_EDGES_MAX]; /* bit e: enum edge e; not 0 */
    size_t n_edges;
};

/* "second seed" of number 1, "inputs with zeros, ties", for messages. */
void trials_name(unsigned edges, size_t seed, char out[TRIALS_NAME_MAX]);

#endif
