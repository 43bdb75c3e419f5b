/* Units as a strategy asks for them: the reactor's side of quest.h. */
#include "coordinator/sweep_search_private.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <zmq.h>

#include "common/log.h"
#include "common/mem.h"
#include "coordinator/domain.h"
#include "coordinator/external.h"
#include "coordinator/grid.h"
#include "coordinator/objective.h"
#include "coordinator/quest.h"
#include "coordinator/space.h"
#include "coordinator/sql.h"
#include "coordinator/store.h"
#include "coordinator/terms.h"

/* Below, all units are made at once: half a second at 17 us each. */
#define ALL_AT_ONCE 20000
#define ANSWER_NS (60 * NS_PER_S) /* for each answer of a program */
#define FALLBACK "bayes"
#define WINDOW_A_GPU 2 /* one is measured, one is on its way */

const char *const sweep_search_kinds[] = { [QUEST_ASKED] = "asked",
                                           [QUEST_TIMED] = "timed",
                                           [QUEST_FAILED] = "failed",
                                           [QUEST_LOST] = "lost" };

/* ---- before the first host */

int sweep_search_choose(struct sweep *sweep, int64_t passed, struct err *err)
{
    const struct sweep_options *options = sweep->options;
    struct terms_scope scope = { .points = passed,
                                 .hours = options->max_hours };
    struct terms_plan plan;
    size_t shapes;
    int rc;

    if (!options->terms || options->ask || options->builds_only || passed == 0)
        return 0;
    space_shapes(sweep->space, &shapes);
    scope.shapes = (int)shapes;
    terms_hosts(sweep->hosts, &scope.slots, &scope.gpus);
    rc = terms_plan(options->terms, &scope, &plan, err);
    if (rc < 0 || (plan.all && passed <= ALL_AT_ONCE))
        return rc;
    sweep->search = mem_new(1, sizeof(*sweep->search));
    sweep->search->plan = plan;
    rc = grid_new(sweep->spec, sweep->space, passed, &sweep->search->grid, err);
    if (rc == 0)
        rc = sql_number(store_db(sweep->store),
                        "SELECT count(DISTINCT config) FROM outcome",
                        &sweep->search->known, err);
    return rc;
}

int sweep_search_plan(struct sweep *sweep, struct err *err)
{
    const struct sweep_search *search = sweep->search;
    int64_t points = domain_size(grid_domain(search->grid));
    int64_t room = search->plan.evaluations + search->known;

    if (room > points)
        room = points;
    return plan_make_open(sweep->spec, sweep->space, (int)room + 1,
                          sweep->options->device, sweep->arch, &sweep->plan,
                          err);
}

void sweep_search_hold(struct sweep *sweep)
{
    if (!sweep->search)
        return;
    for (int unit = 0; unit < plan_units(sweep->plan); unit++)
        sched_hold(sweep->sched, unit);
}

static int start_program(struct sweep *sweep, const char *command,
                         struct external **out, struct err *err)
{
    const struct sweep_search *search = sweep->search;
    const char *argv[TERMS_WORDS_MAX + 1];
    char *words = terms_split(command, argv);
    const struct external_options options = {
        .argv = argv,
        .domain = grid_domain(search->grid),
        .tunables = grid_tunables(search->grid),
        .shapes = search->shapes,
        .n_shapes = plan_shapes(sweep->plan),
        .objective = sweep->options->terms->objective,
        .budget = search->plan.evaluations,
        .seed = (uint64_t)sweep->options->terms->seed,
        .answer_ns = ANSWER_NS,
    };
    int rc = external_start(&options, out, err);

    free(words);
    return rc < 0 ? ERR_INPUT : 0; /* a slip, and no host's fault */
}

/* A record answers alike each time, so that a seed can repeat a replay, if the
 * order in which results happen to come is kept from the strategy. */
static int window(const struct sweep *sweep)
{
    const struct terms *terms = sweep->options->terms;
    int slots, gpus;

    if (!sweep->spec->replay || terms->race.first > 0 || terms_command(terms))
        return 0;
    terms_hosts(sweep->hosts, &slots, &gpus);
    return quest_ahead(slots, (int)sweep->hosts->n, WINDOW_A_GPU * gpus,
                       sweep->search->plan.evaluations);
}

/* A record has one shape, and the cpu device those of its own. */
static void find_objective(struct sweep *sweep)
{
    const char *text = sweep->options->terms->objective;
    struct sweep_search *search = sweep->search;
    int n = plan_shapes(sweep->plan);

    search->shapes = mem_new((size_t)n, sizeof(*search->shapes));
    for (int i = 0; i < n; i++)
        search->shapes[i] = plan_shape_name(sweep->plan, i);
    search->objective = objective_find(text, search->shapes, n);
    if (search->objective != OBJECTIVE_NONE)
        return;
    search->objective = 0;
    progress_say(sweep->progress,
                 "search: the objective '%s' is no shape of the %s device; "
                 "the headline %s is searched for",
                 text, sweep->options->device, search->shapes[0]);
}

int sweep_search_start(struct sweep *sweep, struct err *err)
{
    const struct terms *terms = sweep->options->terms;
    struct sweep_search *search = sweep->search;
    const char *command = terms_command(terms);
    struct quest_options options = {
        .domain = grid_domain(search->grid),
        .baseline = grid_find(search->grid, plan_unit(sweep->plan, 0)->point),
        .shapes = plan_shapes(sweep->plan),
        .strategy = search->plan.strategy,
        .window = window(sweep),
        .race = terms->race.first > 0 ? &terms->race : NULL,
        .evaluations = search->plan.evaluations,
        .seed = (uint64_t)terms->seed,
    };
    int rc = 0;

    find_objective(sweep);
    options.objective = search->objective;
    if (command)
        rc = start_program(sweep, command, &options.external, err);
    return rc == 0 ? quest_new(&options, &search->quest, err) : rc;
}

/* ---- units and steps, written down as they come */

/* What the quest has heard of becomes a unit of the plan. */
static int take_units(struct sweep *sweep, struct err *err)
{
    const struct sweep_search *search = sweep->search;
    int from = plan_taken(sweep->plan), rc = 0;

    for (int unit = from; rc >= 0 && unit < quest_units(search->quest);
         unit++) {
        int point = quest_point(search->quest, unit);

        rc = plan_take(sweep->plan, grid_number(search->grid, point), err);
        assert(rc < 0 || rc == unit);
    }
    return rc < 0 ? rc : sweep_put_configs(sweep, from, err);
}

static int put_step(struct sweep *sweep, size_t position,
                    const struct quest_step *step, struct err *err)
{
    struct sweep_search *search = sweep->search;
    int unit = quest_know(search->quest, step->point);

    return store_step_put(
        sweep->store,
        &(struct store_step){
            .sweep = sweep->sweep_id,
            .position = (int64_t)position,
            .kind = sweep_search_kinds[step->kind],
            .config = plan_unit(sweep->plan, unit)->key,
            .point = grid_number(search->grid, step->point),
            .rung = step->rung,
            .time_s = step->kind == QUEST_TIMED ? step->time : (double)NAN },
        err);
}

int sweep_search_put_steps(struct sweep *sweep, struct err *err)
{
    struct sweep_search *search = sweep->search;
    size_t n;
    const struct quest_step *steps = quest_steps(search->quest, &n);
    int rc = take_units(sweep, err);

    for (; rc == 0 && search->written < n; search->written++) {
        rc = put_step(sweep, search->written, &steps[search->written], err);
        sweep_dirty(sweep);
    }
    return rc;
}

/* For the loop, where an error ends the sweep. */
static void write_steps(struct sweep *sweep)
{
    struct err err;
    int rc = sweep_search_put_steps(sweep, &err);

    if (rc < 0)
        sweep_fail(sweep, rc == ERR_INPUT ? 2 : 7, "error", &err);
}

static void announce(const struct sweep *sweep)
{
    const struct sweep_search *search = sweep->search;

    progress_say(
        sweep->progress,
        "search: %s%s%s%s, %d of %d configurations, objective %s",
        search->plan.strategy, search->plan.why[0] ? " (" : "",
        search->plan.why, search->plan.why[0] ? ")" : "",
        search->plan.evaluations, domain_size(grid_domain(search->grid)),
        search->objective == OBJECTIVE_ALL ? "geomean"
                                           : search->shapes[search->objective]);
}

void sweep_search_begin(struct sweep *sweep)
{
    struct sweep_search *search = sweep->search;

    if (!search)
        return;
    announce(sweep);
    for (int unit = 0; unit < quest_units(search->quest); unit++)
        if (quest_is_wanted(search->quest, unit)) {
            sched_release(sweep->sched, unit);
            if (quest_is_out(search->quest, unit) &&
                quest_rung(search->quest, unit) > 0)
                sweep_race_want(sweep, unit);
        }
    sweep_search_turn(sweep);
}

/* ---- the loop */

/* It died, is silent or talks nonsense.  One that never said that it is ready
 * is a slip of the person at the keyboard; one that fails later must not leave
 * rented machines idle. */
static void give_up_program(struct sweep *sweep, const struct err *why)
{
    struct quest *quest = sweep->search->quest;

    if (!external_is_ready(quest_external(quest))) {
        sweep_fail(sweep, 2, "error", why);
        return;
    }
    progress_say(sweep->progress, "%s; %s goes on in its place", why->text,
                 FALLBACK);
    log_line(LOG_W, "STRATEGY-ENDED", "%s", why->text);
    sweep_put_event(sweep, "W", "STRATEGY-ENDED", why->text);
    quest_take_over(quest, FALLBACK);
}

static void hear_program(struct sweep *sweep)
{
    struct external *external = quest_external(sweep->search->quest);
    struct err err;

    if (external && external_work(external, clock_boot_ns(), &err) < 0)
        give_up_program(sweep, &err);
}

/* One at least, so that a search whose end has come ends without a host. */
static int how_many(const struct sweep *sweep)
{
    int slots = 0, hosts = 0, measures = 0, ahead;

    if (window(sweep) > 0)
        return INT_MAX; /* the quest has a limit of its own */
    for (size_t i = 0; i < sweep->n_boxes; i++) {
        const struct box *box = &sweep->boxes[i];

        if (box->state != BOX_READY || box->is_lost)
            continue;
        slots += box->host->role == HOST_GPU ? 0 : box->slots;
        hosts++;
        measures += box->n_gpus * box->credit;
    }
    ahead =
        quest_ahead(slots, hosts, measures, sweep->search->plan.evaluations);
    return ahead > 1 ? ahead : 1;
}

static void end_search(struct sweep *sweep)
{
    sweep->search->done = true;
    for (int unit = 0; unit < plan_units(sweep->plan); unit++)
        sched_drop(sweep->sched, unit);
}

static void send_out(struct sweep *sweep, const struct quest_want *want)
{
    if (want->rung == 0)
        sched_release(sweep->sched, want->unit);
    else
        sweep_race_want(sweep, want->unit);
}

void sweep_search_turn(struct sweep *sweep)
{
    struct sweep_search *search = sweep->search;
    int most;

    if (!search || !search->quest || search->done || sweep->ending)
        return;
    hear_program(sweep);
    most = how_many(sweep);
    while (!sweep->ending && quest_out(search->quest) < most) {
        struct quest_want want;
        enum strategy_answer answer = quest_ask(search->quest, &want);

        if (answer == STRATEGY_DONE)
            end_search(sweep);
        if (answer != STRATEGY_POINT)
            break;
        write_steps(sweep);
        if (!sweep->ending)
            send_out(sweep, &want);
    }
    if (!sweep->ending)
        write_steps(sweep);
    sweep_race_turn(sweep);
}

void sweep_search_settled(struct sweep *sweep, int unit, int shape,
                          const char *word, double median_s)
{
    struct sweep_search *search = sweep->search;
    enum strategy_outcome outcome = STRATEGY_FAILED;

    if (!search)
        return;
    if (strcmp(word, "correct") == 0 && median_s > 0)
        outcome = STRATEGY_TIMED;
    else if (strcmp(word, "correct") == 0 || strcmp(word, "lost") == 0)
        outcome = STRATEGY_LOST;
    if (quest_settle(search->quest, unit, shape, outcome, median_s))
        write_steps(sweep);
}

int sweep_search_shape(const struct sweep *sweep)
{
    return sweep->search->objective;
}

int sweep_search_rung(const struct sweep *sweep, int unit)
{
    return quest_rung(sweep->search->quest, unit);
}

void sweep_search_settle_rung(struct sweep *sweep, int unit,
                              enum strategy_outcome outcome, double time)
{
    quest_settle_rung(sweep->search->quest, unit, outcome, time);
    write_steps(sweep);
}

const char *sweep_search_method(const struct sweep *sweep)
{
    const struct sweep_search *search = sweep->search;

    if (!search)
        return "exhaustive";
    return terms_command(sweep->options->terms) ? "external"
                                                : search->plan.strategy;
}

int sweep_search_total(const struct sweep *sweep)
{
    const struct sweep_search *search = sweep->search;
    bool outside;

    if (!search)
        return plan_units(sweep->plan);
    outside = grid_find(search->grid, plan_unit(sweep->plan, 0)->point) < 0;
    if (search->done)
        return plan_taken(sweep->plan);
    return search->plan.evaluations + outside;
}

void sweep_search_poll(const struct sweep *sweep, int fds[SWEEP_SEARCH_FDS],
                       short events[SWEEP_SEARCH_FDS])
{
    struct external *external =
        sweep->search && sweep->search->quest && !sweep->search->done
            ? quest_external(sweep->search->quest)
            : NULL;
    struct pollfd polled[EXTERNAL_FDS] = { { .fd = -1 }, { .fd = -1 } };

    if (external)
        external_poll(external, polled);
    for (int i = 0; i < SWEEP_SEARCH_FDS; i++) {
        fds[i] = polled[i].fd;
        events[i] = (short)((polled[i].events & POLLIN ? ZMQ_POLLIN : 0) |
                            (polled[i].events & POLLOUT ? ZMQ_POLLOUT : 0));
    }
}

void sweep_search_free(struct sweep *sweep)
{
    if (!sweep->search)
        return;
    quest_free(sweep->search->quest);
    grid_free(sweep->search->grid);
    free(sweep->search->shapes);
    free(sweep->search);
}
