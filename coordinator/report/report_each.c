#include "coordinator/report/report_internal.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/survey/survey.h"

int report_each(const struct report_view *view, size_t most, report_each_fn *fn,
                void *arg, struct err *err)
{
    const struct report *report = view->report;
    size_t shown = 0;

    if (view->survey)
        return survey_each(view->survey, most, fn, arg, err);
    for (size_t i = 0; i < report->n_configs; i++) {
        if (!report->configs[i].selected || (most && shown == most))
            continue;
        fn(arg, report, &report->configs[i]);
        shown++;
    }
    return 0;
}
