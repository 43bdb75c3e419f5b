/* sched_pieces.h - what is not settled in a sched, and what holds each of it
 *
 * At any moment a build, a measurement or an order that is not settled stands
 * in a queue, is leased, waits for a build that is not settled itself, or is
 * held back with its unit.  What none of these holds would wait for ever.
 *
 * Pure; changes nothing.
 */
#ifndef FA_COORDINATOR_SCHEDULE_SCHED_PIECES_H
#define FA_COORDINATOR_SCHEDULE_SCHED_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/schedule/job.h"

struct sched;

enum sched_hold {
    SCHED_HOLD_NONE,   /* it would wait for ever */
    SCHED_HOLD_QUEUE,  /* of builds, of a host, of a GPU, of what to tell */
    SCHED_HOLD_LEASE,  /* 'lease' */
    SCHED_HOLD_BUILD,  /* of its unit or the reference, which is not settled */
    SCHED_HOLD_CALLER, /* sched_hold(): until its unit is released or dropped */
};

struct sched_piece {
    enum job_stage stage;
    int unit, shape;
    int64_t order; /* 0: what is screened, or a build */
    int pass;      /* of the order */
    enum sched_hold hold;
    int64_t lease;
};

/* Builds first, then measurements, then orders; 'piece' lives for the call. */
typedef void sched_piece_fn(void *arg, const struct sched_piece *piece);
void sched_pieces(const struct sched *sched, sched_piece_fn *fn, void *arg);

/* Something of the unit is yet to be measured. */
bool sched_unit_is_open(const struct sched *sched, int unit);
/* Will the pass that made the order hear of its end yet? */
bool sched_order_is_open(const struct sched *sched, int64_t id);

#endif
