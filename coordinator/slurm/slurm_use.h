/* slurm_use.h - are the nodes of a line too few or too many?
 *
 * A node more is worth asking for when all that are there have work.  One that
 * has had none for SLURM_USE_IDLE_NS is given back: it may have been asked for
 * when there was more.
 * Pure.
 */
#ifndef FA_COORDINATOR_SLURM_SLURM_USE_H
#define FA_COORDINATOR_SLURM_SLURM_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"

#define SLURM_USE_BUSY_NS (5 * NS_PER_S) /* since its last work */
#define SLURM_USE_IDLE_NS (60 * NS_PER_S)

struct slurm_use {
    bool is_here;    /* its worker has dialled back */
    int64_t idle_ns; /* since it was given work or had a result */
};

bool slurm_use_grows(const struct slurm_use *nodes, size_t n);

/* The node to give back, so that 'least' stay; -1: none. */
long slurm_use_surplus(const struct slurm_use *nodes, size_t n, int least);

#endif
