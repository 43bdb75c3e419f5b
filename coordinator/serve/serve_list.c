#include "coordinator/serve/serve_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/page/page.h"
#include "coordinator/page/page_policy.h"
#include "coordinator/print/html_page.h"
#include "coordinator/print/table.h"
#include "coordinator/serve/serve_source.h"

#define KEY_DIGITS 8
#define US_PER_S 1e6

static bool is_same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

double serve_list_ratio(const struct serve_summary *one,
                        const struct serve_summary *first)
{
    if (!one->name || !first->name || !is_same(one->name, first->name) ||
        !is_same(one->device, first->device) ||
        !is_same(one->arch, first->arch) ||
        !is_same(one->shape, first->shape) || is_same(one->device, "cpu"))
        return (double)NAN;
    return one->best_s / first->best_s;
}

bool serve_list_is_live(const struct serve_source *sources, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sources[i].stamp.running || sources[i].problem.text[0])
            return true;
    return false;
}

static struct html_page *open_page(const char *title, FILE *to)
{
    struct page_policy_text css = { { page_style() } };
    char *policy = page_policy(NULL, 0, &css, false);
    struct html_page *page = html_page_open(
        to, &(struct html_page_head){ title, policy, css.parts[0] });

    free(policy);
    return page;
}

static void put_text(const char *element, const char *text, FILE *to)
{
    if (!text || !text[0])
        return;
    fprintf(to, "<%s>", element);
    html_page_escape(text, to);
    fprintf(to, "</%s>\n", element);
}

static void put_link(const struct serve_source *source, size_t number, FILE *to)
{
    fprintf(to, "<li><a href=\"%zu/\">", number);
    html_page_escape(source->path, to);
    fputs("</a>", to);
    fputs(source->stamp.running ? " (running)\n" : "\n", to);
    put_text("p", source->summary.sentence, to);
    put_text("p", source->problem.text, to);
    put_text("p", source->notice.text, to);
    fputs("</li>\n", to);
}

static struct table *begin_table(void)
{
    static const struct {
        char align;
        const char *heading;
    } columns[] = {
        { 'r', "" },           { 'l', "sweep" },
        { 'l', "device" },     { 'l', "shape" },
        { 'l', "best" },       { 'r', "time us" },
        { 'r', "x baseline" }, { 'r', "time / that of 1" },
        { 'r', "settled" },    { 'r', "of" },
        { 'r', "host-hours" }, { 'r', "USD" },
    };
    struct table *table = table_new();

    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        table_column(table, columns[i].align, columns[i].heading);
    return table;
}

static void put_row(struct table *table, size_t number,
                    const struct serve_summary *one,
                    const struct serve_summary *first)
{
    table_cell(table, "%zu", number);
    table_cell(table, "%s", one->name);
    table_cell(table, "%s, %s", one->device, one->arch);
    table_cell(table, "%s", one->shape);
    table_cell(table, "%.*s", KEY_DIGITS,
               one->best_key[0] ? one->best_key : "-");
    table_number(table, 3, one->best_s * US_PER_S);
    table_number(table, 3, one->baseline_s / one->best_s);
    table_number(table, 3, serve_list_ratio(one, first));
    table_cell(table, "%" PRId64, one->settled);
    table_cell(table, "%" PRId64, one->total);
    table_number(table, 3, one->hours);
    table_number(table, 2, one->usd);
}

static void put_comparison(const struct serve_source *sources, size_t n,
                           struct html_page *page)
{
    struct table *table = begin_table();

    for (size_t i = 0; i < n; i++)
        if (sources[i].summary.name)
            put_row(table, i + 1, &sources[i].summary, &sources[0].summary);
    table_print(table, html_page_stream(page));
    table_free(table);
    fprintf(html_page_stream(page),
            "\n'fa-coord compare' says whether a difference is one.\n");
}

void serve_list_write(const struct serve_source *sources, size_t n, FILE *to)
{
    struct html_page *page = open_page("Sweeps", to);
    FILE *markup = html_page_markup(page);

    fputs("<main>\n<ol>\n", markup);
    for (size_t i = 0; i < n; i++)
        put_link(&sources[i], i + 1, markup);
    fputs("</ol>\n<h2>Their best and their costs</h2>\n"
          "<div class=\"scroll\" tabindex=\"0\">\n",
          markup);
    put_comparison(sources, n, page);
    fputs("</div>\n</main>\n", html_page_markup(page));
    html_page_close(page);
}

void serve_list_wait(const struct serve_source *source, FILE *to)
{
    struct html_page *page = open_page(source->path, to);

    put_text("p", source->problem.text, html_page_markup(page));
    put_text("p", "This page asks again by itself.", html_page_markup(page));
    html_page_close(page);
}
