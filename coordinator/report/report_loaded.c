#include "coordinator/report/report_loaded.h"

#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/winner.h"
#include "coordinator/costs/costs.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/report_objective.h"
#include "coordinator/result/report_where.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/store/sql.h"
#include "coordinator/store/store.h"

static int read_all(struct store *store, const char *where,
                    struct report_loaded *out, struct err *err)
{
    int rc = report_load(store, &out->report, err);

    if (rc == 0)
        (void)stored_spec_metrics(out->report, &out->no_metrics);
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
                                      .cost = out->cost,
                                      .conclusion = out->conclusion,
                                      .profiles = &out->profiles,
                                      .foreseen = &out->foreseen };
    if (lessons_load(out->report, store, &out->lessons, &out->no_lessons) == 0)
        out->view.lessons = &out->lessons;
    return 0;
}

int report_loaded_init(struct store *store, const char *where,
                       struct report_loaded *out, struct err *err)
{
    int rc = sql_run(store_db(store), "SAVEPOINT report", err);

    *out = (struct report_loaded){ 0 };
    if (rc < 0)
        return err_within(err, rc, "%s", store_path(store));
    return read_all(store, where, out, err);
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
        winner_confirm(loaded->report, loaded->conclusion, &winner);
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
    report_free(loaded->report);
}
