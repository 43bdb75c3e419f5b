/* login_limit.h - limits the logins that run at once at one endpoint
 *
 * sshd's MaxStartups (10:30:100) drops logins beyond ten at once, and many
 * hosts may lie behind one address or jump host.  This module only counts: a
 * host that may not enter waits, and asks again after another one has left.
 * Thread rule: one thread (the one that starts the logins).
 */
#ifndef FA_COORDINATOR_REMOTE_LOGIN_LIMIT_H
#define FA_COORDINATOR_REMOTE_LOGIN_LIMIT_H

#include <stdbool.h>

struct host;
struct login_limit;

#define LOGIN_LIMIT_MAX 8 /* logins at once at one endpoint */

struct login_limit *login_limit_new(void);
void login_limit_free(struct login_limit *gate); /* NULL is fine */

/* The endpoint whose sshd a host's login reaches first: its jump host if it has
 * one.  This machine has no endpoint and no limit. */
bool login_limit_enter(struct login_limit *gate, const struct host *host);
void login_limit_leave(struct login_limit *gate, const struct host *host);

#endif
