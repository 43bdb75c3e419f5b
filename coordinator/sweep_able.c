/* Is there anybody left to do the work: now, or ever? */
#include "coordinator/sweep_state.h"

/* Without a host that can go on for this long, there is no point in waiting. */
#define NO_HOST_NS (120 * NS_PER_S)
#define HOPELESS_TRIES 3 /* of a host that was never reached */

/* What the hosts can do between them. */
struct ability {
    bool measures, builds;           /* a READY host does */
    bool may_measure, may_build;     /* one that is still awaited might */
    bool was_ready;                  /* any, in this run */
    const struct box *failed, *idle; /* the last with a reason; a READY one */
};

static bool is_awaited(const struct box *box)
{
    return box->state != BOX_FAILED && box->state != BOX_READY &&
           (box->was_ready || box->attached || box->tries < HOPELESS_TRIES);
}

/* A GPU that is not quarantined. */
static bool has_gpu(const struct sweep *sweep, size_t host)
{
    for (int gpu = 0; gpu < sweep->boxes[host].n_gpus; gpu++)
        if (!sweep_canary_bans(sweep, host, gpu))
            return true;
    return false;
}

static struct ability look(const struct sweep *sweep)
{
    struct ability can = { 0 };

    for (size_t i = 0; i < sweep->n_boxes; i++) {
        const struct box *box = &sweep->boxes[i];
        bool ready = box->state == BOX_READY, awaited = is_awaited(box);
        bool builder = box->host->role != HOST_GPU;

        can.was_ready = can.was_ready || box->was_ready;
        can.measures = can.measures || (ready && has_gpu(sweep, i));
        can.builds = can.builds || (ready && builder);
        can.may_measure =
            can.may_measure || (awaited && host_measures(box->host));
        can.may_build = can.may_build || (awaited && builder);
        if (ready)
            can.idle = box;
        else if (box->why[0])
            can.failed = box;
    }
    return can;
}

static bool builds_wait(const struct sweep *sweep)
{
    if (!sweep->plan)
        return true;
    for (int unit = 0; unit <= plan_units(sweep->plan); unit++)
        if (sched_job(sweep->sched, JOB_BUILD, unit, 0)->state == JOB_WAITING)
            return true;
    return false;
}

/* 'what' is not possible, and which host is to blame. */
static void stop(struct sweep *sweep, const struct ability *can,
                 const char *what)
{
    bool partial = sweep->plan && can->was_ready &&
                   (sweep->n_settled > 0 || sweep->contest);
    const struct box *box = can->failed;
    struct err err;

    if (box)
        err_set(&err, ERR_NETWORK, "%s%s%s: %s", what,
                sweep->n_boxes == 1 ? ": " : "; the last to fail, ",
                box->host->name, box->why);
    else if (can->idle)
        err_set(&err, ERR_NETWORK, "%s", what);
    else
        err_set(&err, ERR_NETWORK, "%s: none answers", what);
    sweep_fail(sweep,
               partial                        ? 5
               : box && box->code == ERR_AUTH ? 4
                                              : 3,
               partial ? "partial" : "error", &err);
}

void sweep_check_hosts(struct sweep *sweep, int64_t now)
{
    struct ability can = look(sweep);
    bool busy = sweep->sched && sched_leases(sweep->sched) > 0;
    bool must_build = !busy && !can.builds && builds_wait(sweep);
    bool late;

    if (sweep->options->builds_only) {
        can.measures = can.builds;
        can.may_measure = can.may_build;
    }
    if (can.measures && !must_build)
        sweep->usable_ns = now;
    late = now - sweep->usable_ns > NO_HOST_NS;
    if (!can.measures && (late || !can.may_measure)) {
        if (can.idle)
            stop(sweep, &can,
                 "no host is left that can measure; those that are ready have "
                 "no GPU for it (role=builder, gpus=none, another model, or "
                 "quarantined)");
        else
            stop(sweep, &can,
                 can.was_ready ? "no host is left" : "no usable host");
    } else if (must_build && (late || !can.may_build)) {
        stop(sweep, &can,
             "no host is left that can build; those that are ready have "
             "role=gpu in the hosts file: give one role=both");
    }
}
