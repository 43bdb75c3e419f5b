/* control.h - how an invitation gets from a relay to the running worker
 *
 *   relay                         worker (DIR/control.sock)
 *     | -- the invitation's text --> |
 *     | <-- "ok\n" or "no TEXT\n" -- | or "later TEXT\n": it may come free
 *     |   the connection stays open: when the relay's end closes, nobody is
 *     |   attached; when the worker's end does, it has ended or has a newer
 *     |   relay
 *
 * Only processes of the same user get through.
 * Thread rule: one thread.
 */
#ifndef FA_WORKER_AGENT_CONTROL_H
#define FA_WORKER_AGENT_CONTROL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/invite.h"

/* ---- the worker's end */

#define CONTROL_FDS_MAX 3

struct control;

int control_open(const char *dir, struct control **out, struct err *err);
/* Take no invitation any more, those not answered included: whoever brings one
 * starts a worker of its own once this one has ended.  The relay stays. */
void control_deafen(struct control *control);
void control_close(struct control *control); /* removes the socket */

size_t control_fds(const struct control *control,
                   struct pollfd fds[CONTROL_FDS_MAX]);
/* Returns 1 when an invitation has arrived, which one of the next two must
 * follow; 0 otherwise.  One that is malformed has been answered. */
int control_step(struct control *control, int64_t now_ns, struct invite *out);
void control_accept(struct control *control); /* it is now the attached one */
/* 'later': it is worth asking again soon. */
void control_refuse(struct control *control, bool later, const char *why);
bool control_is_attached(const struct control *control);

/* ---- the relay's end */

/* Returns a descriptor, or ERR_NETWORK when no worker listens. */
int control_connect(const char *dir, struct err *err);
/* Hand over; ERR_AUTH when the worker refuses, with its reason; ERR_NETWORK
 * when it may take it later, or hangs up, because it ends. */
int control_offer(int fd, const struct invite *invite, int timeout_ms,
                  struct err *err);

#endif
