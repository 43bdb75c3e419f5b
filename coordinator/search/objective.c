#include "coordinator/search/objective.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

int objective_find(const char *text, const char *const *shapes, int n)
{
    if (strcmp(text, OBJECTIVE_HEADLINE) == 0)
        return 0;
    if (strcmp(text, OBJECTIVE_GEOMEAN) == 0)
        return n > 1 ? OBJECTIVE_ALL : 0;
    for (int i = 0; i < n; i++)
        if (strcmp(text, shapes[i]) == 0)
            return i;
    return OBJECTIVE_NONE;
}

enum objective_known objective_sum(int objective, const unsigned char *known,
                                   int n)
{
    bool open = false, lost = false;

    for (int i = 0; i < n; i++) {
        if (known[i] == OBJECTIVE_FAILED)
            return OBJECTIVE_FAILED;
        open = open || known[i] == OBJECTIVE_OPEN;
        lost = lost || (known[i] == OBJECTIVE_LOST &&
                        (objective == OBJECTIVE_ALL || objective == i));
    }
    if (open)
        return OBJECTIVE_OPEN;
    return lost ? OBJECTIVE_LOST : OBJECTIVE_TIMED;
}

double objective_time(int objective, const double *times, int n)
{
    double sum = 0;

    if (objective >= 0)
        return times[objective];
    for (int i = 0; i < n; i++)
        sum += log(times[i]);
    return exp(sum / n);
}
