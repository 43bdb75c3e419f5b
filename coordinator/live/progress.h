/* progress.h - what the user sees while a sweep runs, on standard error
 *
 * On a terminal a block of lines that is drawn again in place (live_view.h);
 * elsewhere, and with NO_COLOR or TERM=dumb, one plain line with the time every
 * 10 s, and after 2 s for a new best.  progress_say() prints a line that stays.
 * The cursor is never hidden, so that it is there however the program ends.
 */
#ifndef FA_COORDINATOR_LIVE_PROGRESS_H
#define FA_COORDINATOR_LIVE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/live/progress_facts.h"

struct progress;

struct progress *progress_new(bool quiet);
/* What is drawn ends with the lines above the lanes, which stay. */
void progress_free(struct progress *progress);
bool progress_is_live(const struct progress *progress); /* draws in place */
void progress_say(struct progress *progress, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Might facts be shown now?  If not, do not collect them. */
bool progress_wants(struct progress *progress, int64_t now_ns, bool force);
/* Show the facts if it is time; 'force' shows them now.  The times in them are
 * filled in: since the first call, and what is left at that rate. */
void progress_show(struct progress *progress,
                   const struct progress_facts *facts, int64_t now_ns,
                   bool force);
/* Show them as they are. */
void progress_put(struct progress *progress,
                  const struct progress_facts *facts);

#endif
