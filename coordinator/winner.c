#include "coordinator/winner.h"

#include <math.h>
#include <stddef.h>

#include "common/err.h"
#include "coordinator/explain.h"
#include "coordinator/report.h"
#include "coordinator/space.h"
#include "coordinator/stored.h"

static void fill(const struct report_config *config, struct winner *out)
{
    *out = (struct winner){ .config = config,
                            .state = "measured, not confirmed",
                            .low_s = (double)NAN,
                            .high_s = (double)NAN };
}

int winner_find(const struct report *report, struct winner *out,
                struct err *err)
{
    if (report->n_configs == 0 || report->configs[0].rank == 0) {
        err_set(err, 0,
                "the sweep '%s' has no winner: none of its %zu configurations "
                "is correct for every shape so far; 'fa-coord report' tells "
                "more",
                report->name, report->n_configs);
        return WINNER_NONE;
    }
    fill(&report->configs[0], out);
    return 0;
}

static int no_time(const struct report_config *config, const char *text,
                   struct err *err)
{
    return err_set(
        err, ERR_INPUT,
        "%s has no valid time: %s%s%s; 'fa-coord explain' tells more", text,
        report_outcome_name(config->outcome), *config->reason ? ", " : "",
        config->reason);
}

int winner_named(const struct report *report, struct stored *stored,
                 const char *which, struct winner *out, struct err *err)
{
    struct explain found;
    int rc = explain_find(report, stored, which, &found, err);

    if (rc < 0)
        return rc;
    if (found.config && found.config->rank) {
        fill(found.config, out);
    } else if (found.config && found.config->outcome == REPORT_PENDING) {
        fill(found.config, out);
        out->state = "not measured";
    } else if (found.config)
        rc = no_time(found.config, found.text, err);
    else if (found.rejected_by != SPACE_PASSES)
        rc = err_set(err, ERR_INPUT, "gate '%s' rejects %s",
                     stored->spec->gates[found.rejected_by].name, found.text);
    else
        rc = err_set(err, ERR_INPUT, "%s is no configuration of this sweep",
                     found.text);
    explain_fini(&found);
    return rc;
}
