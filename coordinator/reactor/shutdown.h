/* shutdown.h - signals, and the last steps when a sweep is over, in this order
 */
#ifndef FA_COORDINATOR_REACTOR_SHUTDOWN_H
#define FA_COORDINATOR_REACTOR_SHUTDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct sweep;

/* A descriptor that tells of SIGINT, SIGTERM and SIGHUP, which are blocked:
 * before the first thread, so that every thread inherits it.  ERR_SYSTEM. */
int shutdown_open_signals(struct err *err);
/* The first one lets what runs end; another one stops it. */
void shutdown_take_signals(struct sweep *sweep, int fd);

/* Tell the workers to stop, and give them a moment to take the acknowledgements
 * and say BYE. */
void shutdown_dismiss(struct sweep *sweep);
void shutdown_close_books(struct sweep *sweep, struct err *err);
/* The command that ordered these configurations reads their results. */
void shutdown_hand_over(struct sweep *sweep, struct err *err);

#endif
