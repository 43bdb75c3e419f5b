/* upload_watch.h - does an upload that breaks off again and again get on?
 *
 * What was found on the host when a connection began counts, and what was sent
 * over it: bytes that were sent may be lost with the connection.  Progress is
 * more of either than ever before, or that it began.  So a host cannot make
 * progress for ever, and quick failures do not end an upload, but time without
 * progress does.
 * Pure.
 */
#ifndef FA_COORDINATOR_LINK_UPLOAD_WATCH_H
#define FA_COORDINATOR_LINK_UPLOAD_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UPLOAD_WATCH_STILL_S 30 /* without progress, a failure is one */
#define UPLOAD_WATCH_TELL_S 5   /* the reactor hears of progress so often */

/* All zero before it begins.  Times are CLOCK_BOOTTIME. */
struct upload_watch {
    size_t found, sent;  /* most bytes of the program */
    int64_t progress_ns; /* the last one, 0: none yet */
    int64_t told_ns;
};

/* So many bytes are on the host: true if that is progress. */
bool upload_watch_found(struct upload_watch *watch, size_t bytes,
                        int64_t now_ns);
/* So many are on the host or on their way. */
bool upload_watch_sent(struct upload_watch *watch, size_t bytes,
                       int64_t now_ns);

/* Is the last progress younger than UPLOAD_WATCH_STILL_S? */
bool upload_watch_gets_on(const struct upload_watch *watch, int64_t now_ns);

/* Is it time to tell of the progress?  True at most every
 * UPLOAD_WATCH_TELL_S. */
bool upload_watch_tells(struct upload_watch *watch, int64_t now_ns);

#endif
