/* html_page.h - collects printed listings as one page for a browser
 *
 * A page has a stream.  Code prints a listing to that stream as to a terminal:
 * lines become paragraphs, and table_print() makes HTML tables.  All of that is
 * escaped.  Markup of the caller may stand between.
 *
 * There is one page at a time.  Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_PRINT_HTML_PAGE_H
#define FA_COORDINATOR_PRINT_HTML_PAGE_H

#include <stdbool.h>
#include <stdio.h>

struct html_page;
struct table;

struct html_page_head {
    const char *title;
    const char *policy; /* Content-Security-Policy */
    const char *style;  /* CSS */
};

struct html_page *html_page_open(FILE *out, const struct html_page_head *head);
FILE *html_page_stream(struct html_page *page);
/* Where to write markup that follows what was printed so far. */
FILE *html_page_markup(struct html_page *page);
void html_page_close(struct html_page *page); /* 'out' stays open */

/* For table_print(): if 'to' is the stream of the page, add the table there and
 * return true. */
bool html_page_took(FILE *to, const struct table *table);

/* Clean text as for a terminal, then escape it for HTML. */
void html_page_escape(const char *text, FILE *out);

#endif
