/* said.h - what a command has said of its hosts
 *
 * A command is several runs, each with the same hosts.  What was said of a host
 * in one run is no news in the next.
 */
#ifndef FA_COORDINATOR_LIVE_SAID_H
#define FA_COORDINATOR_LIVE_SAID_H

#include <stdbool.h>

struct said;

struct said *said_new(void);
void said_free(struct said *said);
/* Is the text new for this host?  From now on it is not. */
bool said_is_new(struct said *said, const char *host, const char *text);
/* All that was said of it is news again. */
void said_forget(struct said *said, const char *host);

#endif
