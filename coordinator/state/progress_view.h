/* progress_view.h - what a running sweep shows, from what it knows
 */
#ifndef FA_COORDINATOR_STATE_PROGRESS_VIEW_H
#define FA_COORDINATOR_STATE_PROGRESS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress_facts;
struct progress_view_lanes;
struct sweep;

/* All but the lanes, what is out, and the times. */
void progress_view_facts(const struct sweep *sweep,
                         struct progress_facts *facts);
/* Add the lanes and what is out.  They live until progress_view_forget(). */
struct progress_view_lanes *progress_view_look(const struct sweep *sweep,
                                               int64_t now,
                                               struct progress_facts *facts);
void progress_view_forget(struct progress_view_lanes *lanes);

void progress_view_show(struct sweep *sweep, int64_t now, bool force);

#endif
