/* A search goes back to where an earlier run left it. */
#include "coordinator/sweep_search_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/domain.h"
#include "coordinator/grid.h"
#include "coordinator/history.h"
#include "coordinator/known.h"
#include "coordinator/quest.h"
#include "coordinator/store.h"

struct recalled {
    const struct sweep *sweep;
    struct history *history;
    int rc; /* of what was looked up on the way */
    struct err *err;
    struct quest_step *steps;
    size_t n, cap;
    bool *told;  /* [points of the grid] the steps tell of it */
    int *points; /* that something is known of besides */
    size_t points_n, points_cap;
};

static void recall_step(void *arg, const struct store_step *row)
{
    struct recalled *recalled = arg;
    int kind = QUEST_ASKED;

    while (kind < QUEST_LOST &&
           strcmp(sweep_search_kinds[kind], row->kind) != 0)
        kind++;
    if (recalled->n == recalled->cap) {
        recalled->cap = recalled->cap ? 2 * recalled->cap : 256;
        recalled->steps =
            mem_grow(recalled->steps, recalled->cap, sizeof(*recalled->steps));
    }
    recalled->steps[recalled->n] = (struct quest_step){
        .kind = (enum quest_step_kind)kind,
        .point = grid_find(recalled->sweep->search->grid, row->point),
        .rung = (int)row->rung,
        .time = row->time_s,
    };
    if (recalled->steps[recalled->n].point < 0)
        return;
    if (kind == QUEST_TIMED || kind == QUEST_FAILED)
        recalled->told[recalled->steps[recalled->n].point] = true;
    recalled->n++;
}

/* Is it settled for any shape, by these sources? */
static int is_settled(const struct recalled *recalled, const char *key,
                      int64_t number, struct err *err)
{
    const struct sweep *sweep = recalled->sweep;
    char source_key[HASH_HEX];
    int rc = plan_source_key(sweep->plan, number, source_key, err);

    if (rc < 0)
        return 0; /* it cannot be built: whatever it was is no more */
    for (int shape = 0; rc == 0 && shape < plan_shapes(sweep->plan); shape++) {
        struct store_outcome at = {
            .config = key,
            .shape = plan_shape_name(sweep->plan, shape),
            .source_key = source_key,
            .measure_key = plan_measure_key(sweep->plan, shape),
        };
        struct history_outcome was;

        rc = history_outcome(recalled->history, &at, &was, err);
    }
    return rc;
}

static void recall_point(void *arg, const struct history_config *config)
{
    struct recalled *recalled = arg;
    const struct sweep *sweep = recalled->sweep;
    int64_t number = config->sweep == sweep->sweep_id
                         ? config->point
                         : known_number(sweep->spec, config->params);
    int point = grid_find(sweep->search->grid, number), rc;

    if (recalled->rc < 0 || point < 0 || recalled->told[point])
        return; /* told already, or not of this space */
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

/* The same steps as before, then what else is known, in order of the points:
 * the same database leads to the same next point.  A program cannot be led
 * back by steps, which say nothing of the single shapes: it is told all that
 * is known as such. */
static int go_back_to(struct sweep *sweep, const struct recalled *recalled,
                      struct err *err)
{
    struct sweep_search *search = sweep->search;

    if (!quest_external(search->quest) &&
        quest_replay(search->quest, recalled->steps, recalled->n))
        search->written = recalled->n;
    else if (store_steps_drop(sweep->store, sweep->sweep_id, err) < 0)
        return ERR_STORE;
    if (recalled->points_n > 0)
        qsort(recalled->points, recalled->points_n, sizeof(int), ascending);
    for (size_t i = 0; i < recalled->points_n; i++)
        quest_know(search->quest, recalled->points[i]);
    return sweep_search_put_steps(sweep, err);
}

int sweep_search_recall(struct sweep *sweep, struct history *history,
                        struct err *err)
{
    struct recalled recalled = { .sweep = sweep,
                                 .history = history,
                                 .err = err };
    int rc = 0;

    if (!sweep->search)
        return 0;
    recalled.told = mem_new(
        (size_t)domain_size(grid_domain(sweep->search->grid)), sizeof(bool));
    rc = sweep_search_start(sweep, err);
    if (rc == 0 && !quest_external(sweep->search->quest))
        rc = history_steps(history, sweep->sweep_id, recall_step, &recalled,
                           err);
    if (rc == 0)
        rc = history_configs(history, recall_point, &recalled, err);
    if (rc == 0)
        rc = recalled.rc;
    if (rc == 0)
        rc = go_back_to(sweep, &recalled, err);
    free(recalled.steps);
    free(recalled.told);
    free(recalled.points);
    return rc;
}
