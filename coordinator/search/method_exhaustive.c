/* Every point, in the order of the domain. */
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/search/method.h"

static void *start(struct method_search *search)
{
    (void)search;
    return mem_new(1, sizeof(int));
}

static int ask(void *self, struct method_search *search)
{
    int *next = self;

    while (trials_state(&search->trials, *next) != TRIAL_UNSEEN)
        ++*next;
    return *next;
}

const struct method method_exhaustive = {
    .name = "exhaustive",
    .about = "every configuration, in order; those with a warning last",
    .start = start,
    .ask = ask,
    .end = free,
};
