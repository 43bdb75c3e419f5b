/* html_page.h - what is printed, as one page for a browser
 *
 * A page has a stream.  Whoever prints a listing prints it there as to a
 * terminal; lines become paragraphs, what table_print() prints becomes a
 * table.  Everything is escaped, and the page refers to nothing outside.
 *
 * There is one page at a time.  Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_TEXT_HTML_PAGE_H
#define FA_COORDINATOR_TEXT_HTML_PAGE_H

#include <stdbool.h>
#include <stdio.h>

struct html_page;
struct table;

struct html_page *html_page_open(FILE *out, const char *title);
FILE *html_page_stream(struct html_page *page);
void html_page_close(struct html_page *page); /* 'out' stays open */

/* For table_print(): if 'to' is the stream of the page, put the table there
 * and return true. */
bool html_page_took(FILE *to, const struct table *table);

/* Text for HTML: cleaned as for a terminal, then escaped. */
void html_page_escape(const char *text, FILE *out);

#endif
