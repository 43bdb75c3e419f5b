/* A search continues where an earlier run left it. */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/config/config_lookup.h"
#include "coordinator/passes/search_internal.h"
#include "coordinator/model/domain.h"
#include "coordinator/search/search.h"
#include "coordinator/space/space_domain.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/past_runs.h"

struct recalled {
    const struct sweep *sweep;
    const struct search_pass *search;
    struct past_runs *past;
    int rc; /* of what was looked up */
    struct err *err;
    struct search_step *steps;
    size_t n, cap;
    bool *told;  /* [points of the grid] the stored steps tell its result */
    int *points; /* with other known results */
    size_t points_n, points_cap;
};

static void recall_step(void *arg, const struct store_step *row)
{
    struct recalled *recalled = arg;
    int kind = SEARCH_ASKED;

    while (kind < SEARCH_LOST &&
           strcmp(search_state_kinds[kind], row->kind) != 0)
        kind++;
    if (recalled->n == recalled->cap) {
        recalled->cap = recalled->cap ? 2 * recalled->cap : 256;
        recalled->steps =
            mem_grow(recalled->steps, recalled->cap, sizeof(*recalled->steps));
    }
    recalled->steps[recalled->n] = (struct search_step){
        .kind = (enum search_step_kind)kind,
        .point = space_domain_find(recalled->search->grid, row->point),
        .rung = (int)row->rung,
        .time = row->time_s,
    };
    if (recalled->steps[recalled->n].point < 0)
        return;
    if (kind == SEARCH_TIMED || kind == SEARCH_FAILED)
        recalled->told[recalled->steps[recalled->n].point] = true;
    recalled->n++;
}

/* Is it settled for any shape, by these sources? */
static int is_settled(const struct recalled *recalled, const char *key,
                      int64_t number, struct err *err)
{
    const struct sweep *sweep = recalled->sweep;
    char source_key[HASH_HEX];
    int rc = plan_source_key(sweep->work.plan, number, source_key, err);

    if (rc < 0)
        return 0; /* it cannot be built: its old outcome does not count */
    for (int shape = 0; rc == 0 && shape < plan_shapes(sweep->work.plan);
         shape++) {
        struct store_outcome at = {
            .config = key,
            .shape = plan_shape_name(sweep->work.plan, shape),
            .source_key = source_key,
            .measure_key = plan_measure_key(sweep->work.plan, shape),
        };
        struct past_runs_outcome was;

        rc = past_runs_outcome(recalled->past, &at, &was, err);
    }
    return rc;
}

static void recall_point(void *arg, const struct past_runs_config *config)
{
    struct recalled *recalled = arg;
    const struct sweep *sweep = recalled->sweep;
    int64_t number =
        config->sweep == sweep->reactor.sweep_id
            ? config->point
            : config_lookup_number(sweep->work.spec, config->params);
    int point = space_domain_find(recalled->search->grid, number), rc;

    if (recalled->rc < 0 || point < 0 || recalled->told[point])
        return; /* told already, or not a point of this space */
    rc = is_settled(recalled, config->key, number, recalled->err);
    if (rc <= 0) {
        recalled->rc = rc;
        return;
    }
    if (recalled->points_n == recalled->points_cap) {
        recalled->points_cap =
            recalled->points_cap ? 2 * recalled->points_cap : 256;
        recalled->points = mem_grow(recalled->points, recalled->points_cap,
                                    sizeof(*recalled->points));
    }
    recalled->points[recalled->points_n++] = point;
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

/* Repeat the stored steps, then tell other known results in the order of the
 * points: the same database leads to the same next point.  A program is told
 * all known results instead, because steps do not have the times of single
 * shapes. */
static int go_back_to(struct sweep *sweep, struct search_pass *search,
                      const struct recalled *recalled, struct err *err)
{
    if (!search_external(search->search) &&
        search_replay(search->search, recalled->steps, recalled->n))
        search->written = recalled->n;
    else if (store_steps_drop(sweep->mail.store, sweep->reactor.sweep_id, err) <
             0)
        return ERR_STORE;
    if (recalled->points_n > 0)
        qsort(recalled->points, recalled->points_n, sizeof(int), ascending);
    for (size_t i = 0; i < recalled->points_n; i++)
        search_know(search->search, recalled->points[i]);
    return search_state_put_steps(sweep, search, err);
}

int search_recall(struct sweep *sweep, struct pass *pass,
                  struct past_runs *past, struct err *err)
{
    struct search_pass *search = pass->state;
    struct recalled recalled = {
        .sweep = sweep, .search = search, .past = past, .err = err
    };
    int rc = 0;

    for (int unit = 0; unit < plan_units(sweep->work.plan); unit++)
        sched_hold(sweep->work.sched, unit); /* until it is asked for */
    recalled.told = mem_new(
        (size_t)domain_size(space_domain_domain(search->grid)), sizeof(bool));
    rc = search_state_start(sweep, search, err);
    if (rc == 0 && !search_external(search->search))
        rc = past_runs_steps(past, sweep->reactor.sweep_id, recall_step,
                             &recalled, err);
    if (rc == 0)
        rc = past_runs_configs(past, recall_point, &recalled, err);
    if (rc == 0)
        rc = recalled.rc;
    if (rc == 0)
        rc = go_back_to(sweep, search, &recalled, err);
    free(recalled.steps);
    free(recalled.told);
    free(recalled.points);
    return rc;
}
