/* notices.h - tells an onlooker what happens to a sweep (sweep_options.h)
 *
 * Nothing without an onlooker.
 */
#ifndef FA_COORDINATOR_NOTES_NOTICES_H
#define FA_COORDINATOR_NOTES_NOTICES_H

#include <stddef.h>

struct sweep;

void notices_host_lost(const struct sweep *sweep, size_t host, const char *why);
void notices_host_ready(const struct sweep *sweep, size_t host);

/* Once a turn: is the best faster than the one that was told last?  Those of
 * earlier runs are known. */
void notices_turn(struct sweep *sweep);

void notices_end(const struct sweep *sweep);

#endif
