#include "coordinator/result/report_rows.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/result/report.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"

int report_rows_each(struct report_rows *rows, const char *text,
                     const struct row_shape *shape, void *row,
                     report_rows_fn *fn, void *arg, struct err *err)
{
    struct row_query query;
    int rc =
        row_open(store_db(rows->store), text, shape, &query, err,
                 rows->keys ? "Is" : "I", rows->report->sweep.id, rows->keys);

    while (rc >= 0 && (rc = row_next(&query, row, err)) == 1)
        fn(arg, row);
    row_close(&query);
    return rc < 0 ? err_within(err, ERR_STORE, "%s", store_path(rows->store))
                  : 0;
}

void report_rows_fini(struct report_rows *rows)
{
    for (size_t i = 0; rows->measure_keys && i < rows->report->n_shapes; i++)
        free(rows->measure_keys[i]);
    free(rows->measure_keys);
    for (size_t i = 0; i < rows->n_names; i++) {
        free(rows->names[i].uuid);
        free(rows->names[i].name);
    }
    free(rows->names);
    report_refuted_fini(&rows->refuted);
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
