/* shutdown.h - the last steps when a sweep is over, in this order
 */
#ifndef FA_COORDINATOR_REACTOR_SHUTDOWN_H
#define FA_COORDINATOR_REACTOR_SHUTDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct sweep;

/* Tell the workers to stop, and give them a moment to take the acknowledgements
 * and say BYE. */
void shutdown_dismiss(struct sweep *sweep);
void shutdown_close_books(struct sweep *sweep, struct err *err);
/* The command that ordered these configurations reads their results. */
void shutdown_hand_over(struct sweep *sweep, struct err *err);

#endif
