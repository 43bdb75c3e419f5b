#include "coordinator/result/report_rows.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/result/report.h"
#include "coordinator/store/sql.h"
#include "coordinator/store/store.h"

int report_rows_each(struct report_rows *rows, const char *text,
                     void (*row)(void *arg, struct sqlite3_stmt *stmt),
                     void *arg, struct err *err)
{
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(rows->store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "I", rows->report->sweep.id);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        row(arg, stmt);
    sql_free(stmt);
    return rc < 0 ? err_within(err, ERR_STORE, "%s", store_path(rows->store))
                  : 0;
}

void report_rows_fini(struct report_rows *rows)
{
    for (size_t i = 0; rows->measure_keys && i < rows->report->n_shapes; i++)
        free(rows->measure_keys[i]);
    free(rows->measure_keys);
}

static int by_key(const void *key, const void *config)
{
    return strcmp(key, ((const struct report_config *)config)->key);
}

int64_t report_rows_find(const struct report_rows *rows, const char *key)
{
    const struct report *report = rows->report;
    const struct report_config *config =
        report->n_configs ? bsearch(key, report->configs, report->n_configs,
                                    sizeof(*report->configs), by_key)
                          : NULL;

    return config ? config - report->configs : -1;
}
