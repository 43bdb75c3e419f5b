/* control.h - passes an invitation from a relay to the running worker
 *
 *   relay                         worker (instance.h)
 *     | -- the invitation's text --> |
 *     | <-- "ok\n", or a refusal --- | "no TEXT\n", "busy TEXT\n" (the
 *     |   worker is another sweep's), "later TEXT\n" (it is ending)
 *     |   after "ok" the connection stays open: when the relay's end closes,
 *     |   nobody is attached; when the worker's end does, it has ended or has a
 *     |   newer relay
 *
 * Only processes of the same user can connect.
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

/* Listen at the path of a socket. */
int control_open(const char *path, struct control **out, struct err *err);
/* Accept no more invitations, including those not answered yet.  Their relays
 * start a new worker when this one has ended.  The attached relay stays. */
void control_deafen(struct control *control);
void control_close(struct control *control); /* removes the socket file */

size_t control_fds(const struct control *control,
                   struct pollfd fds[CONTROL_FDS_MAX]);
/* Returns 1 if an invitation has arrived: answer it with one of the next two
 * functions.  Otherwise 0. A malformed invitation was refused already. */
int control_step(struct control *control, int64_t now_ns, struct invite *out);
void control_accept(struct control *control); /* its relay is now the attached
                                               * one */
enum control_refusal {
    CONTROL_NO,
    CONTROL_BUSY,  /* ask again: it is another sweep's for now */
    CONTROL_LATER, /* ask again soon: the next worker may take it */
};
void control_refuse(struct control *control, enum control_refusal how,
                    const char *why);
bool control_is_attached(const struct control *control);

/* ---- the relay's end */

/* Returns a descriptor, or ERR_NETWORK if no worker listens at 'path'. */
int control_connect(const char *path, struct err *err);
/* Pass an invitation on: 0, or CONTROL_BUSY with a text that says whose the
 * worker is.  ERR_AUTH: the worker refuses, with a reason.  ERR_NETWORK: it may
 * accept later, or it hung up because it is ending. */
int control_offer(int fd, const struct invite *invite, int timeout_ms,
                  struct err *err);

#endif
