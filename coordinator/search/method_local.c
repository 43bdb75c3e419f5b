/* Iterated local search: greedy, line by line.
 *
 * From a start, it tries the legal points that differ in one tunable, one
 * tunable (a line) after the other.  When a line has all its results, the
 * search moves to its best point if that is faster.  If no line helps, it
 * restarts: from the best point with some tunables changed, or from a random
 * point.  While a line waits for its last results, random points fill the
 * slots.  They are not wasted, because a restart begins at the fastest point
 * not visited yet.
 */
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/search/method.h"

#define RESTARTS_AFAR 3 /* one restart in so many is at a random point */
#define KICKS_MAX 100   /* tries to find a legal start near the best point */

struct local {
    int here;                       /* current trial, or -1: it needs a start */
    int order[DOMAIN_TUNABLES_MAX]; /* tunables, shuffled */
    int tunables, line;             /* line: index in 'order' */
    int *points;                    /* of the line */
    int n, next;
    int idle;     /* lines in a row without a faster point */
    int start_at; /* the pending start, or -1 */
};

static void *start(struct method_search *search)
{
    struct local *local = mem_new(1, sizeof(*local));

    local->here = local->start_at = -1;
    local->tunables = domain_tunables(search->domain);
    for (int t = 0; t < local->tunables; t++)
        local->order[t] = t;
    local->points =
        mem_new((size_t)domain_hood_max(search->domain), sizeof(int));
    return local;
}

static void end(void *self)
{
    struct local *local = self;

    free(local->points);
    free(local);
}

/* The best point with a few tunables set to random levels; unseen and legal. */
static int kick(const struct local *local, struct method_search *search)
{
    const struct trials *trials = &search->trials;
    const uint16_t *best =
        domain_point(search->domain, trials->list[trials->best].point);

    for (int i = 0; i < KICKS_MAX; i++) {
        int changes = 2 + (int)prng_below(&search->prng, 3), point;
        uint16_t levels[DOMAIN_TUNABLES_MAX];

        for (int t = 0; t < local->tunables; t++)
            levels[t] = best[t];
        while (changes-- > 0) {
            int t = (int)prng_below(&search->prng, (uint64_t)local->tunables);
            int n = domain_tunable(search->domain, t)->levels;

            levels[t] = (uint16_t)prng_below(&search->prng, (uint64_t)n);
        }
        point = domain_find(search->domain, levels);
        if (point >= 0 && trials_state(trials, point) == TRIAL_UNSEEN)
            return point;
    }
    return trials_random_unseen(trials, &search->prng);
}

static int restart(struct local *local, struct method_search *search)
{
    bool afar = search->trials.best < 0 ||
                prng_below(&search->prng, RESTARTS_AFAR) == 0;

    local->start_at = afar
                          ? trials_random_unseen(&search->trials, &search->prng)
                          : kick(local, search);
    return local->start_at;
}

static void load_line(struct local *local, struct method_search *search)
{
    int at = search->trials.list[local->here].point;

    local->n = domain_line(search->domain, at, local->order[local->line],
                           local->points);
    prng_shuffle(&search->prng, local->points, (size_t)local->n);
    local->next = 0;
}

static void stand_on(struct local *local, struct method_search *search,
                     int trial)
{
    local->here = trial;
    local->idle = 0;
    local->line = 0;
    prng_shuffle(&search->prng, local->order, (size_t)local->tunables);
    load_line(local, search);
}

/* The line is complete: move to its best point, or to the next line.  False if
 * no line is left: this is a local optimum. */
static bool step(struct local *local, struct method_search *search)
{
    const struct trials *trials = &search->trials;
    int best = local->here;

    for (int i = 0; i < local->n; i++) {
        int trial = trials->of_point[local->points[i]];

        if (trials->list[trial].state == TRIAL_TIMED &&
            trials->list[trial].time < trials->list[best].time)
            best = trial;
    }
    local->idle = best == local->here ? local->idle + 1 : 1;
    local->here = best;
    if (local->idle >= local->tunables)
        return false;
    local->line = (local->line + 1) % local->tunables;
    load_line(local, search);
    return true;
}

static bool line_is_pending(const struct local *local,
                            const struct trials *trials)
{
    for (int i = 0; i < local->n; i++)
        if (trials_state(trials, local->points[i]) == TRIAL_PENDING)
            return true;
    return false;
}

/* Move to the start once it has an outcome; true if there is a current
 * trial. */
static bool arrive(struct local *local, struct method_search *search)
{
    const struct trials *trials = &search->trials;

    if (local->start_at >= 0 &&
        trials_state(trials, local->start_at) == TRIAL_TIMED)
        stand_on(local, search, trials->of_point[local->start_at]);
    else if (local->start_at < 0 && trials->best >= 0)
        stand_on(local, search, trials->best); /* the fastest of any method */
    return local->here >= 0;
}

static int ask(void *self, struct method_search *search)
{
    struct local *local = self;
    const struct trials *trials = &search->trials;

    if (local->here < 0 && !arrive(local, search)) {
        if (local->start_at >= 0 &&
            trials_state(trials, local->start_at) == TRIAL_PENDING)
            return trials_random_unseen(trials, &search->prng);
        return restart(local, search);
    }
    for (;;) {
        while (local->next < local->n) {
            int point = local->points[local->next++];

            if (trials_state(trials, point) == TRIAL_UNSEEN)
                return point;
        }
        if (line_is_pending(local, trials))
            return trials_random_unseen(trials, &search->prng);
        if (!step(local, search)) {
            local->here = -1;
            return restart(local, search);
        }
    }
}

/* The outcome of the current trial, or of one that was passed by, has changed:
 * every line must be tried again. */
static void tell(void *self, struct method_search *search, int i, bool again)
{
    struct local *local = self;

    (void)i;
    if (!again || local->here < 0)
        return;
    local->idle = 0;
    if (search->trials.list[local->here].state != TRIAL_TIMED)
        local->here = local->start_at = -1;
}

const struct method method_local = {
    .name = "local",
    .about = "iterated local search: the best of each line, then a kick",
    .learns = true,
    .start = start,
    .ask = ask,
    .tell = tell,
    .end = end,
};
