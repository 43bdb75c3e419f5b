/* edge_nudge.h - inputs that differ a little, to see how a reference moves
 *
 * Same bits from the host and from nvcc.
 */
#ifndef FA_WORKER_RUNNER_WIRE_EDGE_NUDGE_H
#define FA_WORKER_RUNNER_WIRE_EDGE_NUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "worker/runner/wire/edge.h"
#include "worker/runner/wire/element.h"

/* How much a nudge changes a value: one or two of fp16's steps.  With an
 * offset, of larger types: as much as a sum of thousands in fp32 is off, one by
 * one. */
#define EDGE_NUDGE 0x1p-10
#define EDGE_OFFSET_NUDGE 0x1p-17

/* Are the inputs of these edges nudged? */
ELEMENT_FN bool edge_nudges(unsigned edges)
{
    return (edges & (1u << EDGE_EXTREME | 1u << EDGE_OFFSET)) != 0;
}

ELEMENT_FN double edge_nudge(unsigned edges, enum element_type type)
{
    return edges & 1u << EDGE_OFFSET && element_bytes(type) > 2
               ? EDGE_OFFSET_NUDGE
               : EDGE_NUDGE;
}

/* The value, a little more or less. */
ELEMENT_FN double edge_nudged(double value, double nudge, uint64_t key,
                              int64_t i)
{
    return value * (edge_bits(key, i) & 1u << 9 ? 1 + nudge : 1 - nudge);
}

#endif
