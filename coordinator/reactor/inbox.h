/* inbox.h - messages of workers, one at a time
 */
#ifndef FA_COORDINATOR_REACTOR_INBOX_H
#define FA_COORDINATOR_REACTOR_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct msg;
struct sched_lease;
struct sweep;

int inbox_take(struct sweep *sweep, size_t host, const struct msg *msg,
               struct err *err);
/* Without a plan, keep a result, empty 'msg' and return true.  False: there is
 * a plan, so take it. */
bool inbox_keep(struct sweep *sweep, size_t host, struct msg *msg);
/* The next kept result, once there is a plan; the caller frees it. */
bool inbox_next_kept(struct sweep *sweep, size_t *host, struct msg *msg);
void inbox_forget_kept(struct sweep *sweep);
/* Offer leases again to hosts whose pause is over. */
void inbox_wake_hosts(struct sweep *sweep, int64_t now);

#endif
