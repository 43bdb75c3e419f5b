#include "coordinator/stored/pass_rows.h"

#include <stddef.h>

#include "common/err.h"
#include "coordinator/sql/row.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/stored_samples.h"

/* ---- a query of one text a row */

struct text_row {
    const char *text;
};

static const struct row_column text_columns[] = { ROW_AT(struct text_row, text,
                                                         TEXT) };
static const struct row_shape text_shape = ROW_SHAPE(NULL, text_columns);

/* Tell each, and end the query. */
static int tell_texts(struct row_query *query, int rc, pass_rows_text_fn *fn,
                      void *arg, struct err *err)
{
    struct text_row row;

    while (rc >= 0 && (rc = row_next(query, &row, err)) == 1)
        fn(arg, row.text);
    row_close(query);
    return rc;
}

/* ---- search */

int pass_rows_settled_configs(struct store *store, int64_t *out,
                              struct err *err)
{
    return sql_number(store_db(store),
                      "SELECT count(DISTINCT config) FROM outcome", out, err,
                      "");
}

/* ---- canary */

struct canary_row {
    const char *gpu, *samples;
    int64_t received_utc;
};

static const struct row_column canary_columns[] = {
    ROW_AT(struct canary_row, gpu, TEXT),
    ROW_AT(struct canary_row, samples, TEXT),
    ROW_AT(struct canary_row, received_utc, INT),
};
static const struct row_shape canary_shape = ROW_SHAPE(NULL, canary_columns);

int pass_rows_canaries(struct store *store, const struct store_outcome *key,
                       pass_rows_canary_fn *fn, void *arg, struct err *err)
{
    static const char text[] =
        "SELECT gpu, received_utc, samples FROM result WHERE counted=1"
        " AND purpose='canary' AND outcome='correct' AND config=?1"
        " AND shape=?2 AND source_key=?3 AND measure_key=?4"
        " ORDER BY received_utc";
    struct row_query query;
    struct canary_row row;
    int rc =
        row_open(store_db(store), text, &canary_shape, &query, err, "ssss",
                 key->config, key->shape, key->source_key, key->measure_key);

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, &(struct pass_rows_canary){
                    .gpu = row.gpu,
                    .received_utc = row.received_utc,
                    .median_s = stored_samples_median(row.samples) });
    row_close(&query);
    return rc;
}

#define RESULT(member, kind) ROW_AT(struct pass_rows_result, member, kind)

static const struct row_column result_columns[] = {
    RESULT(config, TEXT),      RESULT(shape, TEXT), RESULT(source_key, TEXT),
    RESULT(measure_key, TEXT), RESULT(gpu, TEXT),   RESULT(round, INT),
    RESULT(received_utc, INT),
};
static const struct row_shape result_shape = ROW_SHAPE(NULL, result_columns);

int pass_rows_results(struct store *store, pass_rows_result_fn *fn, void *arg,
                      struct err *err)
{
    static const char text[] =
        "SELECT o.config AS config, o.shape AS shape,"
        " o.source_key AS source_key, o.measure_key AS measure_key,"
        " r.gpu AS gpu, r.round AS round, r.received_utc AS received_utc"
        " FROM outcome o JOIN result r ON r.nonce=o.nonce"
        " WHERE o.outcome='correct'";
    struct row_query query;
    struct pass_rows_result row;
    int rc = row_open(store_db(store), text, &result_shape, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, &row);
    row_close(&query);
    return rc;
}

static const struct row_column round_columns[] = {
    ROW_AT(struct pass_rows_round, config, TEXT),
    ROW_AT(struct pass_rows_round, shape, TEXT),
    ROW_AT(struct pass_rows_round, round, INT),
};
static const struct row_shape round_shape = ROW_SHAPE(NULL, round_columns);

int pass_rows_rounds(struct store *store, pass_rows_round_fn *fn, void *arg,
                     struct err *err)
{
    static const char text[] =
        "SELECT config, shape, max(round) AS round FROM lease"
        " WHERE stage='measure' AND purpose='screen' AND round>0"
        " GROUP BY config, shape";
    struct row_query query;
    struct pass_rows_round row;
    int rc = row_open(store_db(store), text, &round_shape, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, &row);
    row_close(&query);
    return rc;
}

int pass_rows_canary_round(struct store *store, int64_t *out, struct err *err)
{
    return sql_number(store_db(store),
                      "SELECT coalesce(max(round)+1, 0) FROM lease"
                      " WHERE purpose='canary'",
                      out, err, "");
}

int pass_rows_quarantined(struct store *store, int64_t since_utc,
                          pass_rows_text_fn *fn, void *arg, struct err *err)
{
    static const char text[] =
        "SELECT g.uuid AS text FROM event e, gpu g"
        " WHERE e.name='GPU-QUARANTINED'"
        " AND instr(e.text, g.uuid||': ')=1 AND e.at_utc>=?1";
    struct row_query query;
    int rc = row_open(store_db(store), text, &text_shape, &query, err, "I",
                      since_utc);

    return tell_texts(&query, rc, fn, arg, err);
}

/* ---- confirmation */

int pass_rows_external_blocks(struct store *store,
                              const struct pass_rows_externals *which,
                              int64_t *out, struct err *err)
{
    static const char text[] =
        "SELECT count(DISTINCT round) FROM tool WHERE purpose='external'"
        " AND counted=1 AND outcome='ran' AND name=?1 AND round>?2"
        " AND round<?3";

    return sql_number(store_db(store), text, out, err, "sII", which->name,
                      which->after, which->before);
}

int pass_rows_external_failures(struct store *store,
                                const struct pass_rows_externals *which,
                                pass_rows_text_fn *fn, void *arg,
                                struct err *err)
{
    static const char text[] =
        "SELECT DISTINCT host AS text FROM tool WHERE purpose='external'"
        " AND counted=1 AND outcome<>'ran' AND name=?1 AND round>?2"
        " AND round<?3";
    struct row_query query;
    int rc = row_open(store_db(store), text, &text_shape, &query, err, "sII",
                      which->name, which->after, which->before);

    return tell_texts(&query, rc, fn, arg, err);
}

/* ---- profile */

int pass_rows_profile_round(struct store *store, int64_t from, int64_t before,
                            int64_t *out, struct err *err)
{
    return sql_number(store_db(store),
                      "SELECT coalesce(max(round), ?1 - 1) FROM tool"
                      " WHERE purpose='profile' AND round>=?1 AND round<?2",
                      out, err, "II", from, before);
}
