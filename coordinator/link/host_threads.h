/* host_threads.h - one thread a host, each driving one connection to it
 *
 * A host thread reaches the host (SSH, the system's ssh, or a local child),
 * uploads the worker, starts the relay, hands over the invitation and then
 * moves bytes between the relay and the ROUTER's socket.  When the connection
 * breaks it connects again, after a longer pause each time, until it is told to
 * stop.  An upload goes on where it broke off, and that is no failure while it
 * makes progress (upload_watch.h).  If a host that has never worked refuses the
 * key or the credentials, the thread ends, because trying again cannot help.
 *
 * How many hosts log in at once at one server is limited (login_pace.h).  A
 * connection that a busy server drops is made again soon, and the reactor does
 * not hear of it.
 *
 * Each host thread reports to the reactor over a PAIR socket of its own, and
 * shares nothing else with it (zmq_socket(3): never use a socket from two
 * threads).
 */
#ifndef FA_COORDINATOR_LINK_HOST_THREADS_H
#define FA_COORDINATOR_LINK_HOST_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/remote/remote.h"

struct host;
struct host_threads;
struct hosts;
struct owner;
struct router;
struct wake;
struct worker_binary;

enum host_threads_event {
    HOST_THREADS_CONNECTING,  /* of a node of Slurm: it is held since 'code'
                               * seconds */
    HOST_THREADS_LOGIN_ASKED, /* it waits for its turn at the server 'text' */
    HOST_THREADS_LOGIN_ENDED, /* with 'code' and 'text', or with 0 and who the
                               * server is; host_threads_recv() takes both */
    HOST_THREADS_REMARK,      /* 'text' is about the login; not an error */
    HOST_THREADS_UPLOADING,
    HOST_THREADS_WAITING,   /* the worker is another sweep's; 'text' says whose.
                             * Said again and again */
    HOST_THREADS_PROGRESS,  /* more of the worker is there than ever before */
    HOST_THREADS_CUT,       /* the upload broke off, and will go on; 'text' says
                             * why */
    HOST_THREADS_ATTACHED,  /* the worker is connected; HELLO will follow */
    HOST_THREADS_BROKEN,    /* it will try again; 'text' says why */
    HOST_THREADS_GAVE_UP,   /* it stops trying; 'code' (ERR_*) and 'text' say
                             * why */
    HOST_THREADS_PARKED,    /* it waits until its machine is acquired */
    HOST_THREADS_JOB_ENDED, /* of a node of Slurm: 'code' seconds ago */
    HOST_THREADS_ENDED,     /* it was told to stop, and has stopped */
};

struct host_thread_news {
    size_t host;
    enum host_threads_event event;
    int code;
    char text[sizeof(((struct err *)0)->text)];
};

struct host_threads_options {
    const char *socket_path; /* the ROUTER's */
    int64_t epoch;
    const struct owner *owner; /* who invites the workers */
    int linger_s;
    bool rents; /* hosts that are rented wait for host_threads_rented() */
    struct remote_options remote;
};

/* Start a host thread for every host that is reached from here; the functions
 * for one host are for these only.  Keys come from 'router'. 'hosts' must
 * outlive the host threads.  Stop '*out' even after an error. */
int host_threads_start(void *zctx, const struct hosts *hosts,
                       struct router *router,
                       const struct host_threads_options *options,
                       struct host_threads **out, struct err *err);

/* What to wait for.  _recv() takes one piece of a host's news: 1 and 'out', or
 * 0. */
struct wake *host_threads_wake(struct host_threads *threads, size_t host);
int host_threads_recv(struct host_threads *threads, size_t host,
                      struct host_thread_news *out);

/* Tell one host thread to drop its connection and make another one, because the
 * host is silent.  Does nothing if it is not connected. */
void host_threads_reconnect(struct host_threads *threads, size_t host);

/* Tell one host thread that its machine was acquired, and where it is; and to
 * drop the connection until then. */
void host_threads_rented(struct host_threads *threads, size_t host,
                         const struct host *place);
void host_threads_park(struct host_threads *threads, size_t host);

/* Tell one host thread to end: its host is no longer used. */
void host_threads_dismiss(struct host_threads *threads, size_t host);

/* Tell all host threads to end, and wait up to 2 s for them.  False if one is
 * still inside a login: then the program must end without closing the ZeroMQ
 * context, the server and what the options point to. */
bool host_threads_stop(struct host_threads *threads);

#endif
