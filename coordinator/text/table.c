#include "coordinator/text/table.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/text/html_page.h"
#include "coordinator/text/terminal.h"

#define GAP 2 /* spaces between columns */

struct column {
    char align;
    size_t width;
};

struct table {
    struct column *columns;
    size_t n_columns;
    char **cells; /* the headings come first */
    size_t n_cells, cap;
};

struct table *table_new(void)
{
    return mem_new(1, sizeof(struct table));
}

void table_free(struct table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->n_cells; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table->columns);
    free(table);
}

static void add(struct table *table, char *text)
{
    struct column *column = &table->columns[table->n_cells % table->n_columns];
    size_t width = terminal_width(terminal_clean(text, false));

    if (table->n_cells == table->cap) {
        table->cap = table->cap ? table->cap * 2 : 64;
        table->cells =
            mem_grow(table->cells, table->cap, sizeof(*table->cells));
    }
    table->cells[table->n_cells++] = text;
    if (width > column->width)
        column->width = width;
}

void table_column(struct table *table, char align, const char *heading)
{
    assert(table->n_cells == table->n_columns);
    table->columns =
        mem_grow(table->columns, table->n_columns + 1, sizeof(*table->columns));
    table->columns[table->n_columns++] = (struct column){ .align = align };
    add(table, mem_strdup(heading));
}

void table_cell(struct table *table, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        mem_exhausted();
    va_end(ap);
    add(table, text);
}

void table_number(struct table *table, int decimals, double number)
{
    if (isnan(number))
        table_cell(table, "-");
    else
        table_cell(table, "%.*f", decimals, number);
}

static void pad(FILE *to, size_t n)
{
    fprintf(to, "%*s", (int)n, "");
}

void table_print(const struct table *table, FILE *to)
{
    if (html_page_took(to, table))
        return;
    for (size_t i = 0; i < table->n_cells; i++) {
        const struct column *column = &table->columns[i % table->n_columns];
        bool last = (i + 1) % table->n_columns == 0;
        size_t fill = column->width - terminal_width(table->cells[i]);

        if (column->align == 'r')
            pad(to, fill);
        fputs(table->cells[i], to);
        if (last)
            fputc('\n', to);
        else
            pad(to, GAP + (column->align == 'l' ? fill : 0));
    }
}

static void csv_cell(const char *text, FILE *to)
{
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

void table_csv(const struct table *table, FILE *to)
{
    for (size_t i = 0; i < table->n_cells; i++) {
        csv_cell(table->cells[i], to);
        fputs((i + 1) % table->n_columns == 0 ? "\n" : ",", to);
    }
}

void table_html(const struct table *table, FILE *to)
{
    size_t width = table->n_columns;

    assert(width > 0);
    fputs("<div><table>\n<thead>", to);
    for (size_t i = 0; i < table->n_cells; i++) {
        const char *tag = i < width ? "th" : "td";

        if (i % width == 0)
            fputs("<tr>", to);
        fprintf(to, "<%s%s>", tag,
                table->columns[i % width].align == 'r' ? " class=\"r\"" : "");
        html_page_escape(table->cells[i], to);
        fprintf(to, "</%s>", tag);
        if ((i + 1) % width == 0)
            fputs(i + 1 == width ? "</tr></thead>\n<tbody>\n" : "</tr>\n", to);
    }
    fputs("</tbody>\n</table></div>\n", to);
}
