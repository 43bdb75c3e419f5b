/* outbox.h - what is sent to the workers, and the COMMIT before it
 */
#ifndef FA_COORDINATOR_STATE_OUTBOX_H
#define FA_COORDINATOR_STATE_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct msg;
struct sweep;

int outbox_commit(struct sweep *sweep, struct err *err);
/* False: there is no connection now.  True does not mean that it arrives: the
 * connection may break later. */
bool outbox_send(struct sweep *sweep, size_t host, struct msg *msg);
void outbox_send_all(struct sweep *sweep, struct msg *msg); /* connected ones */
void outbox_acknowledge(struct sweep *sweep, size_t host, const char *nonce);

#endif
