#include "coordinator/report/report_loaded.h"

#include <stdbool.h>

#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/winner.h"
#include "coordinator/confirm/confirmation.h"
#include "coordinator/costs/costs.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/report_objective.h"
#include "coordinator/result/report_where.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "coordinator/survey/survey.h"

#define TOP_MAX 10000 /* rows of the ranking from a survey */

static void want(void *survey, const char *key)
{
    survey_want(survey, key);
}

/* What the verdict and the profiles name is in the report, too. */
static int keep(struct store *store, struct survey *survey, size_t top,
                struct err *err)
{
    struct confirmation confirmation = { .n = 0 };
    int rc = confirmation_load(store, survey_report(survey)->sweep.id,
                               CONFIRMATION_CONFIRM, 0, &confirmation, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < confirmation.n; i++)
        survey_want(survey, confirmation.candidates[i].key);
    confirmation_fini(&confirmation);
    rc = profile_keys(store, want, survey, err);
    return rc == 0 ? survey_keep(survey, top, err) : rc;
}

/* SURVEY_UNFIT if all of it must be read. */
static int survey_all(struct store *store, size_t top,
                      struct report_loaded *out, struct err *err)
{
    int rc = survey_open(store, &out->survey, err);

    if (rc == 0)
        rc = keep(store, out->survey, top, err);
    if (rc != 0)
        return rc;
    out->report = survey_report(out->survey);
    (void)survey_metrics(out->survey, &out->no_metrics);
    return 0;
}

static int read_report(struct store *store, const struct report_wanted *wanted,
                       struct report_loaded *out, struct err *err)
{
    bool whole = wanted->whole || wanted->where || wanted->top > TOP_MAX;
    int rc = whole ? SURVEY_UNFIT : survey_all(store, wanted->top, out, err);

    if (rc == SURVEY_UNFIT) {
        rc = report_load(store, &out->report, err);
        if (rc == 0)
            (void)stored_spec_metrics(out->report, &out->no_metrics);
    }
    return rc;
}

static int read_all(struct store *store, const struct report_wanted *wanted,
                    struct report_loaded *out, struct err *err)
{
    const char *where = wanted->where;
    int rc = read_report(store, wanted, out, err);

    if (rc == 0)
        rc = report_cost_load(store, &out->cost, err);
    if (rc == 0)
        rc = conclusion_load(store, out->report, out->cost,
                             CONFIRMATION_CONFIRM, &out->conclusion, err);
    if (rc == 0)
        rc = profile_load(store, out->report, &out->profiles, err);
    if (rc == 0)
        rc = foreseen_load(store, &out->foreseen, err);
    if (rc == 0 && where)
        rc = report_where(out->report, where, err);
    if (rc == 0 && where)
        report_where_remark(out->report, where, &out->no_match);
    if (rc < 0)
        return rc;
    out->view = (struct report_view){ .report = out->report,
                                      .survey = out->survey,
                                      .cost = out->cost,
                                      .conclusion = out->conclusion,
                                      .profiles = &out->profiles,
                                      .foreseen = &out->foreseen };
    if (lessons_load(out->report, out->survey, store, &out->lessons,
                     &out->no_lessons) == 0)
        out->view.lessons = &out->lessons;
    return 0;
}

int report_loaded_init(struct store *store, const struct report_wanted *wanted,
                       struct report_loaded *out, struct err *err)
{
    int rc = sql_run(store_db(store), "SAVEPOINT report", err);

    *out = (struct report_loaded){ 0 };
    if (rc < 0)
        return err_within(err, rc, "%s", store_path(store));
    return read_all(store, wanted, out, err);
}

int report_loaded_costs(struct store *store, struct report_loaded *loaded,
                        struct err *err)
{
    struct winner winner = { 0 };
    struct err none;
    int rc,
        found = winner_find(loaded->report, report_objective(loaded->report),
                            &winner, &none);

    if (found == 0)
        winner_confirm(loaded->conclusion, &winner);
    rc = costs_load(store, loaded->cost, found == 0 ? winner.config->key : NULL,
                    &loaded->costs, err);
    loaded->view.costs = loaded->costs;
    return rc;
}

void report_loaded_fini(struct report_loaded *loaded)
{
    foreseen_fini(&loaded->foreseen);
    profile_fini(&loaded->profiles);
    lessons_fini(&loaded->lessons);
    conclusion_free(loaded->conclusion);
    costs_free(loaded->costs);
    report_cost_free(loaded->cost);
    if (loaded->survey)
        survey_close(loaded->survey);
    else
        report_free(loaded->report);
}
