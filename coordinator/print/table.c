#include "coordinator/print/table.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/print/html_page.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/screen.h"
#include "coordinator/text/terminal.h"

#define GAP 2         /* spaces between columns */
#define TEXT_LEAST 24 /* columns, for text that is broken into lines */

struct column {
    char align;
    size_t width;
};

struct table {
    struct column *columns;
    size_t n_columns;
    char **cells;              /* the headings come first */
    enum screen_style *styles; /* of the cells */
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
    free(table->styles);
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
        table->styles =
            mem_grow(table->styles, table->cap, sizeof(*table->styles));
    }
    table->styles[table->n_cells] =
        table->n_cells < table->n_columns ? SCREEN_STRONG : SCREEN_PLAIN;
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

void table_text(struct table *table, const char *text)
{
    add(table, mem_strdup(text));
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

void table_style(struct table *table, enum screen_style style)
{
    assert(table->n_cells > table->n_columns);
    table->styles[table->n_cells - 1] = style;
}

static bool is_empty(const struct table *table, size_t column)
{
    for (size_t i = table->n_columns + column; i < table->n_cells;
         i += table->n_columns)
        if (table->cells[i][0])
            return false;
    return true;
}

void table_drop_empty(struct table *table)
{
    size_t width = table->n_columns, kept = 0, n = 0;
    bool *dropped = mem_new(width + 1, sizeof(*dropped));

    assert(width == 0 || table->n_cells % width == 0);
    for (size_t c = 0; c < width; c++) {
        dropped[c] = c > 0 && is_empty(table, c);
        if (!dropped[c])
            table->columns[kept++] = table->columns[c];
    }
    for (size_t i = 0; i < table->n_cells; i++) {
        if (dropped[i % width]) {
            free(table->cells[i]);
            continue;
        }
        table->cells[n] = table->cells[i];
        table->styles[n++] = table->styles[i];
    }
    table->n_columns = kept;
    table->n_cells = n;
    free(dropped);
}

static void pad(FILE *to, size_t n)
{
    fprintf(to, "%*s", (int)n, "");
}

/* ---- on the screen: the columns that fit beside the first one, then the next
 * ones, below, beside the first one again */

struct part {
    size_t from, to; /* columns, beside the first one */
    size_t last;     /* width of the last one of them */
};

static bool is_text(const struct table *table, size_t column)
{
    return table->columns[column].align == 'l';
}

/* The next columns from 'from' that fit into 'width'. At least one, even if it
 * does not; the last one may be text that gets several lines. */
static struct part part_from(const struct table *table, size_t from,
                             size_t width)
{
    size_t used = from > 0 ? table->columns[0].width : 0;
    struct part part = { from, from, 0 };

    for (; part.to < table->n_columns; part.to++) {
        size_t gap = part.to > 0 ? GAP : 0;
        size_t is = table->columns[part.to].width;
        size_t left = width > used + gap ? width - used - gap : 0;

        if (is > left && is_text(table, part.to) && left >= TEXT_LEAST) {
            part.last = left;
            part.to++;
            break;
        }
        if (is > left && part.to > from)
            break;
        used += gap + is;
        part.last = is;
    }
    return part;
}

/* Text in lines of 'width', below each other at column 'at'. */
static void print_text(const struct table *table, size_t cell, size_t at,
                       size_t width, FILE *to)
{
    const char *text = table->cells[cell];

    do {
        const char *next;
        size_t len = paragraph_line(text, width, &next);
        char *line = mem_dup(text, len);

        screen_put(to, table->styles[cell], line);
        free(line);
        fputc('\n', to);
        text = next;
        if (*text)
            pad(to, at);
    } while (*text);
}

static size_t print_cell(const struct table *table, size_t cell, bool last,
                         FILE *to)
{
    const struct column *column = &table->columns[cell % table->n_columns];
    size_t fill = column->width - terminal_width(table->cells[cell]);

    if (column->align == 'r')
        pad(to, fill);
    screen_put(to, table->styles[cell], table->cells[cell]);
    if (!last)
        pad(to, GAP + (column->align == 'l' ? fill : 0));
    return column->width + GAP;
}

static void print_part(const struct table *table, const struct part *part,
                       FILE *to)
{
    for (size_t row = 0; row < table->n_cells; row += table->n_columns) {
        size_t at = 0;

        if (part->from > 0)
            at += print_cell(table, row, false, to);
        for (size_t c = part->from; c + 1 < part->to; c++)
            at += print_cell(table, row + c, false, to);
        if (table->columns[part->to - 1].width > part->last) {
            print_text(table, row + part->to - 1, at, part->last, to);
        } else {
            print_cell(table, row + part->to - 1, true, to);
            fputc('\n', to);
        }
    }
}

void table_print(const struct table *table, FILE *to)
{
    size_t width = screen_columns(to);

    if (html_page_took(to, table))
        return;
    for (size_t from = 0; from < table->n_columns;) {
        struct part part = part_from(table, from, width);

        if (from > 0)
            fputc('\n', to);
        print_part(table, &part, to);
        from = part.to;
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

void table_csv_flush(struct table *table, FILE *to)
{
    assert(table->n_cells % table->n_columns == 0);
    table_csv(table, to);
    for (size_t i = 0; i < table->n_cells; i++)
        free(table->cells[i]);
    table->n_cells = 0;
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
