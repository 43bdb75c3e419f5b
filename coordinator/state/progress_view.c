#include "coordinator/state/progress_view.h"

#include "coordinator/hosts/hosts.h"
#include "coordinator/state/reactor.h"

#define LANES_MAX 16
#define LANE_BYTES 160

/* What each GPU measures and how many slots build, from the leases out. */
static void look_at_leases(struct sweep *sweep, struct progress_facts *facts,
                           struct progress_lane *lanes,
                           char names[][LANE_BYTES])
{
    const struct sched_lease *lease;

    for (int i = 0; (lease = sched_lease_at(sweep->work.sched, i)); i++) {
        size_t lane = 0;

        if (lease->stage == JOB_BUILD) {
            facts->building++;
            continue;
        }
        facts->measuring++;
        for (int host = 0; host < lease->host; host++)
            lane += (size_t)sweep->fleet.hosts[host].n_gpus;
        lane += (size_t)lease->gpu;
        if (lane < facts->n_lanes && names[lane][0] == '\0') {
            plan_display(sweep->work.plan, lease->unit, names[lane],
                         LANE_BYTES);
            lanes[lane].text = names[lane];
        }
    }
}

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
    facts->total = plan_units(sweep->work.plan) - sweep->work.count.left_out;
    facts->settled -= sweep->work.count.left_out;
    facts->correct -= sweep->work.count.left_out;
}

void progress_view_facts(const struct sweep *sweep,
                         struct progress_facts *facts)
{
    *facts = (struct progress_facts){
        .builds_only = sweep->reactor.options->builds_only,
        .total = plan_units(sweep->work.plan) * plan_shapes(sweep->work.plan),
        .settled = sweep->work.count.settled,
        .correct = sweep->work.count.correct,
        .hosts = (int)sweep->fleet.n,
        .usd = reactor_usd(sweep),
    };
    if (facts->builds_only)
        count_builds(sweep, facts);
    pass_progress(sweep, facts);
}

void progress_view_show(struct sweep *sweep, int64_t now, bool force)
{
    struct progress_lane lanes[LANES_MAX];
    char names[LANES_MAX][LANE_BYTES];
    struct progress_facts facts;

    if (!sweep->work.plan)
        return;
    progress_view_facts(sweep, &facts);
    facts.lanes = lanes;
    for (size_t i = 0; i < sweep->fleet.n; i++) {
        const struct host_state *host_state = &sweep->fleet.hosts[i];

        facts.hosts_ready += host_state->state == HOST_STATE_READY;
        for (int g = 0; g < host_state->n_gpus && facts.n_lanes < LANES_MAX;
             g++) {
            names[facts.n_lanes][0] = '\0';
            lanes[facts.n_lanes++] =
                (struct progress_lane){ host_state->host->name,
                                        host_state->gpus[g].name, "" };
        }
    }
    look_at_leases(sweep, &facts, lanes, names);
    progress_show(sweep->reactor.progress, &facts, now, force);
}
