/* Unseen points, all equally likely. */
#include "coordinator/search/method.h"

static void *start(struct method_search *search)
{
    return search;
}

static int ask(void *self, struct method_search *search)
{
    (void)self;
    return trials_random_unseen(&search->trials, &search->prng);
}

static void end(void *self)
{
    (void)self;
}

const struct method method_random = {
    .name = "random",
    .about = "random configurations, none twice",
    .start = start,
    .ask = ask,
    .end = end,
};
