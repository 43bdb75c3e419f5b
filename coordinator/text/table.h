/* table.h - a listing for people: columns as wide as what is in them
 *
 * Numbers stand right, texts left; the last column is not padded.  The same
 * cells print as CSV (quoted as in RFC 4180) for programs, and as HTML; to the
 * stream of a page (html_page.h) table_print() prints the latter.
 */
#ifndef FA_COORDINATOR_TEXT_TABLE_H
#define FA_COORDINATOR_TEXT_TABLE_H

#include <stdio.h>

struct table;

struct table *table_new(void);
void table_free(struct table *table);

/* All columns come before the first cell; 'align' is 'l' or 'r'. */
void table_column(struct table *table, char align, const char *heading);

/* The next cell, row by row, from the left.  Cleaned for the terminal. */
void table_cell(struct table *table, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A number, or "-" when it is NaN. */
void table_number(struct table *table, int decimals, double number);

void table_print(const struct table *table, FILE *to);
void table_html(const struct table *table, FILE *to);
void table_csv(const struct table *table, FILE *to);

#endif
