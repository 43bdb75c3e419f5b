/* trials.h - the points a search has asked for, and their outcomes
 *
 * A point goes from unseen to pending when it is handed out, and from there to
 * one outcome.  An unseen point may get an outcome directly: that is how the
 * results of an earlier run are told.
 * Pure; one thread.  The domain outlives it.
 */
#ifndef FA_COORDINATOR_SEARCH_TRIALS_H
#define FA_COORDINATOR_SEARCH_TRIALS_H

#include <stdbool.h>

struct domain;
struct prng;

enum trial_state {
    TRIAL_UNSEEN,
    TRIAL_PENDING,
    TRIAL_TIMED,
    TRIAL_FAILED, /* does not build, launch, finish or compute right */
    TRIAL_LOST,   /* no result, through no fault of the point */
};

struct trial {
    int point;
    enum trial_state state;
    double time; /* of a timed point, > 0, any unit */
};

struct trials {
    const struct domain *domain;
    struct trial *list; /* in the order they were handed out */
    int n, cap;
    int *of_point; /* [size] index in 'list', or -1 */
    int *unseen;   /* the points not in 'list', in no order ... */
    int *place;    /* ... and where each stands there */
    int unseen_n;
    int pending, timed, failed;
    int best; /* index of the fastest, or -1 */
};

void trials_init(struct trials *trials, const struct domain *domain);
void trials_fini(struct trials *trials);

enum trial_state trials_state(const struct trials *trials, int point);
/* The point must be unseen. */
void trials_begin(struct trials *trials, int point);
/* 'state' is an outcome.  A timed trial may get another time. */
void trials_settle(struct trials *trials, int point, enum trial_state state,
                   double time);

int trials_random_unseen(const struct trials *trials, struct prng *prng);

/* Indices of the timed trials, fastest first; at most 'max' of them. */
int trials_fastest(const struct trials *trials, int *out, int max);

#endif
