/* The best five as a table that fits 80 columns: tunables that are the same in
 * all of them are named once, above. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/screen.h"
#include "coordinator/print/table.h"
#include "coordinator/report/report_internal.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"

#define BEST 5         /* rows, beside the baseline */
#define SAME_MAX 65536 /* bytes of text */

/* The baseline first; the others by time. */
struct best {
    const struct report_config *rows[BEST + 1];
    size_t entries[BEST + 1]; /* of the conclusion, if it compared them */
    size_t n;
    bool confirmed;
};

static bool has_best(const struct best *best,
                     const struct report_config *config)
{
    for (size_t i = 0; i < best->n; i++)
        if (best->rows[i] == config)
            return true;
    return false;
}

static void add(struct best *best, const struct report_config *config,
                size_t entry)
{
    best->entries[best->n] = entry;
    best->rows[best->n++] = config;
}

static void take_confirmed(const struct conclusion *c, struct best *best)
{
    const struct finding *findings = c->shapes[0].findings;

    best->confirmed = true;
    if (c->entries[0].config)
        add(best, c->entries[0].config, 0);
    while (best->n < BEST + 1) {
        size_t next = 0;

        for (size_t i = 1; i < c->n; i++)
            if (c->entries[i].config && !has_best(best, c->entries[i].config) &&
                (next == 0 ||
                 findings[i].time.seconds < findings[next].time.seconds))
                next = i;
        if (next == 0)
            return;
        add(best, c->entries[next].config, next);
    }
}

static void take_ranked(const struct report *report, struct best *best)
{
    const struct report_config *baseline = report_baseline(report);

    if (baseline && baseline->rank && baseline->selected)
        add(best, baseline, 0);
    for (size_t i = 0; i < report->n_configs && best->n < BEST + 1; i++)
        if (report->configs[i].rank && report->configs[i].selected &&
            !report->configs[i].baseline)
            add(best, &report->configs[i], 0);
}

/* Emulated times confirm nothing. */
static struct best take(const struct report_view *view)
{
    const struct conclusion *c = view->conclusion;
    struct best best = { .n = 0 };

    if (c->state == CONCLUSION_DONE && !c->emulated && c->n_shapes > 0)
        take_confirmed(c, &best);
    else
        take_ranked(view->report, &best);
    return best;
}

static const char *value_of(const struct report_config *config, size_t at,
                            const char *name)
{
    const struct stored_param *param =
        stored_params_find_at(&config->params, at, name);

    return param ? param->text : "-";
}

static bool differs(const struct best *best, size_t at)
{
    const char *name = best->rows[0]->params.items[at].name;
    const char *first = value_of(best->rows[0], at, name);

    for (size_t i = 1; i < best->n; i++)
        if (strcmp(value_of(best->rows[i], at, name), first) != 0)
            return true;
    return false;
}

static void print_same(const struct best *best, FILE *to)
{
    const struct stored_params *params = &best->rows[0]->params;
    struct buf text;

    if (best->n < 2)
        return;
    buf_init(&text, SAME_MAX);
    for (size_t i = 0; i < params->n; i++)
        if (!differs(best, i))
            buf_printf(&text, " %s=%s", params->items[i].name,
                       params->items[i].text);
    if (text.len)
        paragraph_print(to, 2, "Same in all:%s", text.bytes);
    buf_fini(&text);
}

static void columns(struct table *table, const struct best *best,
                    const struct report_view *view, const char *unit)
{
    const struct stored_params *params = &best->rows[0]->params;
    const char *shape = best->confirmed ? view->conclusion->shapes[0].name
                                        : view->report->shapes[0].name;
    char *time = mem_printf("%s %s", shape, unit);

    table_column(table, 'l', "key");
    table_column(table, 'r', time);
    if (!best->confirmed)
        table_column(table, 'r', "spread");
    if (best->rows[0]->baseline)
        table_column(table, 'r', "x baseline");
    if (best->confirmed) {
        table_column(table, 'r', "interval");
        table_column(table, 'l', "verdict");
    }
    for (size_t i = 0; i < params->n; i++)
        if (best->n < 2 || differs(best, i))
            table_column(table, 'r', params->items[i].name);
    free(time);
}

static enum screen_style style_of(enum verdict verdict)
{
    return verdict == VERDICT_FAST   ? SCREEN_GOOD
           : verdict == VERDICT_SLOW ? SCREEN_BAD
           : verdict == VERDICT_AMBG ? SCREEN_DOUBT
                                     : SCREEN_PLAIN;
}

static void confirmed_cells(struct table *table, const struct conclusion *c,
                            size_t entry, double scale)
{
    const struct finding *f = &c->shapes[0].findings[entry];

    table_number(table, 3, f->time.seconds * scale);
    if (entry == 0) {
        table_cell(table, "1");
        table_cell(table, "-");
        table_cell(table, "baseline");
        return;
    }
    table_number(table, 3, f->speedup.value);
    if (isfinite(f->speedup.hi))
        table_cell(table, "[%.3f, %.3f]", f->speedup.lo, f->speedup.hi);
    else
        table_cell(table, "-");
    table_cell(table, "%s", verdict_name(f->verdict));
    table_style(table, style_of(f->verdict));
}

static void ranked_cells(struct table *table,
                         const struct report_config *config,
                         const struct report_config *first, double scale)
{
    table_number(table, 3, config->cells[0].time_s * scale);
    table_number(table, 3, config->cells[0].summary.spread * scale);
    if (config == first && config->baseline)
        table_cell(table, "1");
    else if (first->baseline)
        table_number(table, 3,
                     first->cells[0].time_s / config->cells[0].time_s);
}

static void row(struct table *table, const struct best *best, size_t i,
                const struct report_view *view, double scale)
{
    const struct report_config *config = best->rows[i];
    const struct stored_params *params = &best->rows[0]->params;

    table_cell(table, "%.8s", config->key);
    if (best->confirmed)
        confirmed_cells(table, view->conclusion, best->entries[i], scale);
    else
        ranked_cells(table, config, best->rows[0], scale);
    for (size_t k = 0; k < params->n; k++)
        if (best->n < 2 || differs(best, k))
            table_cell(table, "%s", value_of(config, k, params->items[k].name));
}

void report_best_print(const struct report_view *view, FILE *to)
{
    const struct best best = take(view);
    const char *unit;
    double scale;
    struct table *table;

    if (best.n == 0)
        return;
    scale = report_ranking_unit(view->report, &unit);
    screen_heading(to, best.confirmed ? "The baseline and the best finalists"
                       : best.rows[0]->baseline
                           ? "Baseline and fastest, not confirmed"
                           : "The fastest, not confirmed");
    print_same(&best, to);
    table = table_new();
    columns(table, &best, view, unit);
    for (size_t i = 0; i < best.n; i++)
        row(table, &best, i, view, scale);
    table_print(table, to);
    table_free(table);
}
