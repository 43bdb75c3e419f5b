#include "coordinator/stored/stored_pace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"

static const struct row_column sweep_columns[] = {
    ROW_AT(struct stored_pace, device, CHARS),
    ROW_AT(struct stored_pace, same_space, BOOL),
    ROW_AT(struct stored_pace, speed_up, REAL),
    ROW_AT(struct stored_pace, settled, INT),
    ROW_AT(struct stored_pace, confirm_s, REAL),
};
static const struct row_shape sweep_shape = ROW_SHAPE(NULL, sweep_columns);

static const char sweep_query[] =
    "SELECT device, spec=?1 AS same_space,"
    " coalesce(json_extract(settings, '$.recorded.speed_up'), 0.0)"
    "  AS speed_up,"
    " (SELECT count(DISTINCT o.config) FROM outcome o JOIN config c"
    "  ON c.key=o.config AND c.source_key=o.source_key"
    "  WHERE c.sweep=sweep.id AND c.point>=0) AS settled,"
    " (SELECT sum(s) FROM (SELECT avg(s) AS s FROM"
    "  (SELECT phase, (max(end_ns)-min(start_ns))/1e9 AS s FROM held"
    "   WHERE phase IN ('proof', 'confirm') GROUP BY epoch, phase)"
    "  GROUP BY phase)) AS confirm_s"
    " FROM sweep ORDER BY created_utc DESC LIMIT 1";

#define KIND(member, kind) ROW_AT(struct stored_pace_kind, member, kind)
static const struct row_column kind_columns[] = {
    KIND(n, INT),
    KIND(mean_s, REAL),
    KIND(square_s2, REAL),
};
static const struct row_shape kind_shape = ROW_SHAPE(NULL, kind_columns);

static const char build_query[] =
    "SELECT count(*) AS n, avg(seconds) AS mean_s,"
    " avg(seconds*seconds) AS square_s2 FROM build"
    " WHERE cached=0 AND purpose='kernel'";
static const char measure_query[] =
    "SELECT count(*) AS n, avg(held_s) AS mean_s,"
    " avg(held_s*held_s) AS square_s2 FROM result"
    " WHERE counted=1 AND purpose='screen'";

#define RUN(member, kind) ROW_AT(struct stored_pace_run, member, kind)
static const struct row_column run_columns[] = {
    RUN(builds, INT),       RUN(build_s, REAL), RUN(slots, INT),
    RUN(measurements, INT), RUN(gpus, INT),     RUN(measure_s, REAL),
    RUN(start_s, REAL),     RUN(wall_s, REAL),
};
static const struct row_shape run_shape = ROW_SHAPE(NULL, run_columns);

static const char runs_query[] =
    "WITH b AS (SELECT epoch, count(*) AS n, sum(seconds) AS s FROM build"
    "  WHERE cached=0 AND purpose='kernel' GROUP BY epoch),"
    " bh AS (SELECT x.epoch, sum(h.slots) AS slots FROM"
    "  (SELECT DISTINCT epoch, host FROM build WHERE cached=0"
    "   AND purpose='kernel') x JOIN host h ON h.name=x.host GROUP BY 1),"
    " r AS (SELECT epoch, count(*) AS n, sum(held_s) AS s,"
    "  count(DISTINCT gpu) AS gpus FROM result"
    "  WHERE counted=1 AND purpose='screen' GROUP BY epoch),"
    " l AS (SELECT epoch, (min(leased_utc)-epoch)/1e9 AS start_s,"
    "  (max(ended_utc)-min(leased_utc))/1e9 AS s FROM lease"
    "  WHERE purpose IN ('kernel', 'screen') AND ending='done'"
    "  GROUP BY epoch)"
    " SELECT coalesce(b.n, 0) AS builds, coalesce(b.s, 0.0) AS build_s,"
    " coalesce(bh.slots, 0) AS slots, r.n AS measurements, r.gpus AS gpus,"
    " r.s AS measure_s, l.start_s AS start_s, l.s AS wall_s"
    " FROM r JOIN l ON l.epoch=r.epoch LEFT JOIN b ON b.epoch=r.epoch"
    " LEFT JOIN bh ON bh.epoch=r.epoch ORDER BY r.epoch DESC LIMIT ?1";

#define HOST(member, kind) ROW_AT(struct stored_pace_host, member, kind)
static const struct row_column host_columns[] = {
    HOST(name, CHARS), HOST(slots, INT),    HOST(gpus, INT),
    HOST(builds, INT), HOST(build_s, REAL),
};
static const struct row_shape host_shape = ROW_SHAPE(NULL, host_columns);

static const char hosts_query[] =
    "SELECT h.name, h.slots,"
    " (SELECT count(*) FROM gpu g WHERE g.host=h.name) AS gpus,"
    " coalesce(b.n, 0) AS builds, b.s AS build_s FROM host h LEFT JOIN"
    " (SELECT host, count(*) AS n, avg(seconds) AS s FROM build"
    "  WHERE cached=0 AND purpose='kernel' GROUP BY host) b ON b.host=h.name"
    " ORDER BY h.name";

static int load_runs(struct store *store, struct stored_pace *out,
                     struct err *err)
{
    struct stored_pace_run row;
    struct row_query query;
    int rc = row_open(store_db(store), runs_query, &run_shape, &query, err, "i",
                      STORED_PACE_RUNS);

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        out->runs[out->n_runs++] = row;
    row_close(&query);
    return err_only(rc);
}

static int load_hosts(struct store *store, struct stored_pace *out,
                      struct err *err)
{
    struct stored_pace_host row;
    struct row_query query;
    int rc =
        row_open(store_db(store), hosts_query, &host_shape, &query, err, "");

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1) {
        out->hosts =
            mem_grow(out->hosts, out->n_hosts + 1, sizeof(*out->hosts));
        out->hosts[out->n_hosts++] = row;
    }
    row_close(&query);
    return err_only(rc);
}

int stored_pace_load(struct store *store, const char *spec,
                     struct stored_pace *out, struct err *err)
{
    struct sqlite3 *db = store_db(store);
    int rc;

    *out = (struct stored_pace){ .device = "" };
    rc =
        err_only(row_first(db, sweep_query, &sweep_shape, out, err, "s", spec));
    if (rc == 0)
        rc = err_only(
            row_first(db, build_query, &kind_shape, &out->build, err, ""));
    if (rc == 0)
        rc = err_only(
            row_first(db, measure_query, &kind_shape, &out->measure, err, ""));
    if (rc == 0)
        rc = load_runs(store, out, err);
    if (rc == 0)
        rc = load_hosts(store, out, err);
    return err_within(err, rc, "%s", store_path(store));
}

void stored_pace_fini(struct stored_pace *pace)
{
    free(pace->hosts);
    *pace = (struct stored_pace){ .device = "" };
}

const struct stored_pace_host *stored_pace_find(const struct stored_pace *pace,
                                                const char *name)
{
    for (size_t i = 0; i < pace->n_hosts; i++)
        if (strcmp(pace->hosts[i].name, name) == 0)
            return &pace->hosts[i];
    return NULL;
}
