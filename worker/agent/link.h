/* link.h - the worker's DEALER to the coordinator of one invitation
 *
 * Sending never blocks: credits limit what is in flight, and results are sent
 * again until they are acknowledged.  The link keeps the secret key so that it
 * can connect again, and wipes it when it is freed.
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

/* ERR_INPUT: an endpoint has a host name, which a static program cannot
 * resolve. */
int link_open(void *zctx, const struct invite *invite, struct link **out,
              struct err *err);
/* Unsent messages may go out for another 'linger_ms'. NULL is fine. */
void link_close(struct link *link, int linger_ms);

/* Drop the connection and make a new one, with the same keys; to the next
 * address of the invitation if nothing was heard from this one. */
int link_renew(struct link *link, struct err *err);
/* Nothing was heard from this address yet, and there are others. */
bool link_tries_others(const struct link *link);

void *link_socket(const struct link *link); /* to poll for input */
const struct invite *link_invite(const struct link *link);
int64_t link_epoch(const struct link *link);

/* Sets the message's epoch.  ERR_INPUT if a field exceeds its ceiling,
 * ERR_NETWORK if ZeroMQ refuses. */
int link_send(struct link *link, struct msg *msg, struct err *err);
/* Send a message that was encoded before. */
int link_send_bytes(struct link *link, const void *bytes, size_t len,
                    struct err *err);

/* Returns 1 and a message (call msg_fini()), 0 if no message has arrived, or
 * ERR_PROTO for invalid bytes. */
int link_recv(struct link *link, struct msg *out, struct err *err);

#endif
