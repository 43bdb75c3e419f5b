/* inbox.h - what the workers say, one message at a time
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
/* Keep a result until there is a plan; 'msg' is empty then.  False: take it. */
bool inbox_keep(struct sweep *sweep, size_t host, struct msg *msg);
/* The next that was kept, once there is a plan; the caller frees it. */
bool inbox_next_kept(struct sweep *sweep, size_t *host, struct msg *msg);
void inbox_forget_kept(struct sweep *sweep);
void inbox_wake_hosts(struct sweep *sweep, int64_t now); /* that rested */

#endif
