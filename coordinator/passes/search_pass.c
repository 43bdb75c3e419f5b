/* Make units when a strategy asks for them: the reactor's side of search.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/passes/search_internal.h"
#include "coordinator/reserve/reserve.h"
#include "coordinator/schedule/sched.h"
#include "coordinator/schedule/sched_pieces.h"
#include "coordinator/model/domain.h"
#include "coordinator/search/external_strategy.h"
#include "coordinator/search/objective.h"
#include "coordinator/search/search.h"
#include "coordinator/search/strategy.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_domain.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/state/records.h"
#include "coordinator/stored/pass_rows.h"
#include "coordinator/text/exit_code.h"

/* Up to this many units are made at once: in half a second, at 17 us each. */
#define ALL_AT_ONCE 20000
#define FALLBACK "bayes"

/* ---- before the first host */

/* A plan with room for the points that the strategy will ask for. */
static int open_plan(struct sweep *sweep, const struct search_pass *search,
                     struct err *err)
{
    int64_t points = domain_size(space_domain_domain(search->grid));
    int64_t room = search->plan.evaluations + search->known;
    int rc;

    if (room > points)
        room = points;
    rc = plan_make_open(sweep->work.spec, sweep->work.space, (int)room + 1,
                        sweep->reactor.options->device, sweep->work.arch,
                        &sweep->work.plan, err);
    return rc < 0 ? rc : 1;
}

/* The caps as hours, what builds took before, and what is kept. */
static void take_caps(const struct sweep *sweep,
                      struct search_settings_scope *scope)
{
    const struct reserve_pass *reserve = sweep->reactor.options->caps.reserve;
    const struct reserve_times *past = &sweep->fleet.past;
    struct reserve_times times = reactor_times(sweep);
    double left_s = reactor_left_s(sweep);

    scope->hours = isinf(left_s) ? 0 : fmax(left_s, 1e-3) / 3600;
    scope->guessed = !sweep->fleet.past_builds;
    if (!scope->guessed) {
        scope->build_s = past->build_s;
        scope->measure_s = past->measure_s;
    }
    scope->kept_s = reserve ? reserve_s(reserve, &times) : 0;
}

static int search_choose(struct sweep *sweep, struct pass *pass, int64_t passed,
                         struct err *err)
{
    const struct sweep_options *options = sweep->reactor.options;
    struct search_settings_scope scope = { .points = passed };
    struct search_pass *search;
    struct search_settings_plan plan;
    size_t shapes;
    int rc;

    if (!options->search_settings || options->ask || options->builds_only ||
        passed == 0)
        return 0;
    space_shapes(sweep->work.space, &shapes);
    scope.shapes = (int)shapes;
    take_caps(sweep, &scope);
    search_settings_hosts(sweep->fleet.list, &scope.slots, &scope.gpus);
    rc = search_settings_plan(options->search_settings, &scope, &plan, err);
    if (rc == 0 && plan.all && options->search_settings->warm)
        progress_say(sweep->reactor.progress,
                     "search: all configurations are tried, so --warm has no "
                     "effect; limit them with --evaluations or --effort quick");
    if (rc < 0 || (plan.all && passed <= ALL_AT_ONCE))
        return rc;
    pass->state = search = mem_new(1, sizeof(*search));
    search->pass = pass->index;
    search->plan = plan;
    rc = space_domain_new(sweep->work.spec, sweep->work.space, passed,
                          &search->grid, err);
    if (rc == 0)
        rc = pass_rows_settled_configs(sweep->mail.store, &search->known, err);
    return rc == 0 ? open_plan(sweep, search, err) : rc;
}

static void announce(const struct sweep *sweep,
                     const struct search_pass *search)
{
    progress_say(sweep->reactor.progress,
                 "search: %s%s%s%s, %d of %d configurations%s, objective %s%s",
                 search->plan.strategy, search->plan.why[0] ? " (" : "",
                 search->plan.why, search->plan.why[0] ? ")" : "",
                 search->plan.evaluations,
                 domain_size(space_domain_domain(search->grid)),
                 search->plan.drawn ? " drawn at random" : "",
                 search->objective == OBJECTIVE_ALL
                     ? "geomean"
                     : search->shapes[search->objective],
                 search->plan.in_flight);
}

/* ---- the loop */

/* It died, is silent, or breaks the protocol.  If it was never ready, the user
 * named a wrong program.  If it fails later, rented machines must not be left
 * idle. */
static void give_up_program(struct sweep *sweep, struct search *search,
                            const struct err *why)
{
    if (!external_strategy_is_ready(search_external(search))) {
        reactor_fail(sweep, EXIT_INPUT, why);
        return;
    }
    progress_say(sweep->reactor.progress, "%s; %s continues in its place",
                 why->text, FALLBACK);
    log_line(LOG_W, "STRATEGY-ENDED", "%s", why->text);
    records_put_event(sweep, "W", "STRATEGY-ENDED", why->text);
    search_take_over(search, FALLBACK);
}

static void hear_program(struct sweep *sweep, struct search *search)
{
    struct external_strategy *external = search_external(search);
    struct err err;

    if (external &&
        external_strategy_work(external, reactor_now(sweep), &err) < 0)
        give_up_program(sweep, search, &err);
}

/* How many configurations keep the fleet busy: one for each build slot, one
 * more waiting on each host, and some for the GPUs.  With little time for a
 * search, a GPU has one that it measures: each one more is asked for with less
 * known.  At least one, so that a search that is over ends without a host. */
static int count_places(const struct sweep *sweep,
                        const struct search_pass *search)
{
    int places = 0;

    for (size_t i = 0; i < sweep->fleet.n; i++) {
        const struct host_state *host_state = &sweep->fleet.hosts[i];
        int a_gpu = search->plan.limit_s > 0
                        ? 1
                        : sched_credit(0, host_state->worker.credit);

        if (host_state->state != HOST_STATE_READY || host_state->is_lost)
            continue;
        places +=
            host_state->host->role == HOST_GPU ? 0 : host_state->worker.slots;
        places += 1 + host_state->n_gpus * a_gpu;
    }
    return places > 1 ? places : 1;
}

/* With a window, the search has this limit itself. */
static bool has_room(const struct sweep *sweep,
                     const struct search_pass *search, int places)
{
    return search_state_window(sweep) > 0 ||
           search_out(search->search) < search_room(search->search, places);
}

static void end_search(struct sweep *sweep, struct search_pass *search)
{
    search->done = true;
    for (int unit = 0; unit < plan_units(sweep->work.plan); unit++)
        sched_drop(sweep->work.sched, unit);
}

/* A search that was interrupted is given no more time, see search_begin(). */
static bool time_is_up(const struct sweep *sweep, struct search_pass *search)
{
    int64_t now_ns = reactor_now(sweep);

    if (search->plan.limit_s <= 0)
        return false;
    for (size_t i = 0; !search->until_ns && i < sweep->fleet.n; i++)
        if (sweep->fleet.hosts[i].state == HOST_STATE_READY)
            search->until_ns =
                now_ns + (int64_t)(search->plan.limit_s * (double)NS_PER_S);
    return search->until_ns && now_ns >= search->until_ns &&
           search_units(search->search) > search->plan.least;
}

static void send_out(struct sweep *sweep, struct search_pass *search,
                     const struct search_want *want)
{
    if (want->rung == 0)
        sched_release(sweep->work.sched, want->unit);
    else
        halving_want(search, want->unit);
}

static void search_turn(struct sweep *sweep, struct pass *pass)
{
    struct search_pass *search = pass->state;
    int places;

    if (!search->search || search->done || sweep->reactor.ending)
        return;
    hear_program(sweep, search->search);
    halving_give_up(sweep,
                    search); /* a told result can lead to the next question */
    if (time_is_up(sweep, search))
        end_search(sweep, search);
    places = count_places(sweep, search);
    while (!sweep->reactor.ending && !search->done &&
           has_room(sweep, search, places)) {
        struct search_want want;
        enum strategy_answer answer = search_ask(search->search, &want);

        if (answer == STRATEGY_DONE)
            end_search(sweep, search);
        if (answer != STRATEGY_POINT)
            break;
        search_state_write_steps(sweep, search);
        if (!sweep->reactor.ending)
            send_out(sweep, search, &want);
    }
    if (!sweep->reactor.ending)
        search_state_write_steps(sweep, search);
    halving_order(sweep, search);
}

static int search_begin(struct sweep *sweep, struct pass *pass, struct err *err)
{
    struct search_pass *search = pass->state;

    (void)err;
    if (!search)
        return 0;
    announce(sweep, search);
    if (search->written > 0)
        search->until_ns = reactor_now(sweep);
    for (int unit = 0; unit < search_units(search->search); unit++)
        if (search_is_wanted(search->search, unit)) {
            sched_release(sweep->work.sched, unit);
            if (search_is_out(search->search, unit) &&
                search_rung(search->search, unit) > 0)
                halving_want(search, unit);
        }
    search_turn(sweep, pass);
    return 0;
}

static void search_settled(struct sweep *sweep, struct pass *pass, int unit,
                           int shape, enum outcome outcome, double median_s)
{
    struct search_pass *search = pass->state;
    enum strategy_outcome told = STRATEGY_FAILED;

    if (outcome == OUTCOME_CORRECT && median_s > 0)
        told = STRATEGY_TIMED;
    else if (outcome == OUTCOME_CORRECT || outcome == OUTCOME_LOST)
        told = STRATEGY_LOST;
    if (search_settle(search->search, unit, shape, told, median_s))
        search_state_write_steps(sweep, search);
}

/* ---- what the reactor asks */

static void search_ended(struct sweep *sweep, struct pass *pass,
                         const struct sched_lease *lease,
                         const struct msg *result)
{
    halving_ended(sweep, pass->state, lease, result);
}

static int search_samples(const struct sweep *sweep, const struct pass *pass,
                          const struct sched_lease *lease)
{
    (void)pass;
    return halving_samples(sweep, lease);
}

static const char *search_method(const struct sweep *sweep,
                                 const struct pass *pass)
{
    const struct search_pass *search = pass->state;

    return search_settings_command(sweep->reactor.options->search_settings)
               ? "external"
               : search->plan.strategy;
}

/* A point that was handed out and is not settled. */
static int find_open_unit(const struct sweep *sweep,
                          const struct search *search)
{
    for (int unit = 0; unit < search_units(search); unit++)
        if (search_is_out(search, unit) &&
            sched_unit_is_open(sweep->work.sched, unit))
            return unit;
    return -1;
}

/* Units that it holds back wait until the strategy asks for them.  The strategy
 * waits for the results of earlier questions. */
static void search_waits_for(const struct sweep *sweep, const struct pass *pass,
                             pass_wait_fn *tell, void *arg)
{
    const struct search_pass *search = pass->state;
    struct external_strategy *program;
    struct pass_wait wait = { .what = "what the strategy asked for" };

    if (!search->search || search->done)
        return;
    program = search_external(search->search);
    wait.unit = find_open_unit(sweep, search->search);
    if (wait.unit >= 0) {
        wait.end = PASS_WAIT_UNIT;
    } else if (program) {
        wait.what = "an answer of the strategy";
        wait.end = PASS_WAIT_TIME;
        wait.until_ns = external_strategy_deadline(program);
    }
    if (halving_waits_for(sweep, search, tell, arg) == 0 ||
        wait.end != PASS_WAIT_NOTHING)
        tell(arg, &wait);
}

static void search_progress(const struct sweep *sweep, const struct pass *pass,
                            struct progress_facts *facts)
{
    const struct search_pass *search = pass->state;
    bool outside = space_domain_find(search->grid,
                                     plan_unit(sweep->work.plan, 0)->point) < 0;
    int taken = plan_taken(sweep->work.plan);
    int units = search->done ? taken : search->plan.evaluations + outside;

    if (!search->done && search->plan.limit_s > 0) /* who knows how many */
        units =
            taken > search->plan.least ? taken : search->plan.least + outside;
    facts->total = units;
}

static void search_poll(struct sweep *sweep, struct pass *pass,
                        struct pollfd *fds)
{
    const struct search_pass *search = pass->state;
    struct external_strategy *external = search->search && !search->done
                                             ? search_external(search->search)
                                             : NULL;

    (void)sweep;
    if (external)
        external_strategy_poll(external, fds);
}

static void search_pass_free(struct pass *pass)
{
    struct search_pass *search = pass->state;

    halving_free(search->race);
    search_free(search->search);
    space_domain_free(search->grid);
    free(search->shapes);
    free(search->prior);
    free(search);
}

const struct pass_ops search_pass = {
    .name = "search",
    .purposes = 1U << SCHED_AGAIN,
    .start.choose = search_choose,
    .start.recall = search_recall,
    .start.begin = search_begin,
    .turn = search_turn,
    .poll = search_poll,
    .settled = search_settled,
    .ended = search_ended,
    .amounts.samples = search_samples,
    .method = search_method,
    .waits_for = search_waits_for,
    .progress = search_progress,
    .free = search_pass_free,
};
