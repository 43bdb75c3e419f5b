/* Resolves the search settings of a command that sweeps. */
#include "coordinator/tasks/run.h"

#include "common/err.h"
#include "coordinator/search/strategy.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/spec/spec.h"

int run_terms(struct run *run, struct err *err)
{
    const struct run_settings *set = &run->set;
    struct search_settings *settings = &run->search_settings;

    if (!run->was_searched)
        *settings = *run->spec->search;
    settings->objective = run->spec->search->objective;
    if (set->strategy)
        settings->strategy = set->strategy;
    else if (search_settings_command(
                 settings)) /* a stored setting must not start programs */
        return err_set(err, ERR_INPUT,
                       "%s was searched by '%s'; to continue, give --strategy "
                       "again, with that command or another strategy",
                       run->db, settings->strategy);
    if (set->seed >= 0)
        settings->seed = set->seed;
    if (set->evaluations > 0)
        settings->evaluations = set->evaluations;
    if (settings->seed > SEARCH_SETTINGS_SEED_MAX)
        return err_set(err, ERR_INPUT, "--seed: at most 2^53");
    return search_settings_check(settings, err);
}

int run_plan_search(const struct run *run, const struct space *space,
                    int64_t passed, struct search_settings_plan *out,
                    struct err *err)
{
    struct search_settings_scope scope = { .points = passed,
                                           .hours = run->set.max_hours };
    size_t shapes;

    space_shapes(space, &shapes);
    scope.shapes = (int)shapes;
    search_settings_hosts(&run->hosts, &scope.slots, &scope.gpus);
    return search_settings_plan(&run->search_settings, &scope, out, err);
}
