/* fleet.h - the hosts of a sweep: they come, are set up, go
 */
#ifndef FA_COORDINATOR_REACTOR_FLEET_H
#define FA_COORDINATOR_REACTOR_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/reactor/host_state.h"

struct err;
struct host_thread_news;
struct hosts;
struct ledger;
struct msg;
struct sweep;

struct fleet {
    const struct hosts *list; /* as the user wrote them */
    struct host_state *hosts; /* [n] */
    size_t n;
    struct ledger *ledger;
    int64_t usable_ns; /* when the hosts last could go on with the sweep */
    double usd_before; /* spent by earlier runs */
};

void fleet_news(struct sweep *sweep, const struct host_thread_news *news);
int fleet_hello(struct sweep *sweep, size_t host, const struct msg *msg,
                struct err *err);
int fleet_gpu(struct sweep *sweep, size_t host, const struct msg *msg,
              struct err *err);
int fleet_ready(struct sweep *sweep, size_t host, const struct msg *msg,
                struct err *err);
void fleet_trouble(struct sweep *sweep, size_t host, const struct msg *msg);
void fleet_host_up(struct sweep *sweep, size_t host);
/* Not used any more in this run; 'code' is an ERR_*. */
void fleet_give_up(struct sweep *sweep, size_t host, int code, const char *why);

#endif
