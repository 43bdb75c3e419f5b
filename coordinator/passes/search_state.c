/* What a search asks and tells: the strategy or program, and the units and
 * steps that follow from its answers. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/passes/search_internal.h"
#include "coordinator/notes/description.h"
#include "coordinator/model/domain.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/replay/landscape_prior.h"
#include "coordinator/search/external_strategy.h"
#include "coordinator/search/objective.h"
#include "coordinator/search/search.h"
#include "coordinator/space/space_domain.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/spec/spec.h"
#include "coordinator/state/records.h"
#include "coordinator/store/store.h"
#include "coordinator/text/exit_code.h"

#define ANSWER_NS (60 * NS_PER_S) /* for each answer of a program */
#define ODD_MAX 400
#define WINDOW_A_GPU 2 /* one is measured, one is on the way */

const char *const search_state_kinds[] = { [SEARCH_ASKED] = "asked",
                                           [SEARCH_TIMED] = "timed",
                                           [SEARCH_FAILED] = "failed",
                                           [SEARCH_LOST] = "lost" };

static int start_program(const struct sweep *sweep,
                         const struct search_pass *search, const char *command,
                         struct external_strategy **out, struct err *err)
{
    const char *argv[SEARCH_SETTINGS_WORDS_MAX + 1];
    char *words = search_settings_split(command, argv);
    const struct external_strategy_options options = {
        .argv = argv,
        .domain = space_domain_domain(search->grid),
        .tunables = space_domain_tunables(search->grid),
        .shapes = search->shapes,
        .n_shapes = plan_shapes(sweep->work.plan),
        .objective = sweep->reactor.options->search_settings->objective,
        .budget = search->plan.evaluations,
        .seed = (uint64_t)sweep->reactor.options->search_settings->seed,
        .answer_ns = ANSWER_NS,
    };
    int rc = external_strategy_start(&options, out, err);

    free(words);
    return rc < 0 ? ERR_INPUT : 0; /* a mistake of the user, not of a host */
}

/* A record gives the same answers each time.  So a seed repeats a replay, if
 * results are told in the order of the questions. */
int search_state_window(const struct sweep *sweep)
{
    const struct search_settings *settings =
        sweep->reactor.options->search_settings;
    int slots, gpus;

    if (!sweep->work.spec->replay || settings->race.first > 0 ||
        search_settings_command(settings))
        return 0;
    search_settings_hosts(sweep->fleet.list, &slots, &gpus);
    return slots + (int)sweep->fleet.list->n + WINDOW_A_GPU * gpus;
}

/* A record has one shape, and the cpu device has its own shapes. */
static void find_objective(struct sweep *sweep, struct search_pass *search)
{
    const char *text = sweep->reactor.options->search_settings->objective;
    int n = plan_shapes(sweep->work.plan);

    search->shapes = mem_new((size_t)n, sizeof(*search->shapes));
    for (int i = 0; i < n; i++)
        search->shapes[i] = plan_shape_name(sweep->work.plan, i);
    search->objective = objective_find(text, search->shapes, n);
    if (search->objective != OBJECTIVE_NONE)
        return;
    search->objective = 0;
    progress_say(sweep->reactor.progress,
                 "search: the objective '%s' is not a shape of the %s "
                 "device; the search uses the headline %s",
                 text, sweep->reactor.options->device, search->shapes[0]);
}

/* What the user named says of these points; NULL without one. */
static double *make_prior(const struct sweep *sweep,
                          const struct search_pass *search)
{
    const struct landscape *warm =
        sweep->reactor.options->search_settings->warm;
    const struct domain *domain = space_domain_domain(search->grid);
    struct buf odd;
    double *prior;
    int known;

    if (!warm)
        return NULL;
    buf_init(&odd, ODD_MAX);
    prior = landscape_prior(warm, domain, space_domain_tunables(search->grid),
                            &known, &odd);
    progress_say(sweep->reactor.progress,
                 "search: warm, with the times of %d of these %d "
                 "configurations from %s%s%s",
                 known, domain_size(domain),
                 warm->device[0] ? warm->device : "an unnamed device",
                 odd.len ? "; only one of the two has " : "", buf_text(&odd));
    buf_fini(&odd);
    return prior;
}

int search_state_start(struct sweep *sweep, struct search_pass *search,
                       struct err *err)
{
    const struct search_settings *settings =
        sweep->reactor.options->search_settings;
    const char *command = search_settings_command(settings);
    struct search_options options = {
        .domain = space_domain_domain(search->grid),
        .baseline = space_domain_find(search->grid,
                                      plan_unit(sweep->work.plan, 0)->point),
        .shapes = plan_shapes(sweep->work.plan),
        .strategy = search->plan.strategy,
        .in_flight = (int)search->plan.most_out,
        .window = search_state_window(sweep),
        .race = settings->race.first > 0 ? &settings->race : NULL,
        .evaluations = search->plan.evaluations,
        .seed = (uint64_t)settings->seed,
    };
    int rc = 0;

    find_objective(sweep, search);
    options.objective = search->objective;
    options.prior = search->prior = make_prior(sweep, search);
    if (command)
        rc = start_program(sweep, search, command, &options.external, err);
    return rc == 0 ? search_new(&options, &search->search, err) : rc;
}

/* ---- units and steps, written down as they come */

/* Points that the search knows become units of the plan. */
static int take_units(struct sweep *sweep, const struct search_pass *search,
                      struct err *err)
{
    int from = plan_taken(sweep->work.plan), rc = 0;

    for (int unit = from; rc >= 0 && unit < search_units(search->search);
         unit++) {
        int point = search_point(search->search, unit);

        rc = plan_take(sweep->work.plan,
                       space_domain_number(search->grid, point), err);
        assert(rc < 0 || rc == unit);
    }
    return rc < 0 ? rc : description_put_configs(sweep, from, err);
}

static int put_step(struct sweep *sweep, const struct search_pass *search,
                    size_t position, const struct search_step *step,
                    struct err *err)
{
    int unit = search_know(search->search, step->point);

    return store_step_put(
        sweep->mail.store,
        &(struct store_step){
            .sweep = sweep->reactor.sweep_id,
            .position = (int64_t)position,
            .kind = search_state_kinds[step->kind],
            .config = plan_unit(sweep->work.plan, unit)->key,
            .point = space_domain_number(search->grid, step->point),
            .rung = step->rung,
            .time_s = step->kind == SEARCH_TIMED ? step->time : (double)NAN },
        err);
}

int search_state_put_steps(struct sweep *sweep, struct search_pass *search,
                           struct err *err)
{
    size_t n;
    const struct search_step *steps = search_steps(search->search, &n);
    int rc = take_units(sweep, search, err);

    for (; rc == 0 && search->written < n; search->written++) {
        rc = put_step(sweep, search, search->written, &steps[search->written],
                      err);
        records_dirty(sweep);
    }
    return rc;
}

void search_state_write_steps(struct sweep *sweep, struct search_pass *search)
{
    struct err err;
    int rc = search_state_put_steps(sweep, search, &err);

    if (rc < 0)
        reactor_fail(sweep, rc == ERR_INPUT ? EXIT_INPUT : EXIT_DATABASE, &err);
}

void search_state_settle_rung(struct sweep *sweep, struct search_pass *search,
                              int unit, enum strategy_outcome outcome,
                              double time)
{
    search_settle_rung(search->search, unit, outcome, time);
    search_state_write_steps(sweep, search);
}
