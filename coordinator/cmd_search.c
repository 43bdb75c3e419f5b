/* How a command that sweeps is told to search. */
#include "coordinator/cmd_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/space.h"
#include "coordinator/spec.h"
#include "coordinator/strategy.h"
#include "coordinator/terms.h"

int run_terms(struct run *run, struct err *err)
{
    const struct run_settings *set = &run->set;
    struct terms *terms = &run->terms;

    if (!run->was_searched)
        *terms = run->spec->search;
    terms->objective = run->spec->search.objective;
    if (set->strategy)
        terms->strategy = set->strategy;
    else if (terms_command(terms)) /* a database starts no programs */
        return err_set(err, ERR_INPUT,
                       "%s was searched by '%s'; to go on, give --strategy "
                       "with it again, or another",
                       run->db, terms->strategy);
    if (set->seed >= 0)
        terms->seed = set->seed;
    if (set->evaluations > 0)
        terms->evaluations = set->evaluations;
    if (terms->seed > TERMS_SEED_MAX)
        return err_set(err, ERR_INPUT, "--seed: at most 2^53");
    return terms_check(terms, err);
}

int run_print_search(const struct run *run, const struct space *space,
                     int64_t passed, struct err *err)
{
    struct terms_scope scope = { .points = passed,
                                 .hours = run->set.max_hours };
    struct terms_plan plan;
    size_t shapes;
    int rc;

    space_shapes(space, &shapes);
    scope.shapes = (int)shapes;
    terms_hosts(&run->hosts, &scope.slots, &scope.gpus);
    rc = terms_plan(&run->terms, &scope, &plan, err);
    if (rc == 0)
        printf("search: %s%s%s%s, %d of %" PRId64 " configurations, seed "
               "%" PRId64 ", objective %s\n",
               plan.strategy, plan.why[0] ? " (" : "", plan.why,
               plan.why[0] ? ")" : "", plan.evaluations, passed,
               run->terms.seed, run->terms.objective);
    return rc;
}
