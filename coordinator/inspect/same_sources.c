#include "coordinator/inspect/same_sources.h"

#include <string.h>

#include "common/err.h"
#include "coordinator/plan/plan.h"
#include "coordinator/replay/replay.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/spec.h"

static int compare(const struct report *report, const struct plan *plan,
                   struct err *err)
{
    for (int i = 0; i < plan_units(plan); i++) {
        const struct plan_unit *unit = plan_unit(plan, i);
        const struct report_config *was = report_find(report, unit->key);

        if (was && strcmp(was->source_key, unit->source_key) != 0)
            return err_set(err, ERR_INPUT,
                           "the sweep file, its sources or the device changed "
                           "since the sweep: run fa-coord sweep first");
    }
    return 0;
}

int same_sources_check(const struct report *report, const struct spec *spec,
                       const struct config_selection *choice, struct err *err)
{
    const struct plan_ask ask = { .choice = choice };
    struct gpu_arch_facts facts;
    struct space *space = NULL;
    struct plan *plan = NULL;
    int rc;

    if (strcmp(report->name, spec->name) != 0)
        return err_set(err, ERR_INPUT,
                       "the database holds the sweep '%.64s', not '%.64s'",
                       report->name, spec->name);
    rc = stored_spec_facts(report, &facts, err);
    if (rc == 0)
        rc = space_open(spec, &facts, report->device,
                        replay_points(spec->replay), &space, err);
    if (rc == 0)
        rc = plan_make(spec, space, &ask, report->device, report->arch, &plan,
                       err);
    if (rc == 0)
        rc = compare(report, plan, err);
    plan_free(plan);
    space_close(space);
    return rc;
}
