/* arrivals.h - how long files have been on their way to hosts
 *
 * A worker asks for a file window by window, so a question from further on
 * shows that what is before has arrived.  A lease that waits for the file loses
 * no time meanwhile.  But no part counts for longer than it takes at
 * ARRIVALS_FLOOR, and each part counts once for each host: a file delays no
 * lease by more than its size over that rate.  Pure.
 */
#ifndef FA_COORDINATOR_SCHEDULE_ARRIVALS_H
#define FA_COORDINATOR_SCHEDULE_ARRIVALS_H

#include <stddef.h>
#include <stdint.h>

struct arrivals;

#define ARRIVALS_FLOOR (64 << 10) /* bytes a second */

struct arrivals *arrivals_new(size_t hosts, size_t files);
void arrivals_free(struct arrivals *arrivals); /* NULL is fine */

/* A host asks for what begins at 'offset' of a file.  The ns before 'now_ns' in
 * which files have been arriving there, as far as they count and have not been
 * told before; 0 for a question that is asked again. */
int64_t arrivals_asked(struct arrivals *arrivals, size_t host, size_t file,
                       int64_t offset, int64_t now_ns);

#endif
