#include "coordinator/inspect/metrics_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/buf.h"
#include "common/outcome.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/status.h"

#define S_PER_H 3600.0

/* The lines before the samples of a metric. */
static void put_head(struct buf *out, const char *name, const char *type,
                     const char *help)
{
    buf_printf(out, METRICS_TEXT_BEGIN "%s %s\n# TYPE fa_coord_%s %s\n", name,
               help, name, type);
}

/* One sample; 'label' may be NULL.  In a label's value, a backslash, a quote
 * and a line feed are escaped. */
static void put_sample(struct buf *out, const char *name, const char *label,
                       const char *value, double number)
{
    buf_printf(out, "fa_coord_%s", name);
    if (label) {
        buf_printf(out, "{%s=\"", label);
        for (; *value; value++) {
            if (*value == '\n')
                buf_add(out, "\\n", 2);
            else if (*value == '\\' || *value == '"')
                buf_printf(out, "\\%c", *value);
            else
                buf_add(out, value, 1);
        }
        buf_add(out, "\"}", 2);
    }
    buf_printf(out, " %.17g\n", number);
}

static void put_counts(const struct report *report, const struct status *status,
                       struct buf *out)
{
    put_head(out, "running", "gauge",
             "1 while a coordinator works on the sweep, else 0.");
    put_sample(out, "running", NULL, NULL, status->running);
    put_head(out, "configurations", "gauge",
             "Configurations that were asked for, by outcome.");
    for (int i = 0; i < OUTCOMES_OF_CONFIG; i++)
        put_sample(out, "configurations", "outcome",
                   outcome_name((enum outcome)i),
                   (double)report->counts.outcomes[i]);
    put_head(out, "measurements", "gauge",
             "Measurements that were asked for: configurations times shapes.");
    put_sample(out, "measurements", NULL, NULL, (double)status->total);
    put_head(out, "measurements_settled", "gauge",
             "Measurements that have an outcome.");
    put_sample(out, "measurements_settled", NULL, NULL, (double)status->done);
}

/* The baseline has a rank, too. */
static void put_best(const struct report *report, struct buf *out)
{
    for (size_t i = 0; i < report->n_configs; i++) {
        const struct report_config *config = &report->configs[i];

        if (config->rank != 1 || !isfinite(config->cells[0].summary.median))
            continue;
        put_head(out, "best_seconds", "gauge",
                 "Median time of the configuration of rank 1, at the first "
                 "shape.");
        put_sample(out, "best_seconds", "shape", report->shapes[0].name,
                   config->cells[0].summary.median);
        return;
    }
}

static void put_cost(const struct report_cost *cost, struct buf *out)
{
    put_head(out, "host_seconds_total", "counter",
             "Time for which hosts were held, by what it was spent on.");
    for (int i = 0; i < REPORT_COST_CATEGORIES; i++)
        put_sample(out, "host_seconds_total", "category",
                   ledger_category_name((enum ledger_category)i),
                   cost->hours[i] * S_PER_H);
    put_sample(out, "host_seconds_total", "category", "proof",
               bill_hours(&cost->proof) * S_PER_H);
    if (cost->n_hosts > cost->unpriced) {
        put_head(out, "cost_dollars_total", "counter",
                 "Cost of the hosts that have a rate.");
        put_sample(out, "cost_dollars_total", NULL, NULL, cost->priced_usd);
    }
    put_head(out, "unpriced_hosts", "gauge", "Hosts without a rate.");
    put_sample(out, "unpriced_hosts", NULL, NULL, (double)cost->unpriced);
}

static void put_range(struct buf *out, const char *name, const char *help,
                      const struct estimate_range *range)
{
    if (isnan(range->likely))
        return;
    put_head(out, name, "gauge", help);
    put_sample(out, name, "bound", "low", range->low);
    put_sample(out, name, "bound", "likely", range->likely);
    put_sample(out, name, "bound", "high", range->high);
}

static void put_left(const struct status *status, struct buf *out)
{
    put_range(out, "left_seconds", "Time until all measurements are settled.",
              &status->left_s);
    put_range(out, "left_dollars",
              "Cost of that time, of the hosts that have a rate.",
              &status->left_usd);
}

/* What a host was held for last; a host is idle, too, once nothing runs. */
static void put_hosts(const struct status *status, struct buf *out)
{
    put_head(out, "hosts", "gauge", "Hosts, by what they are held for.");
    for (int i = 0; i < REPORT_COST_CATEGORIES; i++) {
        const char *name = ledger_category_name((enum ledger_category)i);
        int n = 0;

        for (size_t h = 0; status->running && h < status->n_hosts; h++)
            n += strcmp(status->hosts[h].category, name) == 0;
        put_sample(out, "hosts", "state", name, n);
    }
}

void metrics_text_put(const struct report *report,
                      const struct report_cost *cost,
                      const struct status *status, struct buf *out)
{
    put_counts(report, status, out);
    put_best(report, out);
    put_cost(cost, out);
    put_left(status, out);
    put_hosts(status, out);
}
