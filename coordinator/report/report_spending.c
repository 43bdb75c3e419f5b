#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "coordinator/costs/costs.h"
#include "coordinator/costs/gpu_time.h"
#include "coordinator/print/table.h"
#include "coordinator/report/report_print.h"
#include "coordinator/text/json_out.h"

#define NAME_COLUMNS 24 /* of a GPU's host and UUID */

/* The words of costs.h for people. */
static const char *words_of(const struct costs_line *line)
{
    static const struct {
        const char *item, *words;
    } words[] = {
        { "failures", "configurations that failed" },
        { "lost", "leases whose result never came" },
        { "retries", "second and further attempts" },
        { "until_winner", "all until the winner was measured" },
        { "gates", "saved by gates" },
        { "cache", "saved by builds from the cache" },
        { "shared_code", "saved by shared machine code" },
        { "tuner", "a serial tuner, one GPU host" },
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].item, line->item) == 0)
            return words[i].words;
    return line->item;
}

static void dollars(struct table *table, double usd)
{
    if (isnan(usd))
        table_cell(table, "unpriced");
    else
        table_number(table, 4, usd);
}

/* ---- the GPUs: a row has a line for each kind */

static double kind_total(const struct costs *costs, int kind)
{
    double s = 0;

    for (size_t i = 0; i < costs->n; i++)
        if (costs->lines[i].scope == COSTS_GPU &&
            strcmp(costs->lines[i].item,
                   gpu_time_name((enum gpu_time_kind)kind)) == 0)
            s += costs->lines[i].seconds;
    return s;
}

static void gpu_row(struct table *table, const struct costs_line *lines,
                    const bool shown[GPU_TIME_KINDS])
{
    double held = 0, usd = 0;

    for (int kind = 0; kind < GPU_TIME_KINDS; kind++) {
        held += lines[kind].seconds;
        usd += lines[kind].usd;
    }
    table_cell(table, "%.*s", NAME_COLUMNS, lines->name);
    table_number(table, 1, held);
    for (int kind = 0; kind < GPU_TIME_KINDS; kind++)
        if (shown[kind])
            table_number(table, 1, lines[kind].seconds);
    dollars(table, usd);
}

static void print_gpus(const struct costs *costs, FILE *to)
{
    struct table *table = table_new();
    bool shown[GPU_TIME_KINDS], any = false;

    table_column(table, 'l', "GPU");
    table_column(table, 'r', "held s");
    for (int kind = 0; kind < GPU_TIME_KINDS; kind++) {
        shown[kind] = kind_total(costs, kind) > 0;
        if (shown[kind])
            table_column(table, 'r', gpu_time_name((enum gpu_time_kind)kind));
    }
    table_column(table, 'r', "USD");
    for (size_t i = 0; i < costs->n; i++) {
        if (costs->lines[i].scope != COSTS_GPU ||
            strcmp(costs->lines[i].item, gpu_time_name(0)) != 0)
            continue;
        gpu_row(table, &costs->lines[i], shown);
        any = true;
    }
    if (any) {
        fputc('\n', to);
        table_print(table, to);
    }
    table_free(table);
}

/* ---- the rest */

static void count_cell(struct table *table, int64_t count)
{
    if (count < 0)
        table_cell(table, "%s", "");
    else
        table_cell(table, "%" PRId64, count);
}

/* The only run of its kind: the line of the kind says the same. */
static bool is_only_run(const struct costs *costs, const struct costs_line *one)
{
    size_t n = 0;

    for (size_t i = 0; i < costs->n; i++)
        n += costs->lines[i].scope == COSTS_RUN &&
             strcmp(costs->lines[i].item, one->item) == 0;
    return one->scope == COSTS_RUN && n == 1;
}

void report_spending_table(const struct report_view *view, FILE *to)
{
    const struct costs *costs = view->costs;
    struct table *table = table_new();

    print_gpus(costs, to);
    table_column(table, 'l', "spent on");
    table_column(table, 'r', "n");
    table_column(table, 'r', "seconds");
    table_column(table, 'r', "USD");
    for (size_t i = 0; i < costs->n; i++) {
        const struct costs_line *line = &costs->lines[i];

        if (line->scope == COSTS_GPU || is_only_run(costs, line))
            continue;
        if (line->scope == COSTS_RUN)
            table_cell(table, "run %s: %s", line->name, line->item);
        else
            table_cell(table, "%s%s",
                       line->scope == COSTS_PHASE ? "all of: " : "",
                       words_of(line));
        count_cell(table, line->count);
        table_number(table, 2, line->seconds);
        if (isnan(line->seconds))
            table_number(table, 4, line->usd); /* not for want of a rate */
        else
            dollars(table, line->usd);
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
}

static void real(struct table *table, double number)
{
    if (isfinite(number))
        table_cell(table, "%.9g", number);
    else
        table_cell(table, "%s", "");
}

void report_spending_csv(const struct report_view *view, FILE *to)
{
    static const char *const columns[] = { "scope", "name",    "item",
                                           "count", "seconds", "usd" };
    struct table *table = table_new();

    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        table_column(table, 'l', columns[i]);
    for (size_t i = 0; i < view->costs->n; i++) {
        const struct costs_line *line = &view->costs->lines[i];

        table_cell(table, "%s", costs_scope_name(line->scope));
        table_cell(table, "%s", line->name);
        table_cell(table, "%s", line->item);
        count_cell(table, line->count);
        real(table, line->seconds);
        real(table, line->usd);
    }
    table_csv(table, to);
    table_free(table);
}

void report_put_spending(struct json_out *out, const struct costs *costs)
{
    json_out_open(out, "spending", '[');
    for (size_t i = 0; costs && i < costs->n; i++) {
        const struct costs_line *line = &costs->lines[i];

        json_out_open(out, NULL, '{');
        json_out_text(out, "scope", costs_scope_name(line->scope));
        json_out_text(out, "name", line->name);
        json_out_text(out, "item", line->item);
        if (line->count < 0)
            json_out_null(out, "count");
        else
            json_out_int(out, "count", line->count);
        json_out_real(out, "seconds", line->seconds);
        json_out_real(out, "usd", line->usd);
        json_out_close(out);
    }
    json_out_close(out);
}
