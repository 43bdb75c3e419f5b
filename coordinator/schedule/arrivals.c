#include "coordinator/schedule/arrivals.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/int64.h"
#include "common/mem.h"

struct step {
    bool asked;
    int64_t reached;  /* the furthest offset that was asked for, */
    int64_t asked_ns; /* and when */
};

struct arrivals {
    size_t files;
    struct step *steps; /* [hosts][files] */
    int64_t *told_ns;   /* [hosts]: two files at once take their time once */
};

struct arrivals *arrivals_new(size_t hosts, size_t files)
{
    struct arrivals *arrivals = mem_new(1, sizeof(*arrivals));

    arrivals->files = files;
    arrivals->steps = mem_new(hosts * files + 1, sizeof(*arrivals->steps));
    arrivals->told_ns = mem_new(hosts + 1, sizeof(*arrivals->told_ns));
    return arrivals;
}

void arrivals_free(struct arrivals *arrivals)
{
    if (!arrivals)
        return;
    free(arrivals->steps);
    free(arrivals->told_ns);
    free(arrivals);
}

int64_t arrivals_asked(struct arrivals *arrivals, size_t host, size_t file,
                       int64_t offset, int64_t now_ns)
{
    struct step *step = &arrivals->steps[host * arrivals->files + file];
    const struct step before = *step;
    int64_t since, most;

    if (before.asked && offset <= before.reached)
        return 0;
    *step = (struct step){ true, offset, now_ns };
    if (!before.asked)
        return 0;
    since = int64_max(before.asked_ns, arrivals->told_ns[host]);
    most = (offset - before.reached) * NS_PER_S / ARRIVALS_FLOOR;
    arrivals->told_ns[host] = now_ns;
    return int64_max(0, int64_min(now_ns - since, most));
}
