/* live_view.h - what is known of a running sweep, as text
 *
 * On a terminal a frame: how far it is, what came of it, the best so far, time
 * and dollars, then a lane for each GPU.  What has no room below each other is
 * summed in the last line.  Elsewhere one line.  Pure.
 */
#ifndef FA_COORDINATOR_LIVE_LIVE_VIEW_H
#define FA_COORDINATOR_LIVE_LIVE_VIEW_H

#include <stddef.h>

struct live_frame;
struct progress_facts;

/* Fill a frame that has no lines yet with less than 'rows' lines. */
void live_view_frame(const struct progress_facts *facts, size_t rows,
                     struct live_frame *out);

/* One line, without its end, cut to 'size'. */
void live_view_line(const struct progress_facts *facts, char *out, size_t size);

#endif
