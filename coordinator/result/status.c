#include "coordinator/result/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/estimate/estimate_course.h"
#include "coordinator/result/report.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"
#include "coordinator/text/terminal.h"

#define WINDOW_NS (300 * NS_PER_S) /* the rate is of five minutes */

static const char run_query[] = "SELECT coalesce(max(epoch), 0) FROM run";

static const char settled_query[] =
    "SELECT count(*) FROM outcome WHERE settled_utc > ?";

static const char first_lease_query[] =
    "SELECT coalesce(min(leased_utc), ?1) FROM lease WHERE epoch = ?1";

static const char course_query[] =
    "SELECT settled_utc FROM outcome WHERE settled_utc > ?1"
    " ORDER BY settled_utc";

struct settled_row {
    int64_t settled_utc;
};

static const struct row_column settled_columns[] = {
    ROW_AT(struct settled_row, settled_utc, INT),
};
static const struct row_shape settled_shape = ROW_SHAPE(NULL, settled_columns);

static const char searching_query[] =
    "SELECT count(*) FROM run WHERE epoch=? AND ended_utc IS NULL AND"
    " (command LIKE 'sweep%' OR command='resume')";

static const char hosts_query[] =
    "SELECT h.name, (SELECT i.category FROM interval i WHERE i.host=h.name"
    "  AND i.epoch=?1 ORDER BY i.start_ns DESC LIMIT 1) AS category,"
    " count(CASE WHEN l.stage='build' THEN 1 END) AS building,"
    " count(CASE WHEN l.stage='measure' THEN 1 END) AS measuring,"
    " h.rate_usd_per_h AS usd_per_h"
    " FROM host h LEFT JOIN lease l ON l.host=h.name AND l.epoch=?1"
    "  AND l.ended_utc IS NULL GROUP BY h.name ORDER BY h.position, h.name";

/* "HOST: REASON" of the hosts that have neither come nor been given up since
 * they said so.  No name of a host has a blank. */
static const char waiting_query[] =
    "WITH said AS (SELECT id, name, text, CASE name WHEN 'HOST-READY'"
    "  THEN text ELSE substr(text, 1, instr(text, ': ') - 1) END AS host"
    "  FROM event WHERE at_utc >= ?1"
    "  AND name IN ('HOST-WAITS', 'HOST-READY', 'HOST-FAILED'))"
    " SELECT text FROM said WHERE name='HOST-WAITS' AND id IN"
    "  (SELECT max(id) FROM said GROUP BY host) ORDER BY id";

struct waiting_row {
    const char *text;
};

static const struct row_column waiting_columns[] = {
    ROW_AT(struct waiting_row, text, TEXT),
};
static const struct row_shape waiting_shape = ROW_SHAPE(NULL, waiting_columns);

struct host_row {
    const char *name, *category;
    int64_t building, measuring;
    double usd_per_h;
};

#define HOST(member, kind) ROW_AT(struct host_row, member, kind)
static const struct row_column host_columns[] = {
    HOST(name, TEXT),     HOST(category, TEXT),  HOST(building, INT),
    HOST(measuring, INT), HOST(usd_per_h, REAL),
};
static const struct row_shape host_shape = ROW_SHAPE(NULL, host_columns);

static void add_host(struct status *status, const struct host_row *row)
{
    status->hosts =
        mem_grow(status->hosts, status->n_hosts + 1, sizeof(*status->hosts));
    status->hosts[status->n_hosts++] = (struct status_host){
        .name = terminal_clean(mem_strdup(row->name), false),
        .category = terminal_clean(mem_strdup(row->category), false),
        .building = row->building,
        .measuring = row->measuring,
        .usd_per_h = row->usd_per_h,
    };
}

static int load_hosts(struct store *store, struct status *status,
                      struct err *err)
{
    struct row_query query;
    struct host_row row;
    int rc = row_open(store_db(store), hosts_query, &host_shape, &query, err,
                      "I", status->epoch);

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        add_host(status, &row);
    row_close(&query);
    return rc;
}

static int load_waiting(struct store *store, struct status *status,
                        struct err *err)
{
    struct row_query query;
    struct waiting_row row;
    int rc = row_open(store_db(store), waiting_query, &waiting_shape, &query,
                      err, "I", status->epoch);

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1) {
        status->waiting =
            mem_grow(status->waiting, status->n_waiting + 1, sizeof(char *));
        status->waiting[status->n_waiting++] =
            terminal_clean(mem_strdup(row.text), false);
    }
    row_close(&query);
    return rc;
}

/* Does a sweep run that is not at its confirmation? */
static int load_searching(struct store *store, struct status *status, bool *out,
                          struct err *err)
{
    int64_t n = 0;
    int rc = sql_number(store_db(store), searching_query, &n, err, "I",
                        status->epoch);

    *out = status->running && n > 0;
    return rc;
}

static int count(struct store *store, const struct report *report,
                 struct status *status, struct err *err)
{
    int64_t asked = (int64_t)report->n_configs, most;
    bool searching;
    int rc = load_searching(store, status, &searching, err);

    most = report->search.evaluations;
    if (most > report->counts.passed)
        most = report->counts.passed;
    if (searching && most + report->counts.outside > asked)
        asked = most + report->counts.outside;
    status->asked = asked;
    status->total = asked * (int64_t)report->n_shapes;
    status->done = report->counts.tally.settled;
    return rc;
}

static int load_rate(struct store *store, int64_t now_utc,
                     struct status *status, struct err *err)
{
    int64_t since = now_utc - WINDOW_NS, settled = 0;
    int rc;

    if (since < status->epoch)
        since = status->epoch;
    rc = sql_number(store_db(store), settled_query, &settled, err, "I", since);
    if (rc < 0 || settled == 0 || now_utc <= since)
        return rc;
    status->per_hour =
        3600.0 * (double)settled / ((double)(now_utc - since) / NS_PER_S);
    return 0;
}

static double seconds_since(int64_t begin_utc, int64_t utc)
{
    return (double)(utc - begin_utc) / (double)NS_PER_S;
}

/* When measurements were settled, from the first lease of the run on. */
static int load_course(struct store *store, int64_t begin_utc,
                       const struct status *status,
                       struct estimate_course *course, struct err *err)
{
    struct row_query query;
    struct settled_row row;
    int64_t n = 0;
    int rc =
        sql_number(store_db(store), settled_query, &n, err, "I", status->epoch);

    if (rc < 0)
        return rc;
    n = status->done - n;
    estimate_course_begin(course, 0, (double)n);
    rc = row_open(store_db(store), course_query, &settled_shape, &query, err,
                  "I", status->epoch);
    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        estimate_course_add(course, seconds_since(begin_utc, row.settled_utc),
                            (double)++n);
    row_close(&query);
    return rc;
}

static void price(struct status *status)
{
    double usd_per_s = 0;
    bool any = false;

    for (size_t i = 0; i < status->n_hosts; i++)
        if (*status->hosts[i].category && !isnan(status->hosts[i].usd_per_h)) {
            usd_per_s += status->hosts[i].usd_per_h / 3600;
            any = true;
        }
    if (any)
        status->left_usd =
            (struct estimate_range){ status->left_s.low * usd_per_s,
                                     status->left_s.likely * usd_per_s,
                                     status->left_s.high * usd_per_s };
}

/* 'shapes' measurements follow each build that is out. */
static int load_left(struct store *store, size_t shapes, int64_t now_utc,
                     struct status *status, struct err *err)
{
    struct estimate_moment now = { .done = (double)status->done,
                                   .all = (double)status->total };
    struct estimate_course course = { .n = 0 };
    int64_t begin_utc = 0;
    int rc = sql_number(store_db(store), first_lease_query, &begin_utc, err,
                        "I", status->epoch);

    if (rc == 0)
        rc = load_course(store, begin_utc, status, &course, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < status->n_hosts; i++)
        now.out += (double)(status->hosts[i].building * (int64_t)shapes +
                            status->hosts[i].measuring);
    now.s = seconds_since(begin_utc, now_utc);
    status->left_s = estimate_course_left(&course, &now);
    price(status);
    return 0;
}

int status_load(struct store *store, const struct report *report,
                int64_t now_utc, struct status *out, struct err *err)
{
    int rc;

    *out = (struct status){ .per_hour = NAN,
                            .left_s = { NAN, NAN, NAN },
                            .left_usd = { NAN, NAN, NAN } };
    out->running = dblock_is_held(store_path(store), &out->holder);
    rc = sql_number(store_db(store), run_query, &out->epoch, err, "");
    if (rc == 0 && report)
        rc = count(store, report, out, err);
    if (rc == 0 && out->running && report)
        rc = load_rate(store, now_utc, out, err);
    if (rc == 0 && out->running)
        rc = load_waiting(store, out, err);
    if (rc == 0)
        rc = load_hosts(store, out, err);
    if (rc == 0 && out->running && report)
        rc = load_left(store, report->n_shapes, now_utc, out, err);
    if (rc == 0)
        return 0;
    status_fini(out);
    return err_within(err, rc, "%s", store_path(store));
}

void status_fini(struct status *status)
{
    for (size_t i = 0; i < status->n_hosts; i++) {
        free(status->hosts[i].name);
        free(status->hosts[i].category);
    }
    free(status->hosts);
    for (size_t i = 0; i < status->n_waiting; i++)
        free(status->waiting[i]);
    free(status->waiting);
    *status = (struct status){ 0 };
}
