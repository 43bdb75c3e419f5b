/* progress_view.h - the line and the lanes of progress
 */
#ifndef FA_COORDINATOR_STATE_PROGRESS_VIEW_H
#define FA_COORDINATOR_STATE_PROGRESS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress_facts;
struct sweep;

void progress_view_facts(const struct sweep *sweep,
                         struct progress_facts *facts);
void progress_view_show(struct sweep *sweep, int64_t now, bool force);

#endif
