/* link.h - the worker's DEALER to the coordinator of one invitation
 *
 * Sending never waits: what the coordinator may have in flight is bounded by
 * credits, and results are sent again until acknowledged.  The secret key
 * lives in here, to connect anew, and is wiped with it.
 * Thread rule: one thread.
 */
#ifndef FA_WORKER_AGENT_LINK_H
#define FA_WORKER_AGENT_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/invite.h"
#include "common/msg.h"

struct link;

/* ERR_INPUT: an endpoint with a host name; a static program looks up none. */
int link_open(void *zctx, const struct invite *invite, struct link **out,
              struct err *err);
/* What was sent may still go out for 'linger_ms'.  NULL is fine. */
void link_close(struct link *link, int linger_ms);

/* Drop the connection and make another, with the same keys. */
int link_renew(struct link *link, struct err *err);

void *link_socket(const struct link *link); /* to poll for input */
const struct invite *link_invite(const struct link *link);
int64_t link_epoch(const struct link *link);

/* Sets the message's epoch.  ERR_INPUT when a field is over its ceiling,
 * ERR_NETWORK when ZeroMQ refuses. */
int link_send(struct link *link, struct msg *msg, struct err *err);
/* Send what was encoded before. */
int link_send_bytes(struct link *link, const void *bytes, size_t len,
                    struct err *err);

/* Returns 1 and a message, which the caller must msg_fini(); 0 when there is
 * none; ERR_PROTO for one that is none. */
int link_recv(struct link *link, struct msg *out, struct err *err);

#endif
