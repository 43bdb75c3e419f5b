#include "coordinator/result/report_objective.h"

#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/result/report.h"
#include "coordinator/search/objective.h"

int report_objective(const struct report *report)
{
    const char **names = mem_new(report->n_shapes + 1, sizeof(*names));
    int objective;

    for (size_t i = 0; i < report->n_shapes; i++)
        names[i] = report->shapes[i].name;
    objective =
        objective_find(report->search.objective, names, (int)report->n_shapes);
    free(names);
    return objective == OBJECTIVE_NONE ? 0 : objective;
}

const char *report_objective_name(const struct report *report, int objective)
{
    return objective == OBJECTIVE_ALL ? OBJECTIVE_GEOMEAN
                                      : report->shapes[objective].name;
}

double report_objective_time(const struct report *report,
                             const struct report_config *config, int objective)
{
    double *times = mem_new(report->n_shapes + 1, sizeof(*times)), time;

    for (size_t i = 0; i < report->n_shapes; i++)
        times[i] = config->cells[i].time_s;
    time = objective_time(objective, times, (int)report->n_shapes);
    free(times);
    return time;
}
