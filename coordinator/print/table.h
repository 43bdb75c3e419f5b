/* table.h - a table for people, with columns as wide as their contents
 *
 * Numbers are right-aligned, texts left-aligned; the last column is not padded.
 * A table that is wider than the output (screen.h) is printed in parts, one
 * below the other, each beginning with the first column; a last column of text
 * gets several lines before that.
 *
 * The same cells can be printed as CSV for programs (quoted as in RFC 4180),
 * and as HTML. On the stream of a page (html_page.h), table_print() prints
 * HTML.
 */
#ifndef FA_COORDINATOR_PRINT_TABLE_H
#define FA_COORDINATOR_PRINT_TABLE_H

#include <stdio.h>

#include "coordinator/print/screen.h"

struct table;

struct table *table_new(void);
void table_free(struct table *table);

/* Add all columns before the first cell; 'align' is 'l' or 'r'. */
void table_column(struct table *table, char align, const char *heading);

/* Add the next cell, row by row, from the left.  Cleans it for the terminal. */
void table_text(struct table *table, const char *text); /* as it is */
void table_cell(struct table *table, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A number, or "-" when it is NaN. */
void table_number(struct table *table, int decimals, double number);

/* Print the cell that was added last in a style, where there are colours. */
void table_style(struct table *table, enum screen_style style);

/* Remove the columns, the first one aside, that are empty in every row. */
void table_drop_empty(struct table *table);

void table_print(const struct table *table, FILE *to);
void table_html(const struct table *table, FILE *to);
void table_csv(const struct table *table, FILE *to);
/* The same row by row, so that they need no memory: print the cells added since
 * the last call. */
void table_csv_flush(struct table *table, FILE *to);

#endif
