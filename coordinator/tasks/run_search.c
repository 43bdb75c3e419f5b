/* Resolves the search settings of a command that sweeps. */
#include "coordinator/tasks/run.h"

#include <math.h>

#include "common/err.h"
#include "coordinator/reserve/reserve.h"
#include "coordinator/search/strategy.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/spec/spec.h"
#include "coordinator/tasks/run_reserve.h"

int run_terms(struct run *run, struct err *err)
{
    const struct run_settings *set = &run->set;
    struct search_settings *settings = &run->search_settings;

    if (!run->was.searched)
        *settings = *run->spec->search;
    settings->objective = run->spec->search->objective;
    if (run_effort(run, err) < 0)
        return ERR_INPUT;
    if (set->strategy)
        settings->strategy = set->strategy;
    else if (search_settings_command(
                 settings)) /* a stored setting must not start programs */
        return err_set(err, ERR_INPUT,
                       "%s was searched by '%s'; to continue, give --strategy "
                       "again, with that command or another strategy",
                       run->db, settings->strategy);
    if (set->search.seed >= 0)
        settings->seed = set->search.seed;
    if (set->search.evaluations > 0)
        settings->evaluations = set->search.evaluations;
    if (set->search.in_flight > 0)
        settings->in_flight = set->search.in_flight;
    if (settings->seed > SEARCH_SETTINGS_SEED_MAX)
        return err_set(err, ERR_INPUT, "--seed: at most 2^53");
    return search_settings_check(settings, err);
}

int run_plan_search(const struct run *run, const struct space *space,
                    int64_t passed, struct search_settings_plan *out,
                    struct err *err)
{
    struct search_settings_scope scope = { .points = passed };
    struct reserve_pass reserve;
    struct run_reserve_past past;
    size_t shapes;
    int rc = run_reserve_past(run, &past, err);

    if (rc < 0)
        return rc;
    scope.hours = isinf(past.left_s) ? 0 : fmax(past.left_s, 1e-3) / 3600;
    scope.guessed = !past.builds;
    if (past.builds) {
        scope.build_s = past.times.build_s;
        scope.measure_s = past.times.measure_s;
    }
    run_reserve_pass(run, &reserve);
    if (!run->spec->confirm.off)
        scope.kept_s = reserve_s(&reserve, &past.times);
    space_shapes(space, &shapes);
    scope.shapes = (int)shapes;
    search_settings_hosts(&run->hosts, &scope.slots, &scope.gpus);
    return search_settings_plan(&run->search_settings, &scope, out, err);
}
