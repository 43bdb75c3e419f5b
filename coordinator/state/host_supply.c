/* Is any host left that can do the work, now or later? */
#include "coordinator/state/host_supply.h"

#include "common/clock.h"
#include "common/int64.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/state/reactor.h"
#include "coordinator/text/exit_code.h"

/* How long a sweep waits for a host that can continue it, unless another sweep
 * has it now. */
#define NO_HOST_NS (120 * NS_PER_S)
#define HOPELESS_TRIES 3 /* of a host that was never reached */

/* What the hosts together can do. */
struct ability {
    bool measures, builds;         /* a READY host does */
    bool may_measure, may_build;   /* a host that is still awaited might */
    bool will_measure, will_build; /* when another sweep leaves it free */
    bool was_ready;                /* any, in this run */
    const struct host_state *failed,
        *idle; /* the last with a reason; a READY one */
};

/* Builds of a check are not worth the wait for another sweep's end. */
static bool is_awaited(const struct sweep *sweep,
                       const struct host_state *host_state)
{
    if (host_state->conn.waits && sweep->reactor.options->unbuilt.tell)
        return false;
    return host_state->state != HOST_STATE_FAILED &&
           host_state->state != HOST_STATE_READY &&
           (host_state->was_ready || host_state->conn.attached ||
            host_state->conn.waits || host_state->conn.is_rented ||
            host_state->conn.tries < HOPELESS_TRIES);
}

/* A GPU that is not quarantined.  A host that left between HELLO and READY has
 * those that it had before. */
static bool has_gpu(const struct sweep *sweep, size_t host)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    int n = host_state->n_gpus;

    if (host_state->state != HOST_STATE_READY)
        n = (int)int64_max(n, host_state->n_known);
    for (int gpu = 0; gpu < n; gpu++)
        if (!pass_bans(sweep, host, gpu))
            return true;
    return false;
}

bool host_supply_may_measure(const struct sweep *sweep, size_t host)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    /* one that was released would be acquired again to no purpose */
    bool is_known =
        host_state->was_ready &&
        (host_state->state == HOST_STATE_READY ||
         (host_state->state == HOST_STATE_AWAY && host_state->conn.is_rented));

    return host_measures(host_state->host) &&
           !(is_known && !has_gpu(sweep, host));
}

bool host_supply_has_other(const struct sweep *sweep, size_t host)
{
    for (size_t i = 0; i < sweep->fleet.n; i++) {
        const struct host_state *other = &sweep->fleet.hosts[i];

        if (i == host || other->conduct.condemned)
            continue;
        if (other->state == HOST_STATE_READY
                ? has_gpu(sweep, i)
                : is_awaited(sweep, other) && host_supply_may_measure(sweep, i))
            return true;
    }
    return false;
}

static struct ability look(const struct sweep *sweep)
{
    struct ability can = { 0 };

    for (size_t i = 0; i < sweep->fleet.n; i++) {
        const struct host_state *host_state = &sweep->fleet.hosts[i];
        bool ready = host_state->state == HOST_STATE_READY,
             awaited = is_awaited(sweep, host_state);
        bool builder = host_state->host->role != HOST_GPU;
        bool waits =
            awaited && (host_state->conn.waits || host_state->conn.is_rented);

        can.was_ready = can.was_ready || host_state->was_ready;
        can.measures = can.measures || (ready && has_gpu(sweep, i));
        can.builds = can.builds || (ready && builder);
        can.may_measure =
            can.may_measure || (awaited && host_supply_may_measure(sweep, i));
        can.may_build = can.may_build || (awaited && builder);
        can.will_measure =
            can.will_measure || (waits && host_supply_may_measure(sweep, i));
        can.will_build = can.will_build || (waits && builder);
        if (ready)
            can.idle = host_state;
        else if (host_state->conn.why[0])
            can.failed = host_state;
    }
    return can;
}

static bool builds_wait(const struct sweep *sweep)
{
    if (!sweep->work.plan)
        return true;
    for (int unit = 0; unit <= plan_units(sweep->work.plan); unit++)
        if (sched_job(sweep->work.sched, JOB_BUILD, unit, 0)->state ==
            JOB_WAITING)
            return true;
    return false;
}

/* Say that 'what' is not possible, and which host is the reason. */
static void stop(struct sweep *sweep, const struct ability *can,
                 const char *what)
{
    bool partial = sweep->work.plan && can->was_ready &&
                   (sweep->work.count.settled > 0 || sweep->passes.lead);
    const struct host_state *host_state = can->failed;
    struct err err;

    if (host_state)
        err_set(&err, ERR_NETWORK, "%s%s%s: %s", what,
                sweep->fleet.n == 1 ? ": " : "; the last to fail, ",
                host_state->host->name, host_state->conn.why);
    else if (can->idle)
        err_set(&err, ERR_NETWORK, "%s", what);
    else
        err_set(&err, ERR_NETWORK,
                "%s: no host answers; 'fa-coord doctor' asks "
                "each why",
                what);
    reactor_fail(sweep,
                 partial ? EXIT_PARTIAL
                 : host_state &&
                         exit_code_of(host_state->conn.code) == EXIT_REFUSED
                     ? EXIT_REFUSED
                     : EXIT_NO_HOST,
                 &err);
}

int64_t host_supply_until_ns(const struct sweep *sweep)
{
    return sweep->fleet.usable_ns + NO_HOST_NS;
}

void host_supply_check(struct sweep *sweep, int64_t now)
{
    struct ability can = look(sweep);
    bool busy = sweep->work.sched && sched_leases(sweep->work.sched) > 0;
    bool must_build = !busy && !can.builds && builds_wait(sweep);
    bool late;

    if (sweep->reactor.options->builds_only) {
        can.measures = can.builds;
        can.may_measure = can.may_build;
        can.will_measure = can.will_build;
    }
    if ((can.measures || can.will_measure) && (!must_build || can.will_build))
        sweep->fleet.usable_ns = now;
    late = now > host_supply_until_ns(sweep);
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
