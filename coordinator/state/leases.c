/* The deadlines of leases.  Each lease has one here, whatever its host says;
 * and idle GPUs and slots may repeat a late lease.
 *
 * A worker does one thing after the other at each of its places (a GPU, its
 * build slots).  The limit of a running lease begins when it starts.  That of a
 * waiting lease begins when its place last began or ended something, or when
 * the work that runs or was lost there must have ended, and does not run while
 * the files of its arguments arrive (arrivals.h). */
#include "coordinator/state/leases.h"

#include "common/clock.h"
#include "common/int64.h"
#include "common/log.h"
#include "common/msg.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/state/outbox.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"

#define GRACE_NS \
    (LEASES_GRACE_S * NS_PER_S) /* over the limit: docs/reliability.md F23 */
#define LATE_LEAST_NS NS_PER_S  /* F28: the end waits no longer */
#define LATE_FIRST_NS (10 * NS_PER_S) /* while no time is known */
#define LATE_TIMES 3                  /* the mean of such work */
#define MEAN_WEIGHT 0.2               /* of the newest */

static int place_of(int gpu)
{
    return gpu < 0 ? HOST_STATE_GPUS_MAX : gpu;
}

void leases_started(struct sweep *sweep, const struct sched_lease *lease)
{
    int64_t now = reactor_now(sweep);

    sweep->work.issued[lease->id - 1].started_ns = now;
    sweep->fleet.hosts[lease->host].moved_ns[place_of(lease->gpu)] = now;
}

/* When the lease's place was free.  If it was lost at its deadline, the worker
 * must have ended it before the grace: what waits behind it has no second
 * one. */
static int64_t freed_ns(const struct sweep *sweep,
                        const struct sched_lease *lease, bool done)
{
    int64_t now = reactor_now(sweep), at = leases_deadline(sweep, lease);

    return done || now <= at ? now : at - GRACE_NS;
}

int leases_credit(const struct sweep *sweep, size_t host)
{
    return sched_credit(sweep->work.pace.longest_measure_ns,
                        sweep->fleet.hosts[host].worker.credit);
}

/* Shapes differ in how long they take, so GPUs have as much ahead as the long
 * ones need. */
static void note_measured(struct sweep *sweep, int host, double took)
{
    double *longest = &sweep->work.pace.longest_measure_ns;

    *longest =
        took > *longest ? took : *longest + MEAN_WEIGHT * (took - *longest);
    sched_host_credit(sweep->work.sched, host,
                      leases_credit(sweep, (size_t)host));
}

static void note_end(struct sweep *sweep, const struct sched_lease *lease,
                     bool done)
{
    const struct issued_lease *grant = &sweep->work.issued[lease->id - 1];
    int64_t *moved =
        &sweep->fleet.hosts[lease->host].moved_ns[place_of(lease->gpu)];
    double *mean = &sweep->work.pace.mean_ns[lease->stage];
    int64_t now = reactor_now(sweep);
    double took;

    *moved = int64_max(*moved, freed_ns(sweep, lease, done));
    if (!done || !grant->started_ns)
        return;
    sweep->fleet.hosts[lease->host].conduct.expired = 0;
    took = (double)(now - grant->started_ns);
    *mean = *mean > 0 ? *mean + MEAN_WEIGHT * (took - *mean) : took;
    if (lease->stage == JOB_MEASURE)
        note_measured(sweep, lease->host, took);
}

const char *leases_ending_name(enum leases_ending ending)
{
    static const char *const names[] = {
        [LEASES_DONE] = "done",
        [LEASES_LOST] = "lost",
        [LEASES_REFUSED] = "refused",
        [LEASES_CANCELLED] = "cancelled",
    };

    return names[ending];
}

void leases_end(struct sweep *sweep, const struct sched_lease *lease,
                enum leases_ending ending, enum ledger_category category)
{
    records_end_lease(sweep, lease, leases_ending_name(ending), category);
    note_end(sweep, lease, ending == LEASES_DONE);
}

static bool is_same_work(const struct issued_lease *a,
                         const struct issued_lease *b)
{
    return a->host == b->host && a->stage == b->stage && a->unit == b->unit &&
           a->shape == b->shape && a->purpose == b->purpose &&
           a->round == b->round;
}

void leases_cancel(struct sweep *sweep, int64_t id)
{
    const struct issued_lease *issued = sweep->work.issued;
    struct msg cancel = { .type = MSG_CANCEL, .cancel.lease = id };

    outbox_send(sweep, (size_t)issued[id - 1].host, &cancel);
    for (int64_t i = id - 1; i > 0; i--)
        if (is_same_work(&issued[i - 1], &issued[id - 1]) &&
            !issued[i - 1].nonce[0]) {
            cancel.cancel.lease = i;
            outbox_send(sweep, (size_t)issued[i - 1].host, &cancel);
        }
}

/* When what runs at the lease's place must have ended, or when the place last
 * moved. */
static int64_t waits_since(const struct sweep *sweep,
                           const struct sched_lease *lease)
{
    const struct issued_lease *grant = &sweep->work.issued[lease->id - 1];
    const struct host_state *host_state = &sweep->fleet.hosts[lease->host];
    int place = place_of(lease->gpu);

    return int64_max(grant->granted_ns,
                     int64_max(host_state->moved_ns[place],
                               host_state->busy_until_ns[place]));
}

int64_t leases_deadline(const struct sweep *sweep,
                        const struct sched_lease *lease)
{
    const struct issued_lease *grant = &sweep->work.issued[lease->id - 1];
    int64_t from = grant->started_ns
                       ? grant->started_ns
                       : waits_since(sweep, lease) + grant->arriving_ns;

    return from + grant->limit_ns + GRACE_NS;
}

void leases_arrived(struct sweep *sweep, size_t host, int64_t for_ns)
{
    const int64_t now = reactor_now(sweep);
    const struct sched_lease *lease;

    for (int i = 0;
         sweep->work.sched && (lease = sched_lease_at(sweep->work.sched, i));
         i++) {
        struct issued_lease *grant = &sweep->work.issued[lease->id - 1];
        const int64_t waits_ns = now - grant->granted_ns;

        if (lease->host == (int)host && lease->stage == JOB_MEASURE &&
            !grant->started_ns)
            grant->arriving_ns += int64_min(for_ns, waits_ns);
    }
}

static void note_busy(struct sweep *sweep)
{
    const struct sched_lease *lease;

    for (size_t i = 0; i < sweep->fleet.n; i++)
        for (int place = 0; place <= HOST_STATE_GPUS_MAX; place++)
            sweep->fleet.hosts[i].busy_until_ns[place] = 0;
    for (int i = 0; (lease = sched_lease_at(sweep->work.sched, i)); i++) {
        const struct issued_lease *grant = &sweep->work.issued[lease->id - 1];
        int64_t *until = &sweep->fleet.hosts[lease->host]
                              .busy_until_ns[place_of(lease->gpu)];

        if (grant->started_ns)
            *until = int64_max(*until, grant->started_ns + grant->limit_ns);
    }
}

static bool is_late(const struct sweep *sweep, const struct sched_lease *lease,
                    int64_t now)
{
    const struct issued_lease *grant = &sweep->work.issued[lease->id - 1];
    const struct host_state *host_state = &sweep->fleet.hosts[lease->host];
    double mean = sweep->work.pace.mean_ns[lease->stage];
    int64_t moved = host_state->moved_ns[place_of(lease->gpu)];
    int64_t since = grant->started_ns ? grant->started_ns
                                      : int64_max(grant->granted_ns, moved);
    int64_t most = int64_max((int64_t)(LATE_TIMES * mean), LATE_LEAST_NS);

    return now - since > (mean > 0 ? most : LATE_FIRST_NS);
}

void leases_turn(struct sweep *sweep, int64_t now)
{
    const struct sched_lease *lease;

    note_busy(sweep);
    for (int i = 0; (lease = sched_lease_at(sweep->work.sched, i)); i++)
        if (is_late(sweep, lease, now))
            sched_lease_late(sweep->work.sched, lease->id);
}

const struct sched_lease *leases_expired(const struct sweep *sweep, int64_t now)
{
    const struct sched_lease *lease;

    for (int i = 0; (lease = sched_lease_at(sweep->work.sched, i)); i++)
        if (now > leases_deadline(sweep, lease))
            return lease;
    return NULL;
}

void leases_forgive(struct sweep *sweep, int64_t by_ns)
{
    const struct sched_lease *lease;

    for (size_t i = 0; i < sweep->fleet.n; i++)
        for (int place = 0; place <= HOST_STATE_GPUS_MAX; place++)
            sweep->fleet.hosts[i].moved_ns[place] += by_ns;
    for (int i = 0;
         sweep->work.sched && (lease = sched_lease_at(sweep->work.sched, i));
         i++) {
        struct issued_lease *grant = &sweep->work.issued[lease->id - 1];

        grant->granted_ns += by_ns;
        if (grant->started_ns)
            grant->started_ns += by_ns;
    }
}

bool leases_hold_gpu(const struct sweep *sweep, size_t host, int gpu)
{
    const struct sched_lease *lease;

    if (!sweep->work.sched)
        return false;
    for (int i = 0; (lease = sched_lease_at(sweep->work.sched, i)); i++)
        if (lease->host == (int)host && lease->gpu == gpu)
            return true;
    return false;
}
