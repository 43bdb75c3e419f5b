/* runner_session.h - one fa-runner process and its pipe: a request, then its
 * reply
 *
 * Poll-driven (child.h). DEAD is final.  STUCK means that KILL does not end the
 * process.
 */
#ifndef FA_WORKER_GPU_RUNNER_SESSION_H
#define FA_WORKER_GPU_RUNNER_SESSION_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/process/child.h"
#include "worker/runner/wire/wire_reply.h"
#include "worker/runner/wire/wire_request.h"

struct runner_session;

enum runner_session_event {
    RUNNER_SESSION_NOTHING,
    RUNNER_SESSION_REPLY, /* runner_session_reply(), until the next request */
    RUNNER_SESSION_DEAD,  /* runner_session_end() */
    RUNNER_SESSION_STUCK,
};

enum runner_session_cause {
    RUNNER_SESSION_EXITED,
    RUNNER_SESSION_SIGNALLED, /* it died by itself, or by a KILL from outside */
    RUNNER_SESSION_LIMIT,     /* we killed it at the limit of a request */
    RUNNER_SESSION_GARBAGE,   /* we killed it because its output was not a
                               * reply */
    RUNNER_SESSION_KILLED,    /* by runner_session_kill() */
};

struct runner_session_end {
    enum runner_session_cause cause;
    int signal;
    bool in_reference;        /* while the reference was made */
    char text[WIRE_TEXT_MAX]; /* why, and the end of its stderr */
};

/* Borrowed by runner_session_start() during the call. */
struct runner_session_spec {
    const char *runner;            /* path of fa-runner */
    const char *folder;            /* working directory, TMPDIR */
    const struct sandbox *sandbox; /* what it sees; NULL: everything */
};

int runner_session_start(const struct runner_session_spec *spec, int64_t now_ns,
                         struct runner_session **out, struct err *err);
void runner_session_free(
    struct runner_session *session); /* kills; NULL is fine */

/* Only after the reply to the last one. */
void runner_session_ask(struct runner_session *session,
                        const struct wire_request *request, int64_t limit_ns,
                        int64_t now_ns);
void runner_session_kill(struct runner_session *session, int64_t now_ns);

size_t runner_session_poll(const struct runner_session *session,
                           struct pollfd *fds, size_t max);
int64_t runner_session_deadline_ns(const struct runner_session *session);
enum runner_session_event runner_session_step(struct runner_session *session,
                                              int64_t now_ns);

const struct wire_reply *
runner_session_reply(const struct runner_session *session);
void runner_session_end(struct runner_session *session,
                        struct runner_session_end *out);

#endif
