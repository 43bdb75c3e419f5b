#include "coordinator/conclusion/winner.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/inspect/explain.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/report_objective.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/space/space.h"
#include "coordinator/text/suggest.h"

static void fill(const struct report_config *config, const char *shape, int at,
                 struct winner *out)
{
    *out = (struct winner){ .config = config,
                            .shape = shape,
                            .at = at,
                            .state = "measured, not confirmed",
                            .low_s = (double)NAN,
                            .high_s = (double)NAN };
}

static const struct report_config *fastest_at(const struct report *report,
                                              int shape)
{
    const struct report_config *fastest = NULL;
    double least = INFINITY;

    for (size_t i = 0; i < report->n_configs && report->configs[i].rank; i++) {
        const struct report_config *config = &report->configs[i];
        double time = report_objective_time(report, config, shape);

        if (time < least) {
            fastest = config;
            least = time;
        }
    }
    return fastest;
}

int winner_find(const struct report *report, int shape, struct winner *out,
                struct err *err)
{
    if (report->n_configs == 0 || report->configs[0].rank == 0) {
        err_set(err, 0,
                "the sweep '%s' has no winner: none of its %zu configurations "
                "is correct for every shape so far; see 'fa-coord report'",
                report->name, report->counts.asked);
        return WINNER_NONE;
    }
    fill(fastest_at(report, shape), report_objective_name(report, shape), shape,
         out);
    return 0;
}

static const struct conclusion_shape *find_shape(const struct conclusion *c,
                                                 const char *name)
{
    for (size_t i = 0; i < c->n_shapes; i++)
        if (strcmp(c->shapes[i].name, name) == 0)
            return &c->shapes[i];
    return NULL;
}

void winner_confirm(const struct conclusion *conclusion, struct winner *winner)
{
    const struct conclusion_shape *shape =
        find_shape(conclusion, winner->shape);
    size_t best;

    if (conclusion->state != CONCLUSION_DONE || conclusion->emulated || !shape)
        return;
    best = shape->best;
    if (best == BEST_SET_NONE || shape->findings[best].verdict != VERDICT_FAST)
        best = 0;
    if (!conclusion->entries[best].config)
        return;
    winner->config = conclusion->entries[best].config;
    winner->state = best == 0
                        ? "the baseline, because nothing was shown to beat it"
                        : "confirmed";
    if (isfinite(shape->findings[best].time.hi)) {
        winner->low_s = shape->findings[best].time.lo;
        winner->high_s = shape->findings[best].time.hi;
    }
}

int winner_shape(const struct report *report, const char *name, size_t *out,
                 struct err *err)
{
    const char **names, *near;

    if (report_find_shape(report, name, out))
        return 0;
    names = mem_new(report->n_shapes + 1, sizeof(*names));
    for (size_t i = 0; i < report->n_shapes; i++)
        names[i] = report->shapes[i].name;
    near = suggest_name(name, strlen(name), names, report->n_shapes);
    free(names);
    return err_set(err, ERR_INPUT,
                   "--shape: there is no shape '%.64s' in the sweep%s%s%s",
                   name, near ? "; did you mean '" : "", near ? near : "",
                   near ? "'?" : "");
}

int winner_load(struct store *store, const struct report *report,
                const char *shape, struct winner *out, struct err *err)
{
    struct conclusion *conclusion = NULL;
    struct report_cost *cost = NULL;
    size_t at = 0;
    int rc = shape ? winner_shape(report, shape, &at, err) : 0;

    if (rc == 0)
        rc = winner_find(report, shape ? (int)at : report_objective(report),
                         out, err);
    if (rc == 0)
        rc = report_cost_load(store, &cost, err);
    if (rc == 0)
        rc = conclusion_load(store, report, cost, CONFIRMATION_CONFIRM,
                             &conclusion, err);
    if (rc == 0)
        winner_confirm(conclusion, out);
    conclusion_free(conclusion);
    report_cost_free(cost);
    return rc;
}

static int no_time(const struct report_config *config, const char *text,
                   struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "%s has no valid time: %s%s%s; see 'fa-coord explain'", text,
                   outcome_name(config->outcome), *config->reason ? ", " : "",
                   config->reason);
}

int winner_named(const struct report *report, struct stored_spec *stored,
                 const char *which, struct winner *out, struct err *err)
{
    struct explain found;
    int rc = explain_find(report, stored, which, &found, err);

    if (rc < 0)
        return rc;
    if (found.config && found.config->rank) {
        fill(found.config, NULL, 0, out);
    } else if (found.config && found.config->outcome == OUTCOME_PENDING) {
        fill(found.config, NULL, 0, out);
        out->state = "not measured";
    } else if (found.config)
        rc = no_time(found.config, found.text, err);
    else if (found.rejected_by != SPACE_PASSES)
        rc = err_set(err, ERR_INPUT, "gate '%s' rejects %s",
                     stored->spec->space.gates[found.rejected_by].name,
                     found.text);
    else
        rc = err_set(err, ERR_INPUT,
                     "%.96s is not a configuration of this sweep%s%s",
                     found.text, found.odd.text[0] ? ": " : "", found.odd.text);
    explain_fini(&found);
    return rc;
}
