/* serve_list.h - the list of the databases that are served, as a page
 *
 * It links to the page of each, and compares their best and their costs.
 * Times are set in relation only where sweep, device, architecture and shape
 * are the same; those of emulation never.  Pure, one thread (html_page.h).
 */
#ifndef FA_COORDINATOR_SERVE_SERVE_LIST_H
#define FA_COORDINATOR_SERVE_SERVE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct serve_source;
struct serve_summary;

void serve_list_write(const struct serve_source *sources, size_t n, FILE *to);
/* A page in place of one that cannot be made yet. */
void serve_list_wait(const struct serve_source *source, FILE *to);

/* The time of the best of 'one' over that of 'first'; NaN if they are not to be
 * compared. */
double serve_list_ratio(const struct serve_summary *one,
                        const struct serve_summary *first);
/* Is there more to come, so that the list is to be asked for again? */
bool serve_list_is_live(const struct serve_source *sources, size_t n);

#endif
