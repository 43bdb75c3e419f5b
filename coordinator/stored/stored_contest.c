#include "coordinator/stored/stored_contest.h"

#include <string.h>

#include "common/err.h"
#include "common/outcome.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_contest.h"

static int fault(const struct store *store, int rc, struct err *err)
{
    return err_within(err, rc, "%s", store_path(store));
}

int stored_contest_last(struct store *store, int64_t *pass_out, struct err *err)
{
    return sql_number(store_db(store),
                      "SELECT coalesce(max(pass), 0) FROM contest", pass_out,
                      err, "");
}

struct source_row {
    char source_key[HASH_HEX];
};

static const struct row_column source_columns[] = {
    ROW_AT(struct source_row, source_key, CHARS),
};
static const struct row_shape source_shape = ROW_SHAPE(NULL, source_columns);

int stored_contest_source(struct store *store, const char *config,
                          char source_key_out[HASH_HEX], struct err *err)
{
    struct source_row row;
    int rc =
        row_first(store_db(store), "SELECT source_key FROM config WHERE key=?",
                  &source_shape, &row, err, "s", config);

    if (rc == 1)
        memcpy(source_key_out, row.source_key, sizeof(row.source_key));
    return fault(store, rc, err);
}

int stored_contest_find(struct store *store, int64_t sweep, const char *kind,
                        int64_t pass, stored_contest_fn *fn, void *arg,
                        struct err *err)
{
    static const char text[] =
        "SELECT pass, sweep, kind, seed, blocks, samples, alpha, floor,"
        " target, possible, cut, proof_hours, proof_usd, started_utc,"
        " ended_utc, ending, against, look_blocks, most_blocks, look_over_all"
        " FROM contest WHERE sweep=?1 AND kind=?2 AND (?3=0 OR pass=?3)"
        " ORDER BY pass DESC LIMIT 1";
    struct row_query query;
    struct store_contest row;
    int rc = row_open(store_db(store), text, &store_rows_contest, &query, err,
                      "IsI", sweep, kind, pass);

    if (rc == 0)
        rc = row_next(&query, &row, err);
    if (rc == 1)
        fn(arg, &row);
    row_close(&query);
    return fault(store, rc, err);
}

int stored_contest_entries(struct store *store, int64_t pass,
                           stored_contest_entry_fn *fn, void *arg,
                           struct err *err)
{
    static const char text[] =
        "SELECT pass, position, config, source_key, role, reason,"
        " proof_launches, proof_varied"
        " FROM contestant WHERE pass=? ORDER BY position";
    struct row_query query;
    struct store_contestant row;
    int rc = row_open(store_db(store), text, &store_rows_contestant, &query,
                      err, "I", pass);

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, &row);
    row_close(&query);
    return fault(store, rc, err);
}

int stored_contest_shapes(struct store *store, int64_t pass,
                          stored_contest_shape_fn *fn, void *arg,
                          struct err *err)
{
    static const char text[] = "SELECT pass, position, shape, measure_key"
                               " FROM contest_shape WHERE pass=?"
                               " ORDER BY position";
    struct row_query query;
    struct store_contest_shape row;
    int rc = row_open(store_db(store), text, &store_rows_contest_shape, &query,
                      err, "I", pass);

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, &row);
    row_close(&query);
    return fault(store, rc, err);
}

#define RESULT(member, kind) ROW_AT(struct stored_contest_result, member, kind)
static const struct row_column result_columns[] = {
    RESULT(entry, INT),    RESULT(shape, INT),     RESULT(round, INT),
    RESULT(gpu, TEXT),     RESULT(outcome, TEXT),  RESULT(detail, TEXT),
    RESULT(samples, TEXT), RESULT(artifact, TEXT), RESULT(checked, COUNT),
    RESULT(varied, COUNT),
};
static const struct row_shape result_shape = ROW_SHAPE(NULL, result_columns);

int stored_contest_results(struct store *store, int64_t pass, int64_t first,
                           int64_t end, stored_contest_result_fn *fn, void *arg,
                           struct err *err)
{
    static const char text[] =
        "SELECT c.position AS entry, s.position AS shape, r.round, r.gpu,"
        " r.outcome, r.detail, r.samples, r.artifact, r.checked, r.varied"
        " FROM contestant c JOIN contest_shape s ON s.pass=c.pass"
        " JOIN result r ON r.config=c.config AND r.shape=s.shape"
        " AND r.purpose='confirm' AND r.round>?2 AND r.round<?3"
        " AND r.source_key=c.source_key AND r.measure_key=s.measure_key"
        " AND r.counted=1 WHERE c.pass=?1 ORDER BY r.round";
    struct row_query query;
    struct stored_contest_result row;
    int rc = row_open(store_db(store), text, &result_shape, &query, err, "III",
                      pass, first, end);

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, &row);
    row_close(&query);
    return fault(store, rc, err);
}

struct unjudged {
    int64_t entry;
};

static const struct row_column unjudged_columns[] = {
    ROW_AT(struct unjudged, entry, INT),
};
static const struct row_shape unjudged_shape =
    ROW_SHAPE(NULL, unjudged_columns);

int stored_contest_unjudged(struct store *store, int64_t pass,
                            void (*fn)(void *arg, int64_t entry), void *arg,
                            struct err *err)
{
    static const char text[] =
        "SELECT c.position AS entry FROM contestant c WHERE c.pass=? AND EXISTS"
        " (SELECT 1 FROM result r WHERE r.config=c.config"
        "  AND r.source_key=c.source_key AND r.outcome='correct'"
        "  AND r.counted=1 AND instr(r.detail, '" OUTCOME_UNJUDGED "') > 0)"
        " ORDER BY c.position";
    struct row_query query;
    struct unjudged row;
    int rc = row_open(store_db(store), text, &unjudged_shape, &query, err, "I",
                      pass);

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, row.entry);
    row_close(&query);
    return fault(store, rc, err);
}

#define OUTPUT(member, kind) ROW_AT(struct stored_contest_output, member, kind)
static const struct row_column output_columns[] = {
    OUTPUT(shape, INT),   OUTPUT(round, INT),    OUTPUT(gpu, TEXT),
    OUTPUT(output, TEXT), OUTPUT(seconds, REAL),
};
static const struct row_shape output_shape = ROW_SHAPE(NULL, output_columns);

int stored_contest_outputs(struct store *store, const char *name, int64_t pass,
                           int64_t first, int64_t end,
                           stored_contest_output_fn *fn, void *arg,
                           struct err *err)
{
    static const char text[] =
        "SELECT s.position AS shape, t.round, t.gpu, t.output, t.seconds"
        " FROM tool t JOIN contest_shape s ON s.pass=?1 AND s.shape=t.shape"
        " WHERE t.purpose='external' AND t.name=?2 AND t.outcome='ran'"
        " AND t.round>?3 AND t.round<?4 AND (t.counted=1 OR"
        "  t.nonce=(SELECT o.nonce FROM tool o WHERE o.purpose=t.purpose AND"
        "   o.name=t.name AND o.round=t.round AND o.shape=t.shape AND"
        "   o.gpu=t.gpu ORDER BY o.counted DESC, o.attempt DESC LIMIT 1))"
        " ORDER BY t.round, s.position";
    struct row_query query;
    struct stored_contest_output row;
    int rc = row_open(store_db(store), text, &output_shape, &query, err, "IsII",
                      pass, name, first, end);

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, &row);
    row_close(&query);
    return fault(store, rc, err);
}
