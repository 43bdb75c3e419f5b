/* host_session.h - one host's connections: login, upload, relay, bytes
 *
 * Each connection logs in, uploads the worker if its hash differs, starts its
 * relay and moves bytes between it and the ROUTER until it breaks.  What
 * happens is told to the starter over 'news'.
 * Of the thread of that host (host_thread.h) alone.
 */
#ifndef FA_COORDINATOR_LINK_HOST_SESSION_H
#define FA_COORDINATOR_LINK_HOST_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/pump.h"
#include "coordinator/link/host_thread.h"
#include "coordinator/link/upload_watch.h"
#include "coordinator/link/wake.h"
#include "coordinator/remote/remote.h"

struct err;
struct stream;

#define HOST_SESSION_REMARKS_BYTES 2048

/* What the starter sends: a word, and with PLACE the host as it was acquired,
 * which the session frees. */
struct host_session_word {
    char text[8];
    struct host *place;
};

/* A machine that is acquired and released. */
struct host_session_rental {
    bool is_rented;     /* it is one */
    bool is_parked;     /* it is not acquired now */
    struct host *place; /* task.host as it was acquired last; or NULL */
    struct host *next;  /* as it was acquired now; or NULL */
};

struct host_session {
    struct host_thread_task task;
    char socket_path[PUMP_PATH_MAX + 1]; /* of the ROUTER */
    struct remote_options remote_options;
    void *news;       /* the thread's end of the pipe */
    struct wake wake; /* of 'news' */
    struct remote *remote;
    struct stream *stream;
    struct pump *pump;
    struct buf nothing;                       /* empty */
    char remarks[HOST_SESSION_REMARKS_BYTES]; /* of the last login */
    struct upload_watch upload;
    bool is_uploading; /* it began one that is not complete */
    bool was_attached; /* in this connection */
    bool has_worked;   /* in any of them */
    bool has_asked;    /* for a login, which is not over */
    bool is_admitted;  /* LOGIN has come */
    bool stopping;     /* STOP has come */
    bool again;        /* the connection must be made again */
    struct host_session_rental rental;
    int64_t attach_by_ns; /* until then the worker may start */
};

/* Send a piece of news; its text without the host's name, because the line that
 * shows it has it. */
void host_session_tell(struct host_session *session,
                       enum host_threads_event event, int code,
                       const char *text);

/* Receive one word from the starter, waiting up to 'wait_ms' (-1: for ever):
 * STOP, which is final, AGAIN or LOGIN. */
bool host_session_told_to_stop(struct host_session *session, long wait_ms);

/* Wait until the machine is acquired, if it is not; false when told to stop. */
bool host_session_is_rented(struct host_session *session);

/* Free what the session has, at the end of its thread. */
void host_session_fini(struct host_session *session);

/* For struct remote_gate: wait until the login may begin.  ERR_NETWORK when
 * told to stop; 'self' is the session. */
int host_session_enter(void *self, const char *server, struct err *err);

/* Connect and move bytes until the connection breaks (an ERR_*) or on STOP
 * (1). */
int host_session_attach(struct host_session *session, struct err *err);

/* Is it of no use to try again after this error?  A host that has worked is not
 * given up: its login may be refused for a while, by an account server that is
 * down or a folder that is full.  A machine that was just started may get the
 * keys of its user after its sshd runs; but it costs, and one whose host key is
 * refused is perhaps another one. */
bool host_session_is_hopeless(const struct host_session *session, int rc);

/* Did the upload break off in a connection that ended with 'rc'?  False if that
 * is a failure by now, which the text then says. */
bool host_session_is_cut(const struct host_session *session, int rc,
                         struct err *err);

#endif
