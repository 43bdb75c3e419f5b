#include "coordinator/page/page_plot.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "coordinator/conclusion/conclusion.h"
#include "coordinator/result/report.h"
#include "coordinator/print/html_page.h"

enum {
    WIDTH = 720,
    LEFT = 150,
    RIGHT = 20,
    TOP = 34,
    ROW = 20,
    TICKS = 6
};

struct interval {
    double lo, hi; /* NaN: there is none */
};

struct plot {
    const struct report *report;
    const struct conclusion *conclusion;
    const struct report_config *rows[PAGE_PLOT_ROWS + 1];
    size_t n;
    double from_s, to_s; /* of the axis */
    double unit_s;
    const char *unit;
};

double page_plot_step(double span, int most)
{
    double raw = span / most;
    double power = pow(10, floor(log10(raw)));

    for (int i = 0; i < 3; i++) {
        static const double steps[] = { 1, 2, 5 };

        if (steps[i] * power >= raw * (1 - 1e-9))
            return steps[i] * power;
    }
    return 10 * power;
}

static void choose_rows(struct plot *plot)
{
    const struct report_config *baseline = report_baseline(plot->report);
    bool shown = false;

    for (size_t i = 0; i < plot->report->n_configs && plot->n < PAGE_PLOT_ROWS;
         i++) {
        const struct report_config *config = &plot->report->configs[i];

        if (!config->rank || !config->selected)
            continue;
        plot->rows[plot->n++] = config;
        shown = shown || config == baseline;
    }
    if (plot->n && !shown && baseline && baseline->rank)
        plot->rows[plot->n++] = baseline;
}

/* What was confirmed at the headline shape, on which the ranking is. */
static struct interval confirmed(const struct plot *plot,
                                 const struct report_config *config)
{
    const struct conclusion *c = plot->conclusion;

    for (size_t s = 0; s < c->n_shapes; s++)
        for (size_t e = 0;
             e < c->n &&
             strcmp(c->shapes[s].name, plot->report->shapes[0].name) == 0 &&
             c->shapes[s].findings;
             e++)
            if (c->entries[e].config == config)
                return (struct interval){ c->shapes[s].findings[e].time.lo,
                                          c->shapes[s].findings[e].time.hi };
    return (struct interval){ (double)NAN, (double)NAN };
}

static void choose_scale(struct plot *plot)
{
    static const struct {
        double s;
        const char *name;
    } units[] = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "µs" }, { 1e-9, "ns" } };
    double lo = INFINITY, hi = 0, margin;
    size_t u = 0;

    for (size_t i = 0; i < plot->n; i++) {
        const struct summary *summary = &plot->rows[i]->cells[0].summary;
        struct interval interval = confirmed(plot, plot->rows[i]);

        lo = fmin(fmin(lo, interval.lo),
                  fmin(summary->min, summary->median - summary->spread));
        hi = fmax(fmax(hi, interval.hi),
                  fmax(summary->max, summary->median + summary->spread));
    }
    margin = fmax(0.03 * (hi - lo), 0.002 * hi);
    plot->from_s = fmax(0, lo - margin);
    plot->to_s = hi + margin;
    while (u < 3 && hi < units[u].s)
        u++;
    plot->unit_s = units[u].s;
    plot->unit = units[u].name;
}

static double x_of(const struct plot *plot, double s)
{
    return LEFT + (s - plot->from_s) / (plot->to_s - plot->from_s) *
                      (WIDTH - LEFT - RIGHT);
}

static void put_line(const struct plot *plot, const char *class, double lo,
                     double hi, double y, FILE *to)
{
    if (isfinite(lo) && isfinite(hi))
        fprintf(to,
                "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\""
                " y2=\"%.1f\"/>",
                class, x_of(plot, lo), x_of(plot, hi), y, y);
}

static void put_axis(const struct plot *plot, double bottom, FILE *to)
{
    double from = plot->from_s / plot->unit_s,
           until = plot->to_s / plot->unit_s;
    double step = page_plot_step(until - from, TICKS);
    int decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;

    for (int n = (int)ceil(from / step); n * step <= until; n++) {
        double tick = n * step;
        double x = x_of(plot, tick * plot->unit_s);

        fprintf(to,
                "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\""
                " y2=\"%.0f\"/><text class=\"tick\" x=\"%.1f\" y=\"%d\""
                " text-anchor=\"middle\">%.*f</text>\n",
                x, x, TOP - 6, bottom, x, TOP - 12, decimals, tick);
    }
    fprintf(to, "<text class=\"tick\" x=\"%d\" y=\"%d\">%s</text>\n", 4,
            TOP - 12, plot->unit);
}

static void put_row(const struct plot *plot, size_t i, FILE *to)
{
    const struct report_config *config = plot->rows[i];
    const struct summary *summary = &config->cells[0].summary;
    struct interval interval = confirmed(plot, config);
    double y = TOP + ROW * ((double)i + 0.5);

    fprintf(to, "<g%s><title>", config->baseline ? " class=\"base\"" : "");
    for (size_t p = 0; p < config->params.n; p++) {
        fputs(p ? " " : "", to);
        html_page_escape(config->params.items[p].name, to);
        fputs("=", to);
        html_page_escape(config->params.items[p].text, to);
    }
    fprintf(to,
            "</title><text class=\"label\" x=\"4\" y=\"%.1f\">%d %s%.8s"
            "</text>",
            y + 4, config->rank, config->baseline ? "baseline " : "",
            config->key);
    put_line(plot, "range", summary->min, summary->max, y, to);
    put_line(plot, "spread", summary->median - summary->spread,
             summary->median + summary->spread, y, to);
    put_line(plot, "confirmed", interval.lo, interval.hi, y + 6, to);
    fprintf(to,
            "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/></g>\n",
            x_of(plot, summary->median), y);
}

void page_plot_ranking(const struct report *report,
                       const struct conclusion *conclusion, FILE *to)
{
    struct plot plot = { .report = report, .conclusion = conclusion };
    double bottom;

    choose_rows(&plot);
    if (!plot.n)
        return;
    choose_scale(&plot);
    bottom = TOP + ROW * (double)plot.n;
    fprintf(to,
            "<figure id=\"plot\"><figcaption>Time of the fastest %zu"
            " configurations at ",
            plot.n);
    html_page_escape(report->shapes[0].name, to);
    fputs(": median, spread (thick) and all samples (thin)", to);
    if (conclusion->state == CONCLUSION_DONE)
        fputs("; below, the interval of the confirmation", to);
    fprintf(to,
            "</figcaption>\n<div class=\"scroll\" tabindex=\"0\"><svg "
            "viewBox=\"0 0 %d %.0f\""
            " width=\"%d\" role=\"img\" aria-label=\"Interval plot of the"
            " ranking; the table of the ranking has the same figures\">\n",
            WIDTH, bottom + 8, WIDTH);
    put_axis(&plot, bottom, to);
    for (size_t i = 0; i < plot.n; i++)
        put_row(&plot, i, to);
    fputs("</svg></div></figure>\n", to);
}
