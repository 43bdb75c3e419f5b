/* page.h - a report as one file for a browser
 *
 * The page holds the report in full as text and tables, the ranking as a
 * picture that needs no script, its data as JSON (page_data.h), and scripts
 * that draw pictures of the data.  Its policy allows these scripts and this
 * style by their hashes and nothing else: it loads nothing, whatever a name in
 * the database contains.
 *
 * The pictures need D3, which is embedded if it was there at build time.
 * Without it the page has no scripts and no data, and says so.
 */
#ifndef FA_COORDINATOR_PAGE_PAGE_H
#define FA_COORDINATOR_PAGE_PAGE_H

#include <stdbool.h>
#include <stdio.h>

struct page_history;
struct report_view;

bool page_has_pictures(void); /* it was built with D3 */

/* 'history' is of the report of the view.  'version' is NULL for a page that
 * is a file.  For one that fa-coord serves it names what the page shows, and
 * the page asks its server for changes (browser/live.js). */
void page_write(const struct report_view *view,
                const struct page_history *history, const char *version,
                FILE *to);
/* The style of a page, for others of the same look. */
const char *page_style(void);

#endif
