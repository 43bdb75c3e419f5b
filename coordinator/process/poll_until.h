/* poll_until.h - poll() with a deadline
 */
#ifndef FA_COORDINATOR_PROCESS_POLL_UNTIL_H
#define FA_COORDINATOR_PROCESS_POLL_UNTIL_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

/* Wait for one of 'fds' until clock_boot_ns() reaches the deadline.  Returns
 * how many are ready, or -1 at the deadline. */
int poll_until(struct pollfd *fds, size_t n, int64_t deadline_ns);

#endif
