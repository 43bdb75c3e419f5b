#include "coordinator/inspect/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/inspect/watch_process.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/status.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/dblock.h"
#include "coordinator/store/store.h"
#include "coordinator/stored/stored_params.h"
#include "coordinator/text/terminal.h"

#define NAME_MAX_BYTES 4096

struct watch {
    struct report *report; /* NULL: no GPU has told its facts */
    struct report_cost *cost;
    struct status status;
    bool running;
    char *best; /* its tunables */
    struct progress_facts facts;
    struct progress_lane *lanes;
    char **texts; /* of lanes */
    size_t n_texts;
};

/* ---- texts ---- */

static const char *keep(struct watch *watch, char *text)
{
    watch->texts =
        mem_grow(watch->texts, watch->n_texts + 1, sizeof(*watch->texts));
    watch->texts[watch->n_texts++] = text;
    return text;
}

/* "BLOCK_M=64 STAGES=2" */
static char *name_of(const char *params)
{
    struct stored_params list = { 0 };
    struct buf text;

    buf_init(&text, NAME_MAX_BYTES);
    if (stored_params_parse(params, &list, NULL) == 0)
        for (size_t i = 0; i < list.n; i++)
            buf_printf(&text, "%s%s=%s", i ? " " : "", list.items[i].name,
                       list.items[i].text);
    stored_params_fini(&list);
    return text.bytes ? text.bytes : mem_strdup("");
}

/* ---- lanes ---- */

/* The hosts of the newest run with their GPUs, what each measures, and what was
 * last said of the host. */
static const char lanes_query[] =
    "WITH said AS (SELECT id, name, text, CASE WHEN instr(text, ': ') > 0"
    "  THEN substr(text, 1, instr(text, ': ') - 1) ELSE text END AS host"
    "  FROM event WHERE at_utc >= ?1 AND name IN"
    "  ('HOST-WAITS', 'HOST-READY', 'HOST-LOST', 'HOST-FAILED')),"
    " last AS (SELECT host, name, text FROM said"
    "  WHERE id IN (SELECT max(id) FROM said GROUP BY host)),"
    " out AS (SELECT host, gpu, config, min(leased_utc) AS leased_utc"
    "  FROM lease WHERE epoch = ?1 AND ended_utc IS NULL"
    "  AND stage <> 'build' GROUP BY host, gpu)"
    " SELECT h.name AS host, coalesce(g.position, -1) AS gpu,"
    "  coalesce((SELECT category FROM interval i WHERE i.host = h.name"
    "   AND i.epoch = ?1 ORDER BY start_ns DESC LIMIT 1), '') AS category,"
    "  coalesce(last.name, '') AS event, coalesce(last.text, '') AS said,"
    "  coalesce(out.config, '') AS config,"
    "  coalesce(out.leased_utc, 0) AS leased_utc,"
    "  coalesce(c.params, '') AS params, h.rate_usd_per_h AS rate,"
    "  EXISTS (SELECT 1 FROM event WHERE name = 'GPU-QUARANTINED'"
    "   AND at_utc >= ?1 AND substr(text, 1, length(g.uuid) + 2) ="
    "   g.uuid || ': ') AS quarantined"
    " FROM host h LEFT JOIN gpu g ON g.host = h.name"
    " LEFT JOIN last ON last.host = h.name"
    " LEFT JOIN out ON out.host = h.name AND out.gpu = g.uuid"
    " LEFT JOIN config c ON c.key = out.config"
    " WHERE EXISTS (SELECT 1 FROM interval i WHERE i.host = h.name"
    "  AND i.epoch = ?1)"
    " ORDER BY h.position, h.name, g.position";

struct lane_row {
    const char *host, *category, *event, *said, *config, *params;
    int64_t gpu, leased_utc;
    double rate;
    bool quarantined;
};

#define LANE(member, kind) ROW_AT(struct lane_row, member, kind)
static const struct row_column lane_columns[] = {
    LANE(host, TEXT),        LANE(gpu, INT),     LANE(category, TEXT),
    LANE(event, TEXT),       LANE(said, TEXT),   LANE(config, TEXT),
    LANE(leased_utc, INT),   LANE(params, TEXT), LANE(rate, REAL),
    LANE(quarantined, BOOL),
};
static const struct row_shape lane_shape = ROW_SHAPE(NULL, lane_columns);

/* What was last said of the host, or else what it is held for. */
static enum progress_lane_state host_of(const struct lane_row *row)
{
    static const struct {
        const char *word;
        enum progress_lane_state state;
    } words[] = {
        { "HOST-WAITS", PROGRESS_LANE_WAITS },
        { "HOST-LOST", PROGRESS_LANE_LOST },
        { "HOST-FAILED", PROGRESS_LANE_FAILED },
        { "HOST-READY", PROGRESS_LANE_IDLE },
        { "acquiring", PROGRESS_LANE_AWAY },
    };
    const char *word = *row->event ? row->event : row->category;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].state;
    return PROGRESS_LANE_SETUP;
}

/* "HOST: WHY" without the host. */
static const char *why_of(const struct lane_row *row)
{
    size_t len = strlen(row->host);

    return strncmp(row->said, row->host, len) == 0 &&
                   strncmp(row->said + len, ": ", 2) == 0
               ? row->said + len + 2
               : "";
}

static int building_on(const struct watch *watch, const char *host)
{
    for (size_t i = 0; i < watch->status.n_hosts; i++)
        if (strcmp(watch->status.hosts[i].name, host) == 0)
            return (int)watch->status.hosts[i].building;
    return 0;
}

static void count_host(struct progress_facts *facts, const struct lane_row *row,
                       int building)
{
    enum progress_lane_state host = host_of(row);

    facts->building += building;
    facts->hosts++;
    facts->hosts_ready += host == PROGRESS_LANE_IDLE;
    if (isnan(row->rate))
        facts->money.unpriced++;
    else if (host != PROGRESS_LANE_FAILED)
        facts->money.usd_per_h += row->rate;
}

/* What the GPU does. */
static void fill_lane(struct watch *watch, const struct lane_row *row,
                      int64_t now_utc, struct progress_lane *lane)
{
    lane->state = host_of(row);
    if (*row->config) {
        lane->state = PROGRESS_LANE_MEASURES;
        lane->text = keep(watch, name_of(row->params));
        lane->measured_s =
            (double)(now_utc - row->leased_utc) / (double)NS_PER_S;
    } else if (row->quarantined && lane->state == PROGRESS_LANE_IDLE) {
        lane->state = PROGRESS_LANE_FAILED;
        lane->text = "quarantined";
    } else {
        lane->text = keep(watch, mem_strdup(why_of(row)));
    }
}

static void add_lane(struct watch *watch, const struct lane_row *row,
                     int64_t now_utc)
{
    struct progress_facts *facts = &watch->facts;
    struct progress_lane lane = {
        .host = keep(watch, terminal_clean(mem_strdup(row->host), false)),
        .gpu = (int)row->gpu,
        .key = keep(watch, mem_strdup(row->config)),
    };

    fill_lane(watch, row, now_utc, &lane);
    if (facts->n_lanes == 0 ||
        strcmp(watch->lanes[facts->n_lanes - 1].host, lane.host) != 0) {
        lane.building = building_on(watch, lane.host);
        count_host(facts, row, lane.building);
    }
    facts->measuring += lane.state == PROGRESS_LANE_MEASURES;
    watch->lanes =
        mem_grow(watch->lanes, facts->n_lanes + 1, sizeof(*watch->lanes));
    watch->lanes[facts->n_lanes++] = lane;
    facts->lanes = watch->lanes;
}

static int load_lanes(struct store *store, struct watch *watch, int64_t now_utc,
                      struct err *err)
{
    struct row_query query;
    struct lane_row row;
    int rc = row_open(store_db(store), lanes_query, &lane_shape, &query, err,
                      "I", watch->status.epoch);

    while (rc >= 0 && (rc = row_next(&query, &row, err)) == 1)
        add_lane(watch, &row, now_utc);
    row_close(&query);
    return rc;
}

/* ---- counts ---- */

/* Of a confirmation or a bench that runs: its measurements. */
static const char blocks_query[] =
    "SELECT CASE look_blocks WHEN 0 THEN blocks ELSE most_blocks END *"
    "  (SELECT count(*) FROM contestant c WHERE c.pass = contest.pass"
    "   AND c.role <> 'rejected') *"
    "  (SELECT count(*) FROM contest_shape s WHERE s.pass = contest.pass)"
    "  AS total,"
    " (SELECT count(*) FROM result WHERE purpose = 'confirm' AND counted = 1"
    "  AND round / 10000 = contest.pass) AS done"
    " FROM contest WHERE ended_utc IS NULL AND started_utc >= ?1"
    " ORDER BY pass DESC LIMIT 1";

struct blocks_row {
    int64_t total, done;
};

static const struct row_column blocks_columns[] = {
    ROW_AT(struct blocks_row, total, INT),
    ROW_AT(struct blocks_row, done, INT),
};
static const struct row_shape blocks_shape = ROW_SHAPE(NULL, blocks_columns);

static int load_blocks(struct store *store, struct watch *watch,
                       struct err *err)
{
    struct progress_facts *facts = &watch->facts;
    struct row_query query;
    struct blocks_row row = { 0 };
    int rc = row_open(store_db(store), blocks_query, &blocks_shape, &query, err,
                      "I", watch->status.epoch);

    if (rc >= 0)
        rc = row_next(&query, &row, err);
    if (rc == 1) {
        facts->kind = PROGRESS_MEASURED;
        facts->total = (int)row.total;
        facts->settled = (int)(row.done < row.total ? row.done : row.total);
        facts->correct = facts->settled;
    }
    row_close(&query);
    return rc < 0 ? rc : 0;
}

/* As the coordinator does: the fastest median at the first shape. */
static void find_best(struct watch *watch)
{
    const struct report *report = watch->report;
    struct progress_best *best = &watch->facts.best;
    const struct report_config *fastest = NULL;

    for (size_t i = 0; i < report->n_configs; i++) {
        const struct report_config *config = &report->configs[i];

        if (config->outcome != OUTCOME_CORRECT ||
            !(config->cells[0].time_s > 0))
            continue;
        if (config->baseline)
            best->baseline_s = config->cells[0].time_s;
        if (!fastest || config->cells[0].time_s < fastest->cells[0].time_s)
            fastest = config;
    }
    if (!fastest)
        return;
    best->s = fastest->cells[0].time_s;
    best->text = watch->best = name_of(fastest->json);
}

static void take_counts(struct watch *watch)
{
    struct progress_facts *facts = &watch->facts;
    const struct tally *tally = &watch->report->counts.tally;

    facts->name = watch->report->name;
    facts->total = (int)watch->status.asked;
    facts->settled = (int)tally->tried;
    facts->correct = (int)tally->correct;
    facts->left_s = watch->status.left_s;
    if (watch->cost->n_hosts > watch->cost->unpriced)
        facts->money.usd = watch->cost->priced_usd;
    find_best(watch);
}

/* All runs together.  One that was killed has no end. */
static int load_elapsed(struct store *store, struct watch *watch,
                        int64_t now_utc, struct err *err)
{
    int64_t ns = 0;
    int rc = sql_number(
        store_db(store),
        "SELECT coalesce(sum(coalesce(ended_utc, CASE WHEN epoch = ?1 AND ?2 "
        "THEN ?3 ELSE epoch END) - epoch), 0) FROM run",
        &ns, err, "III", watch->status.epoch, (int64_t)watch->running, now_utc);

    watch->facts.elapsed_s = (double)ns / (double)NS_PER_S;
    return rc;
}

/* ---- all of it ---- */

static int load(struct store *store, struct watch *watch, int64_t now_utc,
                struct err *err)
{
    int rc = report_load_outcomes(store, &watch->report, err);
    struct dblock_holder holder;

    if (rc < 0 &&
        (rc != ERR_INPUT || !dblock_is_held(store_path(store), &holder)))
        return rc;
    rc = watch->report ? report_cost_load(store, &watch->cost, err) : 0;
    if (rc == 0)
        rc = status_load(store, watch->report, now_utc, &watch->status, err);
    if (rc == 0)
        rc = watch_process_is_at_work(store, &watch->running, err);
    watch->running = watch->running || watch->status.running;
    if (rc == 0 && watch->report)
        take_counts(watch);
    if (rc == 0 && watch->running)
        rc = load_lanes(store, watch, now_utc, err);
    if (rc == 0 && watch->running)
        rc = load_blocks(store, watch, err);
    return rc == 0 ? load_elapsed(store, watch, now_utc, err) : rc;
}

int watch_load(struct store *store, int64_t now_utc, struct watch **out,
               struct err *err)
{
    struct watch *watch = mem_new(1, sizeof(*watch));
    int rc;

    watch->facts = (struct progress_facts){
        .name = "waiting for the first GPU",
        .left_s = { NAN, NAN, NAN },
        .best = { .s = NAN, .baseline_s = NAN, .text = "" },
        .money.usd = NAN,
    };
    rc = load(store, watch, now_utc, err);
    if (rc < 0) {
        watch_free(watch);
        watch = NULL;
    }
    *out = watch;
    return rc;
}

void watch_free(struct watch *watch)
{
    if (!watch)
        return;
    for (size_t i = 0; i < watch->n_texts; i++)
        free(watch->texts[i]);
    free(watch->texts);
    free(watch->lanes);
    free(watch->best);
    status_fini(&watch->status);
    report_cost_free(watch->cost);
    report_free(watch->report);
    free(watch);
}

const struct progress_facts *watch_facts(const struct watch *watch)
{
    return &watch->facts;
}

bool watch_is_running(const struct watch *watch)
{
    return watch->running;
}
