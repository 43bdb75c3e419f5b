#include "coordinator/reactor/rented.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/int64.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/artifacts/kept_artifacts.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/reactor/host_events.h"
#include "coordinator/reactor/results.h"
#include "coordinator/rental/rental.h"
#include "coordinator/rental/rental_plan.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/state/host_supply.h"
#include "coordinator/state/outbox.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"
#include "coordinator/text/exit_code.h"

#define SPOT_TRIES 3 /* connections that broke or could not be made */
/* A host without start= that cannot be reached is not waited for, if others can
 * be acquired; one that dials back has so long to come. */
#define AWAY_TRIES 3
#define AWAY_NS (120 * NS_PER_S)
#define PLAN_NS (250 * NS_PER_MS)
#define LEAVE_NS (2 * NS_PER_S) /* for a worker to hear that it must stop */
/* A machine that was started and cannot be used is given up so long after its
 * boot= should have been over, three times as long. */
#define UNUSABLE_NS (120 * NS_PER_S)
/* After RENTAL_TRIES and so long. */
#define UNRELEASED_NS (60 * NS_PER_S)
/* Before the first build and measurement of a sweep have ended. */
#define BUILD_S 5.0
#define MEASUREMENT_S 0.03
#define SLOTS 4
#define PACE_JOBS 8 /* that have ended, before their mean counts */

static struct rental *machines_of(const struct sweep *sweep)
{
    return sweep->reactor.options->stay.rental.machines;
}

/* An earlier run of the command said why. */
static void lose(struct host_state *host_state)
{
    host_state->state = HOST_STATE_FAILED;
    host_state->conn.code = ERR_SYSTEM;
    snprintf(host_state->conn.why, sizeof(host_state->conn.why),
             "it could not be acquired, or used");
}

void rented_begin(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    struct rental *machines = machines_of(sweep);

    if (!machines || !host_is_rented(host_state->host))
        return;
    host_state->conn.is_rented = true;
    if (rental_state(machines, host) == RENTAL_LOST)
        lose(host_state);
    else if (rental_state(machines, host) != RENTAL_FREE)
        ledger_hold(sweep->fleet.ledger, (int)host, sweep->reactor.started_ns);
}

void rented_park(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    host_state->conn.leave_ns = 0;
    host_state->conn.is_linked = false;
    host_state->is_lost = true; /* its silence is no news */
    sweep->reactor.io.link.park(sweep->reactor.io.link.self, host);
}

/* ---- what is wanted */

static int count_jobs(const struct sweep *sweep, enum job_stage stage,
                      bool are_done)
{
    int shapes = stage == JOB_BUILD ? 1 : plan_shapes(sweep->work.plan);
    int units = plan_units(sweep->work.plan) + (stage == JOB_BUILD), n = 0;

    for (int i = 0; i < units * shapes; i++) {
        enum job_state state =
            sched_job(sweep->work.sched, stage, i / shapes, i % shapes)->state;

        n += are_done ? state == JOB_DONE
                      : state == JOB_WAITING || state == JOB_LEASED;
    }
    return n;
}

/* Builds that a search has not asked for; it may ask only after it was told
 * what others measure, so a GPU must not wait for them. */
static int count_held(const struct sweep *sweep)
{
    int n = 0;

    for (int unit = 0; unit < plan_units(sweep->work.plan); unit++)
        n += sched_is_held(sweep->work.sched, unit) &&
             sched_job(sweep->work.sched, JOB_BUILD, unit, 0)->state ==
                 JOB_WAITING;
    return n;
}

/* Of this run, or of earlier ones; it is known if it is above 0.  The first of
 * this run differ from the rest: caches are cold, and a reference is not a
 * configuration. */
static double pace(double run_ns, int done, double earlier_s)
{
    return run_ns > 0 && done >= PACE_JOBS ? run_ns / (double)NS_PER_S
                                           : earlier_s;
}

static struct rental_work look_at_work(const struct sweep *sweep)
{
    struct rental_work work = {
        .is_known = sweep->work.plan != NULL,
        .is_paced = sweep->passes.lead != NULL,
    };
    const double *mean_ns = sweep->work.pace.mean_ns;
    double build_s, measurement_s;
    int builds;

    if (!work.is_known)
        return work;
    build_s = pace(mean_ns[JOB_BUILD], count_jobs(sweep, JOB_BUILD, true),
                   sweep->fleet.build_s);
    measurement_s =
        pace(mean_ns[JOB_MEASURE], count_jobs(sweep, JOB_MEASURE, true),
             sweep->fleet.measurement_s);
    work.is_built = build_s > 0;
    work.build_s = work.is_built ? build_s : BUILD_S;
    work.is_measured = measurement_s > 0;
    work.measurement_s = work.is_measured ? measurement_s : MEASUREMENT_S;
    builds = count_jobs(sweep, JOB_BUILD, false);
    work.builds = builds - count_held(sweep);
    work.measurements = sched_open_jobs(sweep->work.sched) - builds;
    return work;
}

/* It may come yet; then the plan counts on it again. */
static bool is_away(const struct host_state *host_state, int64_t now)
{
    return !host_state->conn.is_rented &&
           host_state->state == HOST_STATE_AWAY &&
           (host_state->conn.tries >= AWAY_TRIES ||
            (host_state->host->dial.back &&
             now - host_state->conn.heard_ns > AWAY_NS));
}

/* Without it they would be built again, there or elsewhere. */
static bool serves(const struct sweep *sweep, size_t host)
{
    const struct work *work = &sweep->work;

    for (int unit = 0; work->sched && unit <= plan_units(work->plan); unit++)
        if (sched_home(work->sched, unit) == (int)host &&
            sched_is_needed(work->sched, unit) &&
            !kept_artifacts_has(sweep, work->artifacts[unit]))
            return true;
    return false;
}

static struct rental_machine look_at(const struct sweep *sweep, size_t host,
                                     int64_t now)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    const struct host *h = host_state->host;
    struct rental_machine machine = {
        .is_lost =
            host_state->state == HOST_STATE_FAILED || is_away(host_state, now),
        .is_busy = sweep->work.sched &&
                   sched_lease_on(sweep->work.sched, (int)host) != NULL,
        .measures = host_supply_may_measure(sweep, host),
        .builds = h->role != HOST_GPU,
        .slots = host_state->worker.slots ? host_state->worker.slots
                 : h->slots               ? h->slots
                                          : SLOTS,
        .gpus = host_state->n_gpus ? host_state->n_gpus : 1,
        .rate = h->has_rate ? h->rate : 0,
        .boot_s = h->rental.boot_s,
        .min_s = h->rental.min_bill_s,
        .round_s = h->rental.round_s,
    };

    if (!host_state->conn.is_rented)
        return machine;
    machine.is_rented = true;
    machine.serves = serves(sweep, host);
    machine.is_held =
        rental_state(machines_of(sweep), host) == RENTAL_STARTING ||
        rental_state(machines_of(sweep), host) == RENTAL_HELD;
    if (machine.is_held)
        machine.held_s =
            (double)(now - rental_since_ns(machines_of(sweep), host)) /
            (double)NS_PER_S;
    return machine;
}

/* While a sweep ends, nothing more is acquired. */
static void plan(struct sweep *sweep, int64_t now)
{
    size_t n = sweep->fleet.n;
    struct rental_machine *machines = mem_new(n, sizeof(*machines));
    bool *wanted = mem_new(n, sizeof(*wanted));
    struct rental_work work = look_at_work(sweep);
    bool ends = sweep->reactor.stopping || sweep->reactor.ending;

    for (size_t i = 0; i < n; i++)
        machines[i] = look_at(sweep, i, now);
    rental_plan(sweep->reactor.options->stay.rental.goal, &work, machines, n,
                wanted);
    for (size_t i = 0; i < n; i++)
        sweep->fleet.hosts[i].conn.is_wanted =
            ends ? machines[i].is_held : wanted[i] && !machines[i].is_lost;
    free(wanted);
    free(machines);
}

/* ---- one step */

static void connect_to(struct sweep *sweep, size_t host, int64_t now)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    const struct sweep_link *link = &sweep->reactor.io.link;

    host_state->conn.is_parked = false;
    host_state->conn.is_linked = true;
    host_state->conn.tries = 0;
    host_state->conn.linked_ns = now;
    link->rented(link->self, host, rental_host(machines_of(sweep), host));
}

/* A worker that goes on would keep its machine from being used again. */
static bool has_left(struct sweep *sweep, size_t host, int64_t now)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    if (!host_state->conn.is_linked)
        return true;
    if (host_state->conn.leave_ns)
        return false; /* until BYE, or host_events_leave() */
    if (host_state->state != HOST_STATE_FAILED)
        results_host_released(sweep, host);
    if (host_state_is_connected(host_state) &&
        outbox_send(sweep, host,
                    &(struct msg){ .type = MSG_STOP, .stop.what = "now" })) {
        host_state->conn.leave_ns = now + LEAVE_NS;
        return false;
    }
    rented_park(sweep, host);
    return true;
}

/* A machine that runs and is of no use costs all the same. */
static void check_use(struct sweep *sweep, size_t host, int64_t now)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    int64_t limit =
        UNUSABLE_NS +
        (int64_t)(3 * host_state->host->rental.boot_s * (double)NS_PER_S);
    int64_t since =
        int64_max(host_state->conn.linked_ns, host_state->conn.heard_ns);
    char why[sizeof(host_state->conn.why) + 64];

    if (!host_state->conn.is_linked || host_state->conn.waits ||
        host_state->state != HOST_STATE_AWAY || now - since < limit)
        return;
    snprintf(why, sizeof(why), "no worker on it for %lld s: %s",
             (long long)((now - since) / NS_PER_S), host_state->conn.why);
    host_events_give_up(
        sweep, host, host_state->conn.code == ERR_AUTH ? ERR_AUTH : ERR_NETWORK,
        why);
}

/* One that says why machines of this start= are of no use; or NULL. */
static const struct host_state *useless_one(const struct sweep *sweep,
                                            size_t host)
{
    const char *start = sweep->fleet.hosts[host].host->rental.start;

    for (size_t i = 0; i < sweep->fleet.n; i++) {
        const struct host_state *other = &sweep->fleet.hosts[i];

        if (other->state == HOST_STATE_FAILED && other->conn.code &&
            strcmp(other->host->rental.start, start) == 0)
            return other;
    }
    return NULL;
}

/* Each more would be paid for, and be the same. */
static void check_kind(struct sweep *sweep, size_t host)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    int n = rental_useless(machines_of(sweep), host);
    const struct host_state *one;
    char why[sizeof(one->conn.why) + 120];

    if (n < RENTAL_TRIES || !host_state->conn.is_wanted ||
        host_state->state == HOST_STATE_FAILED ||
        rental_state(machines_of(sweep), host) != RENTAL_FREE)
        return;
    one = useless_one(sweep, host);
    snprintf(why, sizeof(why),
             "%d machines of the same start= could not be used%s%s%s%s", n,
             one ? ": " : "", one ? one->host->name : "", one ? ": " : "",
             one ? one->conn.why : "");
    host_events_give_up(sweep, host, one ? one->conn.code : ERR_NETWORK, why);
}

/* A spot machine that answered and does not any more was taken away.  stop=
 * makes sure of it, and the plan may start another one, which boots first. */
static bool has_vanished(const struct sweep *sweep, size_t host)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];

    return host_state->host->rental.spot && host_state->conn.is_linked &&
           rental_was_ready(machines_of(sweep), host) &&
           host_state->state == HOST_STATE_AWAY &&
           host_state->conn.tries >= SPOT_TRIES;
}

static void tell(struct sweep *sweep, size_t host, const char *level,
                 const char *id, const char *what, const char *why)
{
    const char *name = sweep->fleet.hosts[host].host->name;
    char text[1200];

    snprintf(text, sizeof(text), "%s: %s%s%s", name, what, why[0] ? ": " : "",
             why);
    records_put_event(sweep, level, id, text);
    progress_say(sweep->reactor.progress, "%s", text);
}

/* A host whose machine cannot be released cannot be acquired again, and the
 * sweep must not wait for that: stop= may be wrong for a machine that does not
 * exist.  stop= is run again all the same. */
static void check_release(struct sweep *sweep, size_t host, int64_t now,
                          const struct err *why)
{
    char text[sizeof(why->text) + 32];
    int tries;
    int64_t since = rental_stopping_since_ns(machines_of(sweep), host, &tries);

    if (now - since < UNRELEASED_NS || tries < RENTAL_TRIES ||
        sweep->fleet.hosts[host].state == HOST_STATE_FAILED)
        return;
    snprintf(text, sizeof(text), "it cannot be released: %s", why->text);
    host_events_give_up(sweep, host, ERR_SYSTEM, text);
}

static void take_event(struct sweep *sweep, size_t host,
                       enum rental_event event, const struct err *why,
                       int64_t now)
{
    switch (event) {
    case RENTAL_NOTHING:
    case RENTAL_STOPS:
        return;
    case RENTAL_STARTS:
        ledger_hold(sweep->fleet.ledger, (int)host, now);
        tell(sweep, host, "I", "HOST-STARTS", "acquiring it", "");
        return;
    case RENTAL_ACQUIRED:
        tell(sweep, host, "I", "HOST-ACQUIRED", "acquired", "");
        return;
    case RENTAL_NOT_ACQUIRED:
        tell(sweep, host, "W", "HOST-NOT-ACQUIRED", "not acquired", why->text);
        return;
    case RENTAL_RELEASED:
        ledger_release(sweep->fleet.ledger, (int)host, now);
        tell(sweep, host, "I", "HOST-RELEASED", "released", "");
        if (rental_state(machines_of(sweep), host) == RENTAL_LOST &&
            sweep->fleet.hosts[host].state != HOST_STATE_FAILED)
            host_events_give_up(sweep, host, ERR_SYSTEM,
                                "it could not be acquired");
        return;
    case RENTAL_NOT_RELEASED:
        tell(sweep, host, "E", "HOST-NOT-RELEASED",
             "STILL RUNNING, and costs money; stop= is run again", why->text);
        check_release(sweep, host, now, why);
        return;
    }
}

static void step(struct sweep *sweep, size_t host, int64_t now)
{
    const struct sweep_rental *rental = &sweep->reactor.options->stay.rental;
    struct host_state *host_state = &sweep->fleet.hosts[host];
    enum rental_event event;
    struct err err = { "" };
    bool wanted;
    int rc;

    if (rental_state(rental->machines, host) == RENTAL_HELD &&
        host_state->conn.is_wanted && host_state->conn.is_parked &&
        !host_state->conn.leave_ns)
        connect_to(sweep, host, now);
    check_use(sweep, host, now);
    check_kind(sweep, host);
    if (host_state->state == HOST_STATE_FAILED)
        rental_give_up(rental->machines, host);
    wanted =
        host_state->conn.is_wanted && host_state->state != HOST_STATE_FAILED;
    if (host_state->state == HOST_STATE_READY)
        rental_note_ready(rental->machines, host);
    if (has_vanished(sweep, host)) {
        tell(sweep, host, "W", "HOST-VANISHED", "the spot machine is gone",
             host_state->conn.why);
        wanted = false;
    }
    if (!wanted && rental_state(rental->machines, host) == RENTAL_HELD &&
        !has_left(sweep, host, now))
        return;
    rc = rental_turn(rental->machines, rental->store, host, wanted, now, &event,
                     &err);
    if (rc == ERR_STORE)
        reactor_fail(sweep, EXIT_DATABASE, &err);
    else if (rc < 0 && event == RENTAL_NOTHING)
        host_events_give_up(sweep, host, rc, err.text);
    else
        take_event(sweep, host, event, &err, now);
}

void rented_turn(struct sweep *sweep, int64_t now)
{
    if (!machines_of(sweep))
        return;
    if (now - sweep->fleet.planned_ns >= PLAN_NS || sweep->reactor.ending) {
        sweep->fleet.planned_ns = now;
        plan(sweep, now);
    }
    for (size_t i = 0; i < sweep->fleet.n; i++)
        if (sweep->fleet.hosts[i].conn.is_rented)
            step(sweep, i, now);
}
