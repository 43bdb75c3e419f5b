#include "coordinator/winner.h"

#include <math.h>
#include <stddef.h>

#include "common/err.h"
#include "coordinator/conclusion.h"
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

void winner_confirm(const struct conclusion *conclusion, struct winner *winner)
{
    const struct conclusion_shape *headline = conclusion->shapes;
    size_t best = conclusion->best;

    if (conclusion->state != CONCLUSION_DONE || conclusion->emulated ||
        conclusion->n == 0)
        return;
    if (best == TIE_NONE || headline->findings[best].verdict != VERDICT_FAST)
        best = 0;
    if (!conclusion->entries[best].config)
        return;
    winner->config = conclusion->entries[best].config;
    winner->state = best == 0 ? "the baseline, which nothing was shown to beat"
                              : "confirmed";
    if (conclusion->n_shapes > 0 &&
        isfinite(headline->findings[best].time.hi)) {
        winner->low_s = headline->findings[best].time.lo;
        winner->high_s = headline->findings[best].time.hi;
    }
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
