#include "coordinator/result/evidence.h"

#include <stdlib.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/stored_ready.h"

static int fault(const struct store *store, int rc, struct err *err)
{
    return err_within(err, rc, "%s", store_path(store));
}

#define ARTIFACT(member, kind) ROW_AT(struct evidence_artifact, member, kind)
static const struct row_column artifact_columns[] = {
    ARTIFACT(config, TEXT),
    ARTIFACT(source_key, TEXT),
    ARTIFACT(artifact, TEXT),
    ARTIFACT(received_utc, INT),
};
static const struct row_shape artifact_shape =
    ROW_SHAPE(NULL, artifact_columns);

int evidence_artifacts(struct store *store, evidence_artifact_fn *fn, void *arg,
                       struct err *err)
{
    static const char text[] =
        "SELECT config, source_key, artifact, received_utc FROM build"
        " WHERE purpose='kernel' AND outcome='built' AND artifact<>''";
    struct row_query query;
    struct evidence_artifact row;
    int rc = row_open(store_db(store), text, &artifact_shape, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, &row);
    row_close(&query);
    return fault(store, rc, err);
}

/* ---- builds */

/* The toolkit of the build's host (alias b) when it began. */
#define BUILT_WITH                                                     \
    " coalesce((SELECT z.toolkit FROM ready z WHERE z.host=b.host AND" \
    "  z.gpu='' AND z.at_utc<=b.received_utc-b.seconds*1e9"            \
    "  ORDER BY z.at_utc DESC LIMIT 1),"                               \
    " (SELECT h.toolkit FROM host h WHERE h.name=b.host))"

#define BUILD(member, kind) ROW_AT(struct evidence_build, member, kind)
static const struct row_column build_columns[] = {
    BUILD(outcome, TEXT), BUILD(detail, TEXT), BUILD(artifact, TEXT),
    BUILD(seconds, REAL), BUILD(cached, BOOL), BUILD(log, TEXT),
    BUILD(toolkit, TEXT),
};
static const struct row_shape build_shape = ROW_SHAPE(NULL, build_columns);

int evidence_builds_open(struct store *store, struct row_query **builds_out,
                         struct err *err)
{
    static const char text[] =
        "SELECT outcome, detail, artifact, seconds, cached, log," BUILT_WITH
        " AS toolkit FROM build b"
        " WHERE config = ? AND source_key = ? AND purpose = 'kernel'"
        " ORDER BY outcome = 'crash', received_utc DESC LIMIT 1";

    *builds_out = mem_new(1, sizeof(**builds_out));
    return fault(
        store,
        row_prepare(store_db(store), text, &build_shape, *builds_out, err),
        err);
}

int evidence_builds_find(struct row_query *builds, const char *config,
                         const char *source_key, struct evidence_build *out,
                         struct err *err)
{
    int rc = row_start(builds, err, "ss", config, source_key);

    return rc == 0 ? row_next(builds, out, err) : rc;
}

void evidence_builds_close(struct row_query *builds)
{
    if (builds)
        row_close(builds);
    free(builds);
}

/* ---- measurements */

#define ORIGIN(member, kind) ROW_AT(struct evidence_origin, member, kind)
static const struct row_column origin_columns[] = {
    ORIGIN(source_key, TEXT), ORIGIN(artifact, TEXT), ORIGIN(gpu, TEXT),
    ORIGIN(driver, TEXT),     ORIGIN(toolkit, TEXT),  ORIGIN(measured_utc, INT),
};
static const struct row_shape origin_shape = ROW_SHAPE(NULL, origin_columns);

int evidence_origin(struct store *store, const char *config, const char *nonce,
                    evidence_origin_fn *fn, void *arg, struct err *err)
{
    static const char text[] =
        "SELECT c.source_key, coalesce(r.artifact, (SELECT b.artifact"
        "  FROM build b WHERE b.config=c.key AND b.source_key=c.source_key"
        "  AND b.outcome='built' ORDER BY b.counted DESC, b.received_utc DESC"
        "  LIMIT 1)) AS artifact, g.name AS gpu,"
        " coalesce(y.driver, g.driver) AS driver,"
        " r.received_utc AS measured_utc,"
        " (SELECT" BUILT_WITH " FROM build b"
        "  WHERE b.config=c.key AND b.source_key=c.source_key"
        "  AND b.outcome='built' ORDER BY b.counted DESC, b.received_utc DESC"
        "  LIMIT 1) AS toolkit"
        " FROM config c LEFT JOIN result r ON r.nonce=?2"
        " LEFT JOIN gpu g ON g.uuid=r.gpu" STORED_READY " WHERE c.key=?1";
    struct row_query query;
    struct evidence_origin row;
    int rc = row_open(store_db(store), text, &origin_shape, &query, err, "ss",
                      config, nonce);

    if (rc == 0)
        rc = row_next(&query, &row, err);
    if (rc == 1)
        fn(arg, &row);
    row_close(&query);
    return fault(store, err_only(rc), err);
}

#define EXTERNAL(member, kind) ROW_AT(struct evidence_external, member, kind)
static const struct row_column external_columns[] = {
    EXTERNAL(shape, INT),    EXTERNAL(round, INT),   EXTERNAL(host, TEXT),
    EXTERNAL(outcome, TEXT), EXTERNAL(detail, TEXT), EXTERNAL(output, TEXT),
    EXTERNAL(seconds, REAL), EXTERNAL(name, TEXT),
};
static const struct row_shape external_shape =
    ROW_SHAPE(NULL, external_columns);

int evidence_externals(struct store *store, int64_t pass, int64_t first,
                       int64_t end, evidence_external_fn *fn, void *arg,
                       struct err *err)
{
    static const char text[] =
        "SELECT s.position AS shape, t.round, t.host, t.outcome, t.detail, "
        "t.output,"
        " t.seconds, t.name FROM tool t JOIN contest_shape s"
        " ON s.pass=?1 AND s.shape=t.shape WHERE t.purpose='external'"
        " AND t.round>?2 AND t.round<?3 AND (t.counted=1 OR"
        "  t.nonce=(SELECT o.nonce FROM tool o WHERE o.purpose=t.purpose AND"
        "   o.name=t.name AND o.round=t.round AND o.shape=t.shape AND"
        "   o.gpu=t.gpu ORDER BY o.counted DESC, o.attempt DESC LIMIT 1))"
        " ORDER BY t.name, t.round, s.position";
    struct row_query query;
    struct evidence_external row;
    int rc = row_open(store_db(store), text, &external_shape, &query, err,
                      "III", pass, first, end);

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        fn(arg, &row);
    row_close(&query);
    return fault(store, rc, err);
}

int evidence_newest_settled(struct store *store, int64_t *utc_out,
                            struct err *err)
{
    static const char text[] =
        "SELECT coalesce(max(o.settled_utc), 0) FROM outcome o JOIN config c"
        " ON c.key=o.config AND c.source_key=o.source_key"
        " WHERE c.sweep=(SELECT id FROM sweep ORDER BY created_utc DESC,"
        "  id DESC LIMIT 1)";

    return sql_number(store_db(store), text, utc_out, err, "");
}
