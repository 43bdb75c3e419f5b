#include <math.h>
#include <string.h>

#include "common/outcome.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_print.h"
#include "coordinator/inspect/profile.h"
#include "coordinator/lessons/lessons_print.h"
#include "coordinator/report/report_internal.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/text/json_out.h"

void report_put_sweep(struct json_out *out, const struct report *report)
{
    json_out_text(out, "name", report->name);
    json_out_text(out, "device", report->device);
    json_out_text(out, "arch", report->arch);
    json_out_bool(out, "emulated", report_is_emulated(report));
    if (report->sweep.recorded_on)
        json_out_text(out, "recorded_on", report->sweep.recorded_on);
    json_out_utc(out, "created", report->sweep.created_utc);
    json_out_text(out, "ending", report->sweep.ending);
    json_out_int(out, "configurations", report->counts.configurations);
    json_out_int(out, "passed", report->counts.passed);
    json_out_int(out, "asked", (int64_t)report->counts.asked);
    json_out_int(out, "stale", report->counts.stale);
    json_out_open(out, "search", '{');
    json_out_text(out, "method", report->search.method);
    json_out_int(out, "seed", report->search.seed);
    json_out_text(out, "objective", report->search.objective);
    json_out_text(out, "effort", report->search.effort);
    if (report->search.in_flight > 0)
        json_out_int(out, "in_flight", report->search.in_flight);
    else
        json_out_null(out, "in_flight");
    json_out_int(out, "tried", report_tried(report));
    json_out_int(out, "not_tried",
                 report->counts.passed - report_tried(report));
    json_out_close(out);
}

void report_put_counts(struct json_out *out, const struct report *report)
{
    json_out_open(out, "counts", '{');
    for (int i = 0; i < OUTCOMES_OF_CONFIG; i++)
        json_out_int(out, outcome_name((enum outcome)i),
                     report->counts.outcomes[i]);
    json_out_close(out);
}

static void put_count(struct json_out *out, const char *key, int64_t count)
{
    if (count < 0)
        json_out_null(out, key);
    else
        json_out_int(out, key, count);
}

static void put_gates(struct json_out *out, const struct report *report)
{
    json_out_open(out, "gates", '[');
    for (size_t i = 0; i < report->n_gates; i++) {
        const struct report_gate *gate = &report->gates[i];

        json_out_open(out, NULL, '{');
        json_out_text(out, "name", gate->name);
        json_out_text(out, "kind", gate->kind);
        json_out_text(out, "why", gate->why);
        put_count(out, "rejected_first", gate->rejected_first);
        put_count(out, "rejected_alone", gate->rejected_alone);
        put_count(out, "warned", gate->warned);
        json_out_close(out);
    }
    json_out_close(out);
}

void report_put_shapes(struct json_out *out, const struct report *report)
{
    json_out_open(out, "shapes", '[');
    for (size_t i = 0; i < report->n_shapes; i++) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "name", report->shapes[i].name);
        json_out_raw(out, "vars", report->shapes[i].vars);
        json_out_real(out, "floor_s", report->shapes[i].floor_s);
        report_put_floors(out, report, i);
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_metrics(struct json_out *out, const struct report *report,
                        const struct report_cell *cell)
{
    json_out_open(out, "metrics", '{');
    for (size_t i = 0; i < report->n_metrics; i++)
        json_out_real(out, report->metrics[i].name, cell->metrics[i]);
    json_out_close(out);
}

static double metric(const struct report *report,
                     const struct report_cell *cell, const char *name)
{
    for (size_t i = 0; i < report->n_metrics; i++)
        if (strcmp(report->metrics[i].name, name) == 0)
            return cell->metrics[i];
    return (double)NAN;
}

/* The figures of one shape: the headline's in the result itself, and every
 * shape's in 'shapes'. */
static void put_cell(struct json_out *out, const struct report *report,
                     const struct report_cell *cell, size_t shape)
{
    json_out_real(out, "median_s", cell->summary.median);
    json_out_real(out, "normalised_s", cell->normalised_s);
    json_out_real(out, "spread_s", cell->summary.spread);
    json_out_int(out, "n_samples", (int64_t)cell->n_samples);
    json_out_open(out, "samples", '[');
    for (size_t i = 0; i < cell->n_samples; i++)
        json_out_real(out, NULL, cell->samples[i]);
    json_out_close(out);
    json_out_text(out, "sampling", cell->sampling);
    json_out_bool(out, "power_capped", cell->power_capped);
    json_out_real(out, "tflops", metric(report, cell, "tflops"));
    put_metrics(out, report, cell);
    json_out_real(out, "of_floor",
                  report->shapes[shape].floor_s / cell->summary.median);
    report_put_shares(out, report, shape, cell->summary.median);
    json_out_real(out, "relative_l2", cell->relative_l2);
    json_out_real(out, "max_error", cell->max_error);
    put_count(out, "registers", cell->registers);
    put_count(out, "spill_bytes", cell->spill_bytes);
    json_out_int(out, "attempts", cell->attempts);
    json_out_text(out, "host", cell->host);
    json_out_text(out, "gpu", cell->gpu);
    json_out_text(out, "gpu_name", cell->gpu_name);
}

static void put_result(void *to, const struct report *report,
                       const struct report_config *config)
{
    struct json_out *out = to;

    json_out_open(out, NULL, '{');
    json_out_raw(out, "config", config->json);
    json_out_text(out, "key", config->key);
    json_out_int(out, "point", config->point);
    json_out_bool(out, "baseline", config->baseline);
    json_out_text(out, "outcome", outcome_name(config->outcome));
    if (config->rank)
        json_out_int(out, "rank", config->rank);
    else
        json_out_null(out, "rank");
    json_out_raw(out, "warnings",
                 config->warnings[0] ? config->warnings : "[]");
    json_out_text(out, "reason", config->reason);
    put_cell(out, report, &config->cells[0], 0);
    json_out_open(out, "shapes", '[');
    for (size_t i = 0; i < report->n_shapes; i++) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "shape", report->shapes[i].name);
        json_out_text(out, "outcome", outcome_name(config->cells[i].outcome));
        json_out_text(out, "reason", config->cells[i].reason);
        put_cell(out, report, &config->cells[i], i);
        json_out_close(out);
    }
    json_out_close(out);
    json_out_close(out);
}

static void put_categories(struct json_out *out, const double *hours)
{
    json_out_open(out, "categories", '{');
    for (int i = 0; i < REPORT_COST_CATEGORIES; i++)
        json_out_real(out, ledger_category_name((enum ledger_category)i),
                      hours[i]);
    json_out_close(out);
}

static void put_held(struct json_out *out, const struct report_cost *cost,
                     size_t host)
{
    json_out_open(out, "held", '[');
    for (size_t i = 0; i < cost->n_held; i++) {
        const struct report_cost_held *held = &cost->held[i];
        double s = (double)held->ns / 1e9;

        if (held->host != host)
            continue;
        json_out_open(out, NULL, '{');
        json_out_int(out, "run", held->epoch);
        json_out_text(out, "phase", held->phase);
        json_out_utc(out, "began", held->start_utc);
        json_out_real(out, "seconds", s);
        json_out_real(out, "rate_usd_per_h", held->rate_usd_per_h);
        json_out_real(out, "usd", held->rate_usd_per_h * s / 3600);
        json_out_close(out);
    }
    json_out_close(out);
}

void report_put_cost(struct json_out *out, const struct report *report,
                     const struct report_cost *cost)
{
    double tried = (double)report->counts.tally.tried;

    json_out_open(out, "cost", '{');
    json_out_open(out, "hosts", '[');
    for (size_t i = 0; i < cost->n_hosts; i++) {
        const struct report_cost_host *host = &cost->hosts[i];

        json_out_open(out, NULL, '{');
        json_out_text(out, "host", host->name);
        json_out_real(out, "rate_usd_per_h", host->rate_usd_per_h);
        json_out_real(out, "hours", host->total_hours);
        json_out_real(out, "usd", host->usd);
        json_out_real(out, "proof_hours", host->proof_hours);
        put_categories(out, host->hours);
        put_held(out, cost, i);
        json_out_close(out);
    }
    json_out_close(out);
    put_categories(out, cost->hours);
    json_out_real(out, "proof_hours", bill_hours(&cost->proof));
    json_out_real(out, "total_hours", cost->total_hours);
    json_out_real(out, "total_usd", cost->total_usd);
    json_out_real(out, "priced_usd", cost->priced_usd);
    json_out_real(out, "usd_per_configuration", cost->total_usd / tried);
    json_out_open(out, "unpriced", '[');
    for (size_t i = 0; i < cost->n_hosts; i++)
        if (report_cost_is_unpriced(&cost->hosts[i]))
            json_out_text(out, NULL, cost->hosts[i].name);
    json_out_close(out);
    json_out_close(out);
}

int report_json(const struct report_view *view, FILE *to, struct err *err)
{
    const struct report *report = view->report;
    struct json_out out;
    int rc;

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    report_put_sweep(&out, report);
    report_put_counts(&out, report);
    put_gates(&out, report);
    report_put_shapes(&out, report);
    report_put_gpus(&out, report);
    json_out_open(&out, "results", '[');
    rc = report_each(view, view->top, put_result, &out, err);
    json_out_close(&out);
    conclusion_json(view->conclusion, &out, "verdict");
    if (view->profiles)
        profile_json(view->profiles, report, &out, "profiles");
    if (view->lessons)
        lessons_json(view->lessons, &out, "lessons");
    report_put_cost(&out, report, view->cost);
    report_put_foreseen(&out, view->foreseen);
    if (view->costs)
        report_put_spending(&out, view->costs);
    json_out_close(&out);
    return rc;
}
