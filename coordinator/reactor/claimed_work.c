#include "coordinator/reactor/claimed_work.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/reactor/dispatch.h"
#include "coordinator/reactor/results.h"
#include "coordinator/reactor/resume.h"
#include "coordinator/state/leases.h"
#include "coordinator/state/outbox.h"
#include "coordinator/state/reactor.h"

/* One line of HELLO.running taken apart (msg_identity_text). */
struct identity_parts {
    char copy[1024];
    const char *config, *shape, *purpose, *stage;
    long round;
};

static bool take_apart(const char *text, struct identity_parts *out)
{
    char *rest = out->copy, *part[7], *end;

    if (strlen(text) >= sizeof(out->copy))
        return false;
    memcpy(out->copy, text, strlen(text) + 1);
    for (int i = 0; i < 7; i++) {
        part[i] = strsep(&rest, "/");
        if (!part[i])
            return false;
    }
    out->config = part[1];
    out->shape = part[2];
    out->purpose = part[3];
    out->round = strtol(part[4], &end, 10);
    out->stage = part[5];
    return !rest && end > part[4] && !*end;
}

static bool is_same_measurement(const struct sweep *sweep,
                                const struct identity_parts *id,
                                const struct sched_lease *lease)
{
    return strcmp(id->shape, plan_shape_name(sweep->work.plan, lease->shape)) ==
               0 &&
           strcmp(id->purpose, sched_purpose_name(lease->purpose)) == 0 &&
           id->round == lease->round;
}

static bool is_running(const struct sweep *sweep,
                       const struct host_state *host_state,
                       const struct sched_lease *lease)
{
    const struct plan_unit *unit = plan_unit(sweep->work.plan, lease->unit);
    const char *config = *unit->key ? unit->key : unit->source_key;

    for (size_t i = 0; i < host_state->worker.n_running; i++) {
        struct identity_parts id;

        if (take_apart(host_state->worker.running[i], &id) &&
            strcmp(id.config, config) == 0 &&
            lease->stage == job_stage_of(id.stage) &&
            (lease->stage == JOB_BUILD ||
             is_same_measurement(sweep, &id, lease)))
            return true;
    }
    return false;
}

static bool drop_one(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    const struct sched_lease *lease;

    for (int i = 0; (lease = sched_lease_at(sweep->work.sched, i)); i++) {
        if (lease->host != (int)host || is_running(sweep, host_state, lease))
            continue;
        /* that a worker came from elsewhere says nothing about the work of the
         * one before: it may not even have died */
        if (host_state->same_worker || host_state->worker.is_elsewhere)
            results_refuse(sweep, *lease);
        else
            results_lose(sweep, *lease, OUTCOME_CRASH, "its worker died");
        return true;
    }
    return false;
}

void claimed_work_drop_others(struct sweep *sweep, size_t host)
{
    while (drop_one(sweep, host))
        continue;
}

/* The work of one line, as the plan has it. */
struct claim {
    enum job_stage stage;
    int unit, shape;
};

static bool find_claim(const struct sweep *sweep,
                       const struct identity_parts *id, struct claim *out)
{
    out->stage = job_stage_of(id->stage);
    out->unit = work_find_unit(&sweep->work, id->config, id->purpose);
    out->shape = out->stage == JOB_BUILD
                     ? 0
                     : plan_find_shape(sweep->work.plan, id->shape);
    return out->unit >= 0 && out->shape >= 0;
}

static bool is_adoptable(const struct identity_parts *id)
{
    return job_stage_of(id->stage) == JOB_BUILD ||
           (strcmp(id->purpose, sched_purpose_name(SCHED_SCREEN)) == 0 &&
            id->round == 0);
}

static void adopt_one(struct sweep *sweep, size_t host,
                      const struct identity_parts *id,
                      const struct claim *claim)
{
    struct sched_lease lease;

    if (!resume_was_given(sweep, host, claim->stage, claim->unit,
                          claim->shape)) {
        log_line(LOG_W, "CLAIM-REFUSED", "host=%s config=%.12s stage=%s",
                 sweep->fleet.hosts[host].host->name, id->config, id->stage);
        return;
    }
    if (sched_adopt(sweep->work.sched, claim->stage, claim->unit, claim->shape,
                    (int)host, 0, &lease)) {
        log_line(LOG_I, "LEASE-ADOPTED", "job=%lld host=%s",
                 (long long)lease.id, sweep->fleet.hosts[host].host->name);
        dispatch_granted(sweep, &lease);
        sweep->work.issued[lease.id - 1].adopted = true;
        leases_started(sweep, &lease);
        dispatch_record_lease(sweep, &lease);
    }
}

static bool is_issued(const struct issued_lease *lease, size_t host,
                      const struct identity_parts *id,
                      const struct claim *claim)
{
    return lease->host == (int)host && lease->stage == claim->stage &&
           lease->unit == claim->unit && lease->shape == claim->shape &&
           (claim->stage == JOB_BUILD ||
            (strcmp(id->purpose, sched_purpose_name(lease->purpose)) == 0 &&
             lease->round == id->round));
}

/* What this run gave the host, and then gave up: nobody waits for it here, and
 * the worker would have no room for as many leases as it is sent.  False if
 * this run does not know of it. */
static bool cancel_given_up(struct sweep *sweep, size_t host,
                            const struct identity_parts *id,
                            const struct claim *claim)
{
    int64_t newest = 0;
    bool is_known = false;

    for (size_t i = 0; i < sweep->work.n_issued; i++) {
        const struct issued_lease *lease = &sweep->work.issued[i];

        if (!is_issued(lease, host, id, claim))
            continue;
        if (sched_lease_get(sweep->work.sched, (int64_t)i + 1))
            return true;
        is_known = true;
        newest = lease->nonce[0] ? newest : (int64_t)i + 1;
    }
    if (newest == 0)
        return is_known;
    log_line(LOG_I, "CLAIM-CANCELLED", "job=%lld host=%s", (long long)newest,
             sweep->fleet.hosts[host].host->name);
    leases_cancel(sweep, newest);
    return true;
}

/* A command may run for minutes, and would take the place of a lease. */
static void cancel_earlier(struct sweep *sweep, size_t host,
                           const char *const *texts, size_t n)
{
    struct msg cancel = { .type = MSG_CANCEL, .cancel.running = { texts, n } };

    if (n == 0)
        return;
    log_line(LOG_I, "CLAIM-CANCELLED", "earlier=%zu host=%s", n,
             sweep->fleet.hosts[host].host->name);
    outbox_send(sweep, host, &cancel);
}

void claimed_work_adopt(struct sweep *sweep, size_t host)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    const char **earlier =
        mem_new(host_state->worker.n_running + 1, sizeof(*earlier));
    size_t n = 0;

    for (size_t i = 0; i < host_state->worker.n_running; i++) {
        struct identity_parts id;
        struct claim claim;

        if (!take_apart(host_state->worker.running[i], &id) ||
            !find_claim(sweep, &id, &claim))
            continue;
        if (is_adoptable(&id))
            adopt_one(sweep, host, &id, &claim);
        if (!cancel_given_up(sweep, host, &id, &claim))
            earlier[n++] = host_state->worker.running[i];
    }
    cancel_earlier(sweep, host, earlier, n);
    free(earlier);
}
