/* host_events.h - hosts connect, get ready, and leave
 */
#ifndef FA_COORDINATOR_REACTOR_HOST_EVENTS_H
#define FA_COORDINATOR_REACTOR_HOST_EVENTS_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct host_thread_news;
struct msg;
struct sweep;

void host_events_news(struct sweep *sweep, const struct host_thread_news *news);
int host_events_hello(struct sweep *sweep, size_t host, const struct msg *msg,
                      struct err *err);
int host_events_gpu(struct sweep *sweep, size_t host, const struct msg *msg,
                    struct err *err);
int host_events_ready(struct sweep *sweep, size_t host, const struct msg *msg,
                      struct err *err);
void host_events_trouble(struct sweep *sweep, size_t host,
                         const struct msg *msg);
void host_events_up(struct sweep *sweep, size_t host);
/* Do not use it any more in this run; 'code' is an ERR_*.  If it is connected,
 * its worker is told to stop, and the connection ends a little later. */
void host_events_give_up(struct sweep *sweep, size_t host, int code,
                         const char *why);
/* It has said BYE, or its time to do so is over at 'now'. */
void host_events_bye(struct sweep *sweep, size_t host);
void host_events_leave(struct sweep *sweep, int64_t now);

#endif
