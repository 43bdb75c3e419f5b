#include "coordinator/result/evidence.h"

#include "common/err.h"
#include "coordinator/store/sql.h"
#include "coordinator/store/store.h"

static int fault(const struct store *store, int rc, struct err *err)
{
    return rc < 0 ? err_within(err, ERR_STORE, "%s", store_path(store)) : rc;
}

int evidence_artifacts(struct store *store, evidence_artifact_fn *fn, void *arg,
                       struct err *err)
{
    static const char text[] =
        "SELECT config, source_key, artifact, received_utc FROM build"
        " WHERE purpose='kernel' AND outcome='built' AND artifact<>''";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        fn(arg,
           &(struct evidence_artifact){ sql_text(stmt, 0), sql_text(stmt, 1),
                                        sql_text(stmt, 2), sql_int(stmt, 3) });
    sql_free(stmt);
    return fault(store, rc, err);
}

/* ---- builds */

int evidence_builds_open(struct store *store, struct sqlite3_stmt **builds_out,
                         struct err *err)
{
    static const char text[] =
        "SELECT outcome, detail, artifact, seconds, cached, log,"
        " (SELECT toolkit FROM host WHERE name = b.host) FROM build b"
        " WHERE config = ? AND source_key = ? AND purpose = 'kernel'"
        " ORDER BY outcome = 'crash', received_utc DESC LIMIT 1";

    return fault(store, sql_prepare(store_db(store), text, builds_out, err),
                 err);
}

int evidence_builds_find(struct sqlite3_stmt *builds, const char *config,
                         const char *source_key, struct evidence_build *out,
                         struct err *err)
{
    int rc;

    sql_reset(builds);
    rc = sql_start(builds, err, "ss", config, source_key);
    if (rc == 0)
        rc = sql_step(builds, err);
    if (rc == 1)
        *out = (struct evidence_build){
            .outcome = sql_text(builds, 0),
            .detail = sql_text(builds, 1),
            .artifact = sql_text(builds, 2),
            .seconds = sql_real(builds, 3),
            .cached = sql_int(builds, 4) != 0,
            .log = sql_text(builds, 5),
            .toolkit = sql_text(builds, 6),
        };
    return rc;
}

void evidence_builds_close(struct sqlite3_stmt *builds)
{
    sql_free(builds);
}

/* ---- measurements */

int evidence_origin(struct store *store, const char *config, const char *nonce,
                    evidence_origin_fn *fn, void *arg, struct err *err)
{
    static const char text[] =
        "SELECT c.source_key, r.artifact, g.name, g.driver, r.received_utc,"
        " (SELECT h.toolkit FROM build b JOIN host h ON h.name=b.host"
        "  WHERE b.config=c.key AND b.source_key=c.source_key"
        "  AND b.outcome='built' ORDER BY b.counted DESC, b.received_utc DESC"
        "  LIMIT 1)"
        " FROM config c LEFT JOIN result r ON r.nonce=?2"
        " LEFT JOIN gpu g ON g.uuid=r.gpu WHERE c.key=?1";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "ss", config, nonce);
    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc == 1)
        fn(arg, &(struct evidence_origin){
                    .source_key = sql_text(stmt, 0),
                    .artifact = sql_text(stmt, 1),
                    .gpu = sql_text(stmt, 2),
                    .driver = sql_text(stmt, 3),
                    .measured_utc = sql_int(stmt, 4),
                    .toolkit = sql_text(stmt, 5),
                });
    sql_free(stmt);
    return fault(store, rc < 0 ? rc : 0, err);
}

int evidence_externals(struct store *store, int64_t pass, int64_t first,
                       int64_t end, evidence_external_fn *fn, void *arg,
                       struct err *err)
{
    static const char text[] =
        "SELECT s.position, t.round, t.host, t.outcome, t.detail, t.output,"
        " t.seconds, t.name FROM tool t JOIN contest_shape s"
        " ON s.pass=?1 AND s.shape=t.shape WHERE t.purpose='external'"
        " AND t.round>?2 AND t.round<?3 AND (t.counted=1 OR"
        "  t.nonce=(SELECT o.nonce FROM tool o WHERE o.purpose=t.purpose AND"
        "   o.round=t.round AND o.shape=t.shape AND o.gpu=t.gpu"
        "   ORDER BY o.counted DESC, o.attempt DESC LIMIT 1))"
        " ORDER BY t.round, s.position";
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "III", pass, first, end);
    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1)
        fn(arg, &(struct evidence_external){
                    .shape = sql_int(stmt, 0),
                    .round = sql_int(stmt, 1),
                    .host = sql_text(stmt, 2),
                    .outcome = sql_text(stmt, 3),
                    .detail = sql_text(stmt, 4),
                    .output = sql_text(stmt, 5),
                    .seconds = sql_real(stmt, 6),
                    .name = sql_text(stmt, 7),
                });
    sql_free(stmt);
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

    return sql_number(store_db(store), text, utc_out, err);
}
