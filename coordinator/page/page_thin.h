/* page_thin.h - which configurations have times at the further shapes
 *
 * The times at the shapes beside the headline would make a page that grows
 * with their number.  So from the third shape on, these times together are
 * three quarters as many as the page has configurations, or PAGE_THIN_LEAST
 * where that is more: of each such shape those of the same configurations, the
 * fastest of every shape in turn.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_PAGE_PAGE_THIN_H
#define FA_COORDINATOR_PAGE_PAGE_THIN_H

#include <stddef.h>

struct report;

#define PAGE_THIN_LEAST 3750 /* times that any page may have */

/* 'places' gets the places of these configurations among the selected ones,
 * ascending; free() them.  Returns how many, or 0 and NULL if all selected
 * configurations have their times. */
size_t page_thin(const struct report *report, size_t **places);

#endif
