#include "coordinator/stored/pass_rows.h"

#include <assert.h>
#include <string.h>

#include "coordinator/store/sql.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/stored_samples.h"

/* ---- columns by their names */

static int column(struct sqlite3_stmt *stmt, const char *name)
{
    int i = 0;

    for (; sql_column_name(stmt, i); i++)
        if (strcmp(sql_column_name(stmt, i), name) == 0)
            return i;
    assert(!"a column that the query does not have");
    return -1;
}

static const char *text_of(struct sqlite3_stmt *stmt, const char *name)
{
    return sql_text(stmt, column(stmt, name));
}

static int64_t int_of(struct sqlite3_stmt *stmt, const char *name)
{
    return sql_int(stmt, column(stmt, name));
}

/* The one number of a query over the rounds between two. */
static int number_between(struct store *store, const char *text, int64_t after,
                          int64_t before, int64_t *out, struct err *err)
{
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    *out = 0;
    if (rc == 0)
        rc = sql_start(stmt, err, "II", after, before);
    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc == 1)
        *out = int_of(stmt, "n");
    sql_free(stmt);
    return rc < 0 ? rc : 0;
}

/* ---- search */

int pass_rows_settled_configs(struct store *store, int64_t *out,
                              struct err *err)
{
    return sql_number(store_db(store),
                      "SELECT count(DISTINCT config) FROM outcome", out, err);
}

/* ---- canary */

int pass_rows_canaries(struct store *store, const struct store_outcome *key,
                       pass_rows_canary_fn *fn, void *arg, struct err *err)
{
    static const char text[] =
        "SELECT gpu, received_utc, samples FROM result WHERE counted=1"
        " AND purpose='canary' AND outcome='correct' AND config=?1"
        " AND shape=?2 AND source_key=?3 AND measure_key=?4"
        " ORDER BY received_utc";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "ssss", key->config, key->shape,
                       key->source_key, key->measure_key);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        fn(arg,
           &(struct pass_rows_canary){
               .gpu = text_of(stmt, "gpu"),
               .received_utc = int_of(stmt, "received_utc"),
               .median_s = stored_samples_median(text_of(stmt, "samples")) });
    sql_free(stmt);
    return rc;
}

int pass_rows_results(struct store *store, pass_rows_result_fn *fn, void *arg,
                      struct err *err)
{
    static const char text[] =
        "SELECT o.config AS config, o.shape AS shape,"
        " o.source_key AS source_key, o.measure_key AS measure_key,"
        " r.gpu AS gpu, r.round AS round, r.received_utc AS received_utc"
        " FROM outcome o JOIN result r ON r.nonce=o.nonce"
        " WHERE o.outcome='correct'";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        fn(arg, &(struct pass_rows_result){
                    .config = text_of(stmt, "config"),
                    .shape = text_of(stmt, "shape"),
                    .source_key = text_of(stmt, "source_key"),
                    .measure_key = text_of(stmt, "measure_key"),
                    .gpu = text_of(stmt, "gpu"),
                    .round = int_of(stmt, "round"),
                    .received_utc = int_of(stmt, "received_utc") });
    sql_free(stmt);
    return rc;
}

int pass_rows_rounds(struct store *store, pass_rows_round_fn *fn, void *arg,
                     struct err *err)
{
    static const char text[] =
        "SELECT config, shape, max(round) AS newest FROM lease"
        " WHERE stage='measure' AND purpose='screen' AND round>0"
        " GROUP BY config, shape";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        fn(arg, &(struct pass_rows_round){ .config = text_of(stmt, "config"),
                                           .shape = text_of(stmt, "shape"),
                                           .round = int_of(stmt, "newest") });
    sql_free(stmt);
    return rc;
}

int pass_rows_canary_round(struct store *store, int64_t *out, struct err *err)
{
    return sql_number(store_db(store),
                      "SELECT coalesce(max(round)+1, 0) FROM lease"
                      " WHERE purpose='canary'",
                      out, err);
}

int pass_rows_quarantined(struct store *store, int64_t since_utc,
                          pass_rows_text_fn *fn, void *arg, struct err *err)
{
    static const char text[] =
        "SELECT g.uuid AS uuid FROM event e, gpu g"
        " WHERE e.name='GPU-QUARANTINED'"
        " AND instr(e.text, g.uuid||': ')=1 AND e.at_utc>=?1";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "I", since_utc);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        fn(arg, text_of(stmt, "uuid"));
    sql_free(stmt);
    return rc;
}

/* ---- confirmation */

int pass_rows_external_blocks(struct store *store, int64_t after,
                              int64_t before, int64_t *out, struct err *err)
{
    return number_between(store,
                          "SELECT count(DISTINCT round) AS n FROM tool"
                          " WHERE purpose='external' AND counted=1"
                          " AND outcome='ran' AND round>?1 AND round<?2",
                          after, before, out, err);
}

int pass_rows_external_failures(struct store *store, int64_t after,
                                int64_t before, pass_rows_text_fn *fn,
                                void *arg, struct err *err)
{
    static const char text[] =
        "SELECT DISTINCT host FROM tool WHERE purpose='external'"
        " AND counted=1 AND outcome<>'ran' AND round>?1 AND round<?2";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "II", after, before);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        fn(arg, text_of(stmt, "host"));
    sql_free(stmt);
    return rc;
}

/* ---- profile */

int pass_rows_profile_round(struct store *store, int64_t *out, struct err *err)
{
    return sql_number(store_db(store),
                      "SELECT coalesce(max(round), 0) FROM tool"
                      " WHERE purpose='profile'",
                      out, err);
}
