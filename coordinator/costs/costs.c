#include "coordinator/costs/costs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/costs/costs_internal.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/sql/row.h"
#include "coordinator/store/store.h"

#define S_PER_HOUR 3600.0
#define NS_PER_S 1e9

static const char *const phases[] = { "search", "proof",   "confirm",
                                      "bench",  "profile", "builds" };

const char *costs_scope_name(enum costs_scope scope)
{
    static const char *const names[] = {
        [COSTS_GPU] = "gpu",     [COSTS_PHASE] = "phase",
        [COSTS_RUN] = "run",     [COSTS_SPENT] = "spent",
        [COSTS_SAVED] = "saved", [COSTS_SERIAL] = "serial",
    };

    return names[scope];
}

void costs_add(struct costs *costs, struct costs_line line)
{
    costs->lines = mem_grow(costs->lines, costs->n + 1, sizeof(*costs->lines));
    costs->lines[costs->n++] = line;
}

static void add(struct costs *costs, enum costs_scope scope, const char *item,
                int64_t count, double seconds, double usd)
{
    costs_add(costs, (struct costs_line){ scope, mem_strdup(""), item, count,
                                          seconds, usd });
}

/* ---- phases and runs */

static void add_phases(struct costs *costs, const struct report_cost *cost)
{
    for (size_t p = 0; p < sizeof(phases) / sizeof(phases[0]); p++) {
        struct bill bill = { 0 };

        for (size_t i = 0; i < cost->n_held; i++)
            if (strcmp(cost->held[i].phase, phases[p]) == 0)
                bill_add(&bill, cost->held[i].ns, cost->held[i].rate_usd_per_h);
        if (bill.held_ns > 0)
            add(costs, COSTS_PHASE, phases[p], -1,
                (double)bill.held_ns / NS_PER_S, bill_usd(&bill));
    }
}

static bool is_first(const struct report_cost *cost, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (cost->held[i].epoch == cost->held[at].epoch)
            return false;
    return true;
}

static const char *phase_word(const char *phase)
{
    size_t p = 0;

    while (p < sizeof(phases) / sizeof(phases[0]) - 1 &&
           strcmp(phases[p], phase) != 0)
        p++;
    return phases[p];
}

static void add_runs(struct costs *costs, const struct report_cost *cost)
{
    for (size_t at = 0; at < cost->n_held; at++) {
        struct bill bill = { 0 };

        if (!is_first(cost, at))
            continue;
        for (size_t i = at; i < cost->n_held; i++)
            if (cost->held[i].epoch == cost->held[at].epoch)
                bill_add(&bill, cost->held[i].ns, cost->held[i].rate_usd_per_h);
        costs_add(costs,
                  (struct costs_line){
                      COSTS_RUN, mem_printf("%" PRId64, cost->held[at].epoch),
                      phase_word(cost->held[at].phase), -1,
                      (double)bill.held_ns / NS_PER_S, bill_usd(&bill) });
    }
}

/* ---- failures, retries, and the way to the winner */

struct figures {
    int64_t retries, won_utc;
    double retry_s, retry_usd;
    int64_t builds, cached, measured, shared, gated;
    double build_s, held_s; /* of those builds and measurements, together */
    double serial_build_s;
};

#define FIGURE(member, kind) ROW_AT(struct figures, member, kind)
static const struct row_column figure_columns[] = {
    FIGURE(retries, INT), FIGURE(won_utc, INT),    FIGURE(retry_s, REAL),
    FIGURE(builds, INT),  FIGURE(cached, INT),     FIGURE(measured, INT),
    FIGURE(shared, INT),  FIGURE(gated, INT),      FIGURE(build_s, REAL),
    FIGURE(held_s, REAL), FIGURE(retry_usd, REAL), FIGURE(serial_build_s, REAL),
};
static const struct row_shape figure_shape = ROW_SHAPE(NULL, figure_columns);

/* ?1 is the winner.  Builds of kernels alone; a configuration that only the
 * cache built would have taken the mean of the others. */
static const char figures_query[] =
    "WITH retry AS (SELECT (i.end_ns-i.start_ns)/1e9 AS s, (SELECT"
    "  x.rate_usd_per_h FROM held x WHERE x.host=i.host AND x.epoch=i.epoch"
    "  AND x.start_ns<=i.start_ns ORDER BY x.start_ns DESC LIMIT 1) AS rate"
    "  FROM interval i JOIN lease l ON l.epoch=i.epoch AND l.id=i.lease"
    "  WHERE l.attempt>1),"
    " built AS (SELECT config, max(iif(cached, NULL, seconds)) AS s FROM build"
    "  WHERE purpose='kernel' GROUP BY config, source_key),"
    " ran AS (SELECT count(*) AS n, total(seconds) AS s FROM build"
    "  WHERE purpose='kernel' AND cached=0),"
    " screened AS (SELECT count(*) AS n, total(held_s) AS s FROM result"
    "  WHERE purpose='screen' AND counted=1)"
    " SELECT (SELECT count(*) FROM lease WHERE attempt>1) AS retries,"
    " (SELECT total(s) FROM retry) AS retry_s,"
    " (SELECT iif(count(*)>count(rate), NULL, total(s/3600*rate)) FROM retry)"
    "  AS retry_usd,"
    " (SELECT min(received_utc) FROM result WHERE config=?1 AND"
    "  outcome='correct' AND counted=1 AND purpose='screen') AS won_utc,"
    " ran.n AS builds, ran.s AS build_s, screened.n AS measured,"
    " screened.s AS held_s, (SELECT count(*) FROM build WHERE cached=1 AND"
    "  purpose='kernel') AS cached,"
    " (SELECT count(*) FROM outcome o JOIN result r ON r.nonce=o.nonce"
    "  WHERE r.config<>o.config) AS shared,"
    " (SELECT configurations-passed FROM sweep ORDER BY created_utc DESC,"
    "  id DESC LIMIT 1) AS gated,"
    " (SELECT total(coalesce(s, ran.s/ran.n)) FROM built) AS serial_build_s"
    " FROM ran, screened";

static void add_spent(struct costs *costs, const struct report_cost *cost,
                      const struct figures *figures)
{
    static const struct {
        enum ledger_category category;
        const char *item;
    } lines[] = { { LEDGER_FAILED, "failures" }, { LEDGER_LOST, "lost" } };
    struct bill bill = { 0 };

    for (size_t l = 0; l < 2; l++) {
        struct bill of = report_cost_category(cost, (int)lines[l].category);

        add(costs, COSTS_SPENT, lines[l].item, -1, bill_hours(&of) * S_PER_HOUR,
            bill_usd(&of));
    }
    add(costs, COSTS_SPENT, "retries", figures->retries, figures->retry_s,
        figures->retry_usd);
    for (size_t i = 0; i < cost->n_held && figures->won_utc; i++) {
        const struct report_cost_held *held = &cost->held[i];
        int64_t left = figures->won_utc - held->start_utc;

        if (left > 0)
            bill_add(&bill, left < held->ns ? left : held->ns,
                     held->rate_usd_per_h);
    }
    if (figures->won_utc)
        add(costs, COSTS_SPENT, "until_winner", -1,
            (double)bill.held_ns / NS_PER_S, bill_usd(&bill));
}

/* ---- what was not spent */

static void add_saved(struct costs *costs, const struct figures *figures,
                      double rate_usd_per_h)
{
    double build = figures->build_s / (double)figures->builds;
    double measure = figures->held_s / (double)figures->measured;
    const struct {
        const char *item;
        int64_t n;
        double each;
    } lines[] = {
        { "gates", figures->gated, build + measure },
        { "cache", figures->cached, build },
        { "shared_code", figures->shared, measure },
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        double s = lines[i].n ? (double)lines[i].n * lines[i].each : 0;

        add(costs, COSTS_SAVED, lines[i].item, lines[i].n, s,
            s / S_PER_HOUR * rate_usd_per_h);
    }
}

int costs_load(struct store *store, const struct report_cost *cost,
               const char *winner, struct costs **out, struct err *err)
{
    struct costs *costs = mem_new(1, sizeof(*costs));
    struct figures figures = { 0 };
    double rate, serial;
    int rc = costs_add_gpus(costs, store, cost, &rate, err);

    if (rc == 0)
        rc = row_first(store_db(store), figures_query, &figure_shape, &figures,
                       err, "s", winner ? winner : "");
    if (rc < 0) {
        costs_free(costs);
        *out = NULL;
        return err_within(err, ERR_STORE, "%s", store_path(store));
    }
    add_phases(costs, cost);
    add_runs(costs, cost);
    add_spent(costs, cost, &figures);
    add_saved(costs, &figures, rate);
    serial = figures.serial_build_s + figures.held_s;
    if (figures.measured > 0)
        add(costs, COSTS_SERIAL, "tuner", figures.measured, serial,
            serial / S_PER_HOUR * rate);
    /* what took no time costs nothing, but not where nothing has a price */
    for (size_t i = 0; i < costs->n && !bill_has_price(&cost->bill); i++)
        costs->lines[i].usd = (double)NAN;
    *out = costs;
    return 0;
}

void costs_free(struct costs *costs)
{
    if (!costs)
        return;
    for (size_t i = 0; i < costs->n; i++)
        free(costs->lines[i].name);
    free(costs->lines);
    free(costs);
}
