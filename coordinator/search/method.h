/* method.h - one way to search; private to the strategies
 *
 * A method reads everything that was ever asked and told from the trials, so it
 * can follow another method or a resumed run.  It keeps only what the trials do
 * not have.
 */
#ifndef FA_COORDINATOR_SEARCH_METHOD_H
#define FA_COORDINATOR_SEARCH_METHOD_H

#include <stdbool.h>

#include "coordinator/model/domain.h"
#include "coordinator/search/trials.h"
#include "coordinator/stats/prng.h"

struct method_search {
    const struct domain *domain;
    struct trials trials;
    struct prng prng;
    int left; /* evaluations this method may still ask for, >= 1 in ask() */
    const double *prior; /* of strategy_warm(), or NULL */
    int leaders;         /* of its points, asked for before the method began */
    int led_from;        /* index of the first of these trials */
};

#define METHOD_WAIT (-1)

struct method {
    const char *name;
    const char *about;
    bool learns; /* a pending point costs: it has taught nothing yet */
    void *(*start)(struct method_search *search);
    /* Choose an unseen point; there is at least one.  Or METHOD_WAIT, if it
     * needs a pending result to choose. */
    int (*ask)(void *self, struct method_search *search);
    /* Trial 'i' has an outcome; with 'again' it replaces an earlier one.  May
     * be NULL. */
    void (*tell)(void *self, struct method_search *search, int i, bool again);
    void (*end)(void *self);
};

extern const struct method method_exhaustive;
extern const struct method method_random;
extern const struct method method_lhs;
extern const struct method method_tpe;
extern const struct method method_local;
extern const struct method method_genetic;
extern const struct method method_bayes;
extern const struct method method_bayes_penalty;

/* n points by Latin hypercube: each tunable's levels are used evenly, as far as
 * the legal points allow.  All are different and unseen.  Returns how many were
 * found: n, or fewer if fewer are left. */
int method_lhs_sample(struct method_search *search, int n, int *out);
#define LHS_MAX 256

#endif
