#include "coordinator/state/progress_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/state/reactor.h"
#include "coordinator/spec/spec.h"

#define NAMES_MAX                                              \
    200 /* lanes whose configurations are named: a tall screen \
         */
#define NAME_BYTES 256

/* The lanes of all hosts, those of a host side by side. */
struct progress_view_lanes {
    struct progress_lane *list;
    int64_t *leases; /* what each measures: the oldest; 0: nothing */
    size_t *first;   /* of each host */
    size_t n;
    char (*names)[NAME_BYTES]; /* [NAMES_MAX] */
};

/* ---- the hosts */

static enum progress_lane_state state_of(const struct host_state *host_state)
{
    if (host_state->state == HOST_STATE_FAILED)
        return PROGRESS_LANE_FAILED;
    if (host_state->conn.waits)
        return PROGRESS_LANE_WAITS;
    if (host_state->suspect || host_state->is_lost)
        return PROGRESS_LANE_LOST;
    if (host_state->state == HOST_STATE_READY)
        return PROGRESS_LANE_IDLE;
    return host_state->state == HOST_STATE_GREETED ? PROGRESS_LANE_SETUP
                                                   : PROGRESS_LANE_AWAY;
}

static void add_host(struct progress_view_lanes *lanes,
                     const struct sweep *sweep, size_t host)
{
    const struct host_state *host_state = &sweep->fleet.hosts[host];
    enum progress_lane_state state = state_of(host_state);
    bool works = state == PROGRESS_LANE_IDLE || state == PROGRESS_LANE_SETUP;
    int n = host_state->n_gpus > 0 ? host_state->n_gpus : 1;

    for (int i = 0; i < n; i++) {
        struct progress_lane *lane = &lanes->list[lanes->n++];

        *lane =
            (struct progress_lane){ .host = host_state->host->name,
                                    .gpu = host_state->n_gpus > 0 ? i : -1,
                                    .state = state,
                                    .key = "",
                                    .text = works ? "" : host_state->conn.why };
        if (works && lane->gpu >= 0 && pass_bans(sweep, host, i)) {
            lane->state = PROGRESS_LANE_FAILED;
            lane->text = "quarantined";
        }
    }
}

static struct progress_view_lanes *lanes_of(const struct sweep *sweep)
{
    const struct fleet *fleet = &sweep->fleet;
    struct progress_view_lanes *lanes = mem_new(1, sizeof(*lanes));
    size_t most = fleet->n;

    for (size_t i = 0; i < fleet->n; i++)
        most += (size_t)fleet->hosts[i].n_gpus;
    lanes->list = mem_new(most, sizeof(*lanes->list));
    lanes->leases = mem_new(most, sizeof(*lanes->leases));
    lanes->first = mem_new(fleet->n, sizeof(*lanes->first));
    lanes->names = mem_new(NAMES_MAX, sizeof(*lanes->names));
    for (size_t i = 0; i < fleet->n; i++) {
        lanes->first[i] = lanes->n;
        add_host(lanes, sweep, i);
    }
    return lanes;
}

void progress_view_forget(struct progress_view_lanes *lanes)
{
    free(lanes->list);
    free(lanes->leases);
    free(lanes->first);
    free(lanes->names);
    free(lanes);
}

/* ---- what they do */

static void name_lane(const struct sweep *sweep,
                      struct progress_view_lanes *lanes, size_t at,
                      const struct sched_lease *lease, int64_t now)
{
    const struct issued_lease *issued = &sweep->work.issued[lease->id - 1];
    struct progress_lane *lane = &lanes->list[at];
    int64_t since =
        issued->started_ns ? issued->started_ns : issued->granted_ns;

    lane->state = PROGRESS_LANE_MEASURES;
    lane->key = plan_unit(sweep->work.plan, lease->unit)->key;
    lane->measured_s = (double)(now - since) / (double)NS_PER_S;
    lanes->leases[at] = lease->id;
    if (at >= NAMES_MAX)
        return;
    plan_display(sweep->work.plan, lease->unit, lanes->names[at], NAME_BYTES);
    lane->text = lanes->names[at];
}

/* What each GPU measures and how many slots build, from the leases out. */
static void look_at_leases(const struct sweep *sweep,
                           struct progress_view_lanes *lanes, int64_t now,
                           struct progress_facts *facts)
{
    const struct sched_lease *lease;

    for (int i = 0; (lease = sched_lease_at(sweep->work.sched, i)); i++) {
        size_t at = lanes->first[lease->host];

        if (lease->stage == JOB_BUILD) {
            facts->building++;
            lanes->list[at].building++;
            continue;
        }
        facts->measuring++;
        if (lease->gpu >= sweep->fleet.hosts[lease->host].n_gpus)
            continue; /* its host came back with fewer */
        at += (size_t)lease->gpu;
        if (lanes->leases[at] == 0 || lease->id < lanes->leases[at])
            name_lane(sweep, lanes, at, lease, now);
    }
}

struct progress_view_lanes *progress_view_look(const struct sweep *sweep,
                                               int64_t now,
                                               struct progress_facts *facts)
{
    struct progress_view_lanes *lanes = lanes_of(sweep);

    look_at_leases(sweep, lanes, now, facts);
    facts->lanes = lanes->list;
    facts->n_lanes = lanes->n;
    return lanes;
}

/* ---- all of it */

static void count_builds(const struct sweep *sweep,
                         struct progress_facts *facts)
{
    facts->settled = facts->correct = 0;
    for (int unit = 0; unit < plan_units(sweep->work.plan); unit++) {
        const struct job *job =
            sched_job(sweep->work.sched, JOB_BUILD, unit, 0);

        facts->settled += job_is_settled(job);
        facts->correct += job->state == JOB_DONE;
    }
    facts->total -= sweep->work.count.left_out;
    facts->settled -= sweep->work.count.left_out;
    facts->correct -= sweep->work.count.left_out;
}

static void count_hosts(const struct sweep *sweep, struct progress_facts *facts)
{
    for (size_t i = 0; i < sweep->fleet.n; i++) {
        const struct host_state *host_state = &sweep->fleet.hosts[i];

        facts->hosts_ready += host_state->state == HOST_STATE_READY;
        if (!host_state->host->has_rate)
            facts->money.unpriced++;
        else if (host_state->state != HOST_STATE_FAILED)
            facts->money.usd_per_h += host_state->host->rate;
    }
}

static enum progress_kind kind_of(const struct sweep_options *options)
{
    if (options->builds_only)
        return PROGRESS_BUILT;
    return options->ask ? PROGRESS_CHECKED : PROGRESS_TRIED;
}

void progress_view_facts(const struct sweep *sweep,
                         struct progress_facts *facts)
{
    const struct tried *tried = &sweep->work.count.tried;
    double cap_s = reactor_left_s(sweep);

    *facts = (struct progress_facts){
        .name = sweep->work.spec->name,
        .kind = kind_of(sweep->reactor.options),
        .total = plan_units(sweep->work.plan),
        .settled = (int)tried->tally.tried,
        .correct = (int)tried->tally.correct,
        .hosts = (int)sweep->fleet.n,
        .left_s = { NAN, NAN, NAN },
        .cap_s = isinf(cap_s) ? 0 : fmax(cap_s, 0),
        .best = tried_best(tried, sweep->work.plan),
        .money.usd = reactor_usd(sweep),
    };
    if (facts->kind == PROGRESS_BUILT)
        count_builds(sweep, facts);
    if (facts->kind == PROGRESS_CHECKED)
        facts->best.s = (double)NAN;
    count_hosts(sweep, facts);
    pass_progress(sweep, facts);
}

void progress_view_show(struct sweep *sweep, int64_t now, bool force)
{
    struct progress_facts facts;
    char best[NAME_BYTES];
    struct progress_view_lanes *lanes;

    if (!sweep->work.plan ||
        !progress_wants(sweep->reactor.progress, now, force))
        return;
    progress_view_facts(sweep, &facts);
    if (!isnan(facts.best.s)) {
        plan_display(sweep->work.plan, sweep->work.count.tried.best, best,
                     sizeof(best));
        facts.best.text = best;
    }
    lanes = progress_view_look(sweep, now, &facts);
    progress_show(sweep->reactor.progress, &facts, now, force);
    progress_view_forget(lanes);
}
