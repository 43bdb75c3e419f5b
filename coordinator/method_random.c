/* Unseen points, each as likely. */
#include "coordinator/method.h"

static void *start(struct search *search)
{
    return search;
}

static int ask(void *self, struct search *search)
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
    .about = "points at random, none twice",
    .start = start,
    .ask = ask,
    .end = end,
};
