/* session.h - one fa-runner process and its pipe: a request, then its reply
 *
 * Poll-driven (child.h).  A session that is DEAD stays so; STUCK means that
 * KILL does not end the process.
 */
#ifndef FA_WORKER_SESSION_H
#define FA_WORKER_SESSION_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/child.h"
#include "worker/runner/wire.h"

struct session;

enum session_event {
    SESSION_NOTHING,
    SESSION_REPLY, /* session_reply(), until the next request */
    SESSION_DEAD,  /* session_end() */
    SESSION_STUCK,
};

enum session_cause {
    SESSION_EXITED,
    SESSION_SIGNALLED, /* by itself, or from outside if it was KILL */
    SESSION_LIMIT,     /* by us, at the limit of a request */
    SESSION_GARBAGE,   /* by us, since what it wrote is no reply */
    SESSION_KILLED,    /* by session_kill() */
};

struct session_end {
    enum session_cause cause;
    int signal;
    char text[WIRE_TEXT_MAX]; /* why, and the last of its stderr */
};

int session_start(const char *runner, const char *dir, int64_t now_ns,
                  struct session **out, struct err *err);
void session_free(struct session *session); /* kills; NULL is fine */

/* Not before the reply to the last one. */
void session_ask(struct session *session, const struct wire_request *request,
                 int64_t limit_ns, int64_t now_ns);
void session_kill(struct session *session, int64_t now_ns);

size_t session_poll(const struct session *session, struct pollfd *fds,
                    size_t max);
int64_t session_deadline_ns(const struct session *session);
enum session_event session_step(struct session *session, int64_t now_ns);

const struct wire_reply *session_reply(const struct session *session);
void session_end(struct session *session, struct session_end *out);

#endif
