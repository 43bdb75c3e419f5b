#include "coordinator/state/held_work.h"

#include <stdio.h>

#include "common/clock.h"
#include "coordinator/state/host_supply.h"
#include "coordinator/state/leases.h"
#include "coordinator/state/reactor.h"

/* The longest time for which a pass may wait: a program's answer. */
#define WAIT_MAX_NS (120 * NS_PER_S)

struct listing {
    const struct sweep *sweep;
    held_work_fn *fn;
    void *arg;
    const struct pass *pass;
    int pieces, waits; /* told */
    int loose;         /* held by nothing */
};

static void tell(struct listing *to, const struct held_work *work)
{
    to->loose += !work->is_held;
    to->fn(to->arg, work);
}

/* ---- passes */

static bool will_end(const struct sweep *sweep, const struct pass_wait *wait)
{
    switch (wait->end) {
    case PASS_WAIT_ORDER:
        return sched_order_is_open(sweep->work.sched, wait->order);
    case PASS_WAIT_UNIT:
        return sched_unit_is_open(sweep->work.sched, wait->unit);
    case PASS_WAIT_TIME: /* not before the last turn, so the pass can still act
                          */
        return wait->until_ns >= sweep->reactor.turn_ns &&
               wait->until_ns - sweep->reactor.turn_ns <= WAIT_MAX_NS;
    case PASS_WAIT_HOST:
        return true;
    case PASS_WAIT_NOTHING:
        break;
    }
    return false;
}

static void tell_wait(void *arg, const struct pass_wait *wait)
{
    struct listing *to = arg;
    struct held_work work = { .pass = to->pass->ops->name,
                              .wait = *wait,
                              .is_held = will_end(to->sweep, wait) };

    to->waits++;
    if (wait->end == PASS_WAIT_TIME)
        work.until_ns = wait->until_ns;
    if (wait->end == PASS_WAIT_HOST)
        work.until_ns = host_supply_until_ns(to->sweep);
    tell(to, &work);
}

static void list_passes(struct listing *to)
{
    for (int i = 0; i < to->sweep->passes.n; i++) {
        to->pass = &to->sweep->passes.list[i];
        if (to->pass->state && to->pass->ops->waits_for)
            to->pass->ops->waits_for(to->sweep, to->pass, tell_wait, to);
    }
}

/* ---- the schedule */

static void tell_piece(void *arg, const struct sched_piece *piece)
{
    struct listing *to = arg;
    const struct sweep *sweep = to->sweep;
    struct held_work work = { .piece = *piece,
                              .is_held = piece->hold != SCHED_HOLD_NONE };

    to->pieces++;
    if (piece->hold == SCHED_HOLD_LEASE) {
        work.until_ns = leases_deadline(
            sweep, sched_lease_get(sweep->work.sched, piece->lease));
        work.is_held = work.until_ns >= sweep->reactor.last.leases_ns;
    }
    if (piece->hold == SCHED_HOLD_CALLER) /* by a pass, which must wait */
        work.is_held = to->waits > 0;
    tell(to, &work);
}

int held_work_list(const struct sweep *sweep, held_work_fn *fn, void *arg)
{
    struct listing to = { .sweep = sweep, .fn = fn, .arg = arg };
    const struct pass *lead = sweep->passes.lead;

    list_passes(&to);
    sched_pieces(sweep->work.sched, tell_piece, &to);
    if (lead && to.pieces + to.waits == 0 && !lead->ops->is_over(sweep, lead))
        tell(&to, &(struct held_work){
                      .pass = lead->ops->name,
                      .wait = { .what = "its end, with nothing left to do" } });
    return to.loose;
}

/* ---- for people */

static const char *const holds[] = {
    [SCHED_HOLD_NONE] = "in no queue and not leased",
    [SCHED_HOLD_QUEUE] = "in a queue",
    [SCHED_HOLD_LEASE] = "leased",
    [SCHED_HOLD_BUILD] = "until it is built",
    [SCHED_HOLD_CALLER] = "held back until a pass wants it",
};

static const char *const ends[] = {
    [PASS_WAIT_NOTHING] = "until nothing in particular",
    [PASS_WAIT_ORDER] = "until the order is over",
    [PASS_WAIT_UNIT] = "until the unit is settled",
    [PASS_WAIT_TIME] = "until its time has come",
    [PASS_WAIT_HOST] = "until a host can take it",
};

void held_work_text(const struct held_work *work, char *text, size_t size)
{
    const struct sched_piece *piece = &work->piece;

    if (work->pass)
        snprintf(text, size, "%s pass, %s, order %lld, unit %d: %s", work->pass,
                 work->wait.what, (long long)work->wait.order, work->wait.unit,
                 ends[work->wait.end]);
    else
        snprintf(text, size, "%s, unit %d, shape %d, order %lld: %s",
                 job_stage_name(piece->stage), piece->unit, piece->shape,
                 (long long)piece->order, holds[piece->hold]);
}
