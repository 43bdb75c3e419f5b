/* self.h - the identity that this coordinator tells workers and people
 *
 * Thread rule: the main thread, before others start (getpwuid(3)).
 */
#ifndef FA_COORDINATOR_LINK_SELF_H
#define FA_COORDINATOR_LINK_SELF_H

#include "common/owner.h"

struct err;
struct store;

/* This process as the owner of this database from now on, for one step.
 * ERR_STORE. */
int self_owner(struct store *store, struct owner *out, struct err *err);

#endif
