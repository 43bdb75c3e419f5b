#include "coordinator/sweep_state.h"

#define LANES_MAX 16
#define LANE_BYTES 160

/* What each GPU measures and how many slots build, from the leases out. */
static void look_at_leases(struct sweep *sweep, struct progress_facts *facts,
                           struct progress_lane *lanes,
                           char names[][LANE_BYTES])
{
    const struct sched_lease *lease;

    for (int i = 0; (lease = sched_lease_at(sweep->sched, i)); i++) {
        size_t lane = 0;

        if (lease->stage == JOB_BUILD) {
            facts->building++;
            continue;
        }
        facts->measuring++;
        for (int host = 0; host < lease->host; host++)
            lane += (size_t)sweep->boxes[host].n_gpus;
        lane += (size_t)lease->gpu;
        if (lane < facts->n_lanes && names[lane][0] == '\0') {
            plan_display(sweep->plan, lease->unit, names[lane], LANE_BYTES);
            lanes[lane].text = names[lane];
        }
    }
}

static void count_builds(const struct sweep *sweep,
                         struct progress_facts *facts)
{
    for (int unit = 0; unit < plan_units(sweep->plan); unit++) {
        const struct job *job = sched_job(sweep->sched, JOB_BUILD, unit, 0);

        facts->settled += job_is_settled(job);
        facts->correct += job->state == JOB_DONE;
    }
    facts->total = plan_units(sweep->plan) - sweep->n_left_out;
    facts->settled -= sweep->n_left_out;
    facts->correct -= sweep->n_left_out;
}

void sweep_show(struct sweep *sweep, int64_t now, bool force)
{
    struct progress_lane lanes[LANES_MAX];
    char names[LANES_MAX][LANE_BYTES];
    struct progress_facts facts = { .builds_only = sweep->options->builds_only,
                                    .hosts = (int)sweep->n_boxes,
                                    .lanes = lanes,
                                    .usd = sweep_usd(sweep) };

    if (!sweep->plan)
        return;
    facts.total = sweep_search_total(sweep) * plan_shapes(sweep->plan);
    facts.settled = sweep->n_settled;
    facts.correct = sweep->n_correct;
    if (facts.builds_only)
        count_builds(sweep, &facts);
    if (sweep->contest) {
        sweep_contest_progress(sweep, &facts.settled, &facts.total);
        facts.correct = facts.settled;
    }
    for (size_t i = 0; i < sweep->n_boxes; i++) {
        const struct box *box = &sweep->boxes[i];

        facts.hosts_ready += box->state == BOX_READY;
        for (int g = 0; g < box->n_gpus && facts.n_lanes < LANES_MAX; g++) {
            names[facts.n_lanes][0] = '\0';
            lanes[facts.n_lanes++] =
                (struct progress_lane){ box->host->name, box->gpus[g].name,
                                        "" };
        }
    }
    look_at_leases(sweep, &facts, lanes, names);
    progress_show(sweep->progress, &facts, now, force);
}
