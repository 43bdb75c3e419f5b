#include "coordinator/search/trials.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/stats/prng.h"

void trials_init(struct trials *trials, const struct domain *domain)
{
    int size = domain_size(domain);

    *trials = (struct trials){ .domain = domain, .best = -1 };
    trials->of_point = mem_new((size_t)size, sizeof(int));
    trials->unseen = mem_new((size_t)size, sizeof(int));
    trials->place = mem_new((size_t)size, sizeof(int));
    trials->unseen_n = size;
    for (int i = 0; i < size; i++) {
        trials->of_point[i] = -1;
        trials->unseen[i] = trials->place[i] = i;
    }
}

void trials_fini(struct trials *trials)
{
    free(trials->list);
    free(trials->of_point);
    free(trials->unseen);
    free(trials->place);
}

enum trial_state trials_state(const struct trials *trials, int point)
{
    int i = trials->of_point[point];

    return i < 0 ? TRIAL_UNSEEN : trials->list[i].state;
}

static int enlist(struct trials *trials, int point)
{
    int last = trials->unseen[--trials->unseen_n];
    int place = trials->place[point];

    trials->unseen[place] = last;
    trials->place[last] = place;
    if (trials->n == trials->cap) {
        trials->cap = trials->cap ? 2 * trials->cap : 64;
        trials->list =
            mem_grow(trials->list, (size_t)trials->cap, sizeof(*trials->list));
    }
    trials->list[trials->n] =
        (struct trial){ .point = point, .state = TRIAL_PENDING };
    trials->pending++;
    return trials->of_point[point] = trials->n++;
}

void trials_begin(struct trials *trials, int point)
{
    assert(trials->of_point[point] < 0);
    enlist(trials, point);
}

static int *count_of(struct trials *trials, enum trial_state state)
{
    return state == TRIAL_PENDING  ? &trials->pending
           : state == TRIAL_TIMED  ? &trials->timed
           : state == TRIAL_FAILED ? &trials->failed
                                   : NULL;
}

static void find_best(struct trials *trials)
{
    trials->best = -1;
    for (int i = 0; i < trials->n; i++)
        if (trials->list[i].state == TRIAL_TIMED &&
            (trials->best < 0 ||
             trials->list[i].time < trials->list[trials->best].time))
            trials->best = i;
}

void trials_settle(struct trials *trials, int point, enum trial_state state,
                   double time)
{
    int i = trials->of_point[point];
    struct trial *trial;
    int *count;

    assert(state != TRIAL_UNSEEN && state != TRIAL_PENDING);
    assert(state != TRIAL_TIMED || time > 0);
    if (i < 0)
        i = enlist(trials, point);
    trial = &trials->list[i];
    count = count_of(trials, trial->state);
    if (count)
        --*count;
    count = count_of(trials, state);
    if (count)
        ++*count;
    trial->state = state;
    trial->time = time;
    if (i == trials->best)
        find_best(trials); /* the fastest may be slower now, or have failed */
    else if (state == TRIAL_TIMED &&
             (trials->best < 0 || time < trials->list[trials->best].time))
        trials->best = i;
}

int trials_random_unseen(const struct trials *trials, struct prng *prng)
{
    if (trials->unseen_n == 0)
        return -1;
    return trials->unseen[prng_below(prng, (uint64_t)trials->unseen_n)];
}

int trials_fastest(const struct trials *trials, int *out, int max)
{
    int n = 0;

    for (int i = 0; i < trials->n; i++) {
        int at;

        if (trials->list[i].state != TRIAL_TIMED)
            continue;
        if (n == max && trials->list[i].time >= trials->list[out[n - 1]].time)
            continue;
        at = n < max ? n++ : n - 1;
        while (at > 0 &&
               trials->list[out[at - 1]].time > trials->list[i].time) {
            out[at] = out[at - 1];
            at--;
        }
        out[at] = i;
    }
    return n;
}
