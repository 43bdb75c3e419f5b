/* page.h - what is printed, as one page for a browser
 *
 * A page has a stream.  Whoever prints a listing prints it there as to a
 * terminal; lines become paragraphs, what table_print() prints becomes a
 * table.  Everything is escaped, and the page refers to nothing outside.
 *
 * There is one page at a time.  Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_PAGE_H
#define FA_COORDINATOR_PAGE_H

#include <stdbool.h>
#include <stdio.h>

struct page;
struct table;

struct page *page_open(FILE *out, const char *title);
FILE *page_stream(struct page *page);
void page_close(struct page *page); /* 'out' stays open */

/* For table_print(): if 'to' is the stream of the page, put the table there
 * and return true. */
bool page_took(FILE *to, const struct table *table);

/* Text for HTML: cleaned as for a terminal, then escaped. */
void page_escape(const char *text, FILE *out);

#endif
