/* wait.h - poll() with a deadline
 */
#ifndef FA_COORDINATOR_WAIT_H
#define FA_COORDINATOR_WAIT_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

/* Wait for one of 'fds' until clock_boot_ns() reaches the deadline.  Returns
 * how many are ready, or -1 when the time is up. */
int wait_for(struct pollfd *fds, size_t n, int64_t deadline_ns);

#endif
