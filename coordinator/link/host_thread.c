#include "coordinator/link/host_thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/int64.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/host_session.h"
#include "coordinator/remote/login_pace.h"

#define RETRY_FIRST_MS 500
#define RETRY_MAX_MS 30000
#define RETRY_RENTED_MS 2000 /* it costs while it boots */
#define JOIN_TURN_MS 50

struct host_thread {
    pthread_t thread;
    void *pipe;       /* the starter's end; the thread does not use it */
    struct wake wake; /* of the pipe */
    bool ended;       /* the starter's: HOST_THREADS_ENDED has been read */

    /* The starter fills these in before the start; then they are the
     * thread's. */
    void *zctx;
    char name[32];
    struct host_session session;
};

/* ---- the thread ---- */

static void work(struct host_session *session)
{
    int64_t retry_ms = RETRY_FIRST_MS;
    int drops = 0;

    for (;;) {
        struct err err;
        int rc;

        if (!host_session_is_rented(session))
            return;
        host_session_tell(session, HOST_THREADS_CONNECTING, 0, "");
        session->was_attached = session->again = false;
        rc = host_session_attach(session, &err);
        if (rc == 1 || host_session_told_to_stop(session, 0))
            return;
        if (session->rental.is_parked)
            continue;
        if (rc == ERR_BUSY) { /* the starter knows, and judges it */
            if (host_session_told_to_stop(
                    session,
                    (long)login_pace_pause_ms(drops++, randombytes_random())))
                return;
            continue;
        }
        drops = 0;
        if (host_session_is_hopeless(session, rc)) {
            host_session_tell(session, HOST_THREADS_GAVE_UP, rc, err.text);
            while (!host_session_told_to_stop(session, -1))
                continue;
            return;
        }
        if (host_session_is_cut(session, rc, &err)) {
            host_session_tell(session, HOST_THREADS_CUT, rc, err.text);
            if (host_session_told_to_stop(session, RETRY_FIRST_MS))
                return;
            continue;
        }
        host_session_tell(session, HOST_THREADS_BROKEN, rc, err.text);
        if (session->was_attached)
            retry_ms = RETRY_FIRST_MS;
        if (host_session_told_to_stop(session, retry_ms))
            return;
        retry_ms =
            int64_min(retry_ms * 2, session->rental.is_rented ? RETRY_RENTED_MS
                                                              : RETRY_MAX_MS);
    }
}

static void *host_thread_main(void *arg)
{
    struct host_thread *thread = arg;
    struct host_session *session = &thread->session;

    session->news = zmq_socket(thread->zctx, ZMQ_PAIR);
    if (!session->news)
        return NULL;
    session->wake = wake_of(session->news);
    if (zmq_connect(session->news, thread->name) == 0) {
        work(session);
        host_session_tell(session, HOST_THREADS_ENDED, 0, "");
    }
    host_session_fini(session);
    zmq_close(session->news);
    return NULL;
}

/* ---- the starter ---- */

static int open_pipe(struct host_thread *thread, struct err *err)
{
    int no_linger = 0;

    thread->pipe = zmq_socket(thread->zctx, ZMQ_PAIR);
    if (!thread->pipe ||
        zmq_setsockopt(thread->pipe, ZMQ_LINGER, &no_linger,
                       sizeof(no_linger)) < 0 ||
        zmq_bind(thread->pipe, thread->name) < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", thread->name,
                       zmq_strerror(zmq_errno()));
    thread->wake = wake_of(thread->pipe);
    return 0;
}

/* Send one word, or what has it. */
static bool say(struct host_thread *thread, const void *word, size_t len)
{
    wake_touch(&thread->wake);
    return zmq_send(thread->pipe, word, len, ZMQ_DONTWAIT) >= 0;
}

static void host_thread_free(struct host_thread *thread)
{
    if (thread->pipe)
        zmq_close(thread->pipe);
    free(thread);
}

int host_thread_start(void *zctx, const struct host_thread_task *task,
                      const struct host_threads_options *options,
                      struct host_thread **out, struct err *err)
{
    struct host_thread *thread = mem_new(1, sizeof(*thread));
    int rc;

    thread->zctx = zctx;
    thread->session.task = *task;
    thread->session.remote_options = options->remote;
    thread->session.rental.is_rented =
        options->rents && host_is_rented(task->host);
    thread->session.rental.is_parked = thread->session.rental.is_rented;
    thread->session.remote_options.gate =
        (struct remote_gate){ .enter = host_session_enter,
                              .self = &thread->session };
    snprintf(thread->session.socket_path, sizeof(thread->session.socket_path),
             "%s", options->socket_path);
    snprintf(thread->name, sizeof(thread->name), "inproc://host-%zu",
             task->index);
    rc = open_pipe(thread, err);
    if (rc == 0) {
        int why =
            pthread_create(&thread->thread, NULL, host_thread_main, thread);

        if (why != 0)
            rc = err_set(err, ERR_SYSTEM, "thread: %s", strerror(why));
    }
    if (rc < 0) {
        invite_wipe(&thread->session.task.invite);
        host_thread_free(thread);
        thread = NULL;
    }
    *out = thread;
    return rc;
}

struct wake *host_thread_wake(struct host_thread *thread)
{
    return &thread->wake;
}

int host_thread_recv(struct host_thread *thread, struct host_thread_news *out)
{
    if (thread->ended || !wake_has(&thread->wake))
        return 0;
    wake_touch(&thread->wake);
    if (zmq_recv(thread->pipe, out, sizeof(*out), ZMQ_DONTWAIT) !=
        (int)sizeof(*out))
        return 0;
    thread->ended = out->event == HOST_THREADS_ENDED;
    return 1;
}

void host_thread_admit(struct host_thread *thread)
{
    say(thread, "LOGIN", 5);
}

void host_thread_reconnect(struct host_thread *thread)
{
    say(thread, "AGAIN", 5);
}

/* The thread frees the copy. */
void host_thread_rented(struct host_thread *thread, const struct host *place)
{
    struct host_session_word word = {
        .text = "PLACE",
        .place = mem_dup(place, sizeof(*place)),
    };

    if (!say(thread, &word, sizeof(word)))
        free(word.place);
}

void host_thread_park(struct host_thread *thread)
{
    say(thread, "PARK", 4);
}

void host_thread_dismiss(struct host_thread *thread)
{
    say(thread, "STOP", 4);
}

bool host_thread_join(struct host_thread *thread, int64_t until_ns)
{
    struct host_thread_news news;

    while (!thread->ended && clock_boot_ns() < until_ns) {
        zmq_pollitem_t item = { .socket = thread->pipe, .events = ZMQ_POLLIN };

        /* again: a STOP sent before the thread had its end is lost */
        host_thread_dismiss(thread);
        zmq_poll(&item, 1, JOIN_TURN_MS);
        wake_touch(&thread->wake);
        while (host_thread_recv(thread, &news) == 1)
            continue;
    }
    if (!thread->ended)
        return false;
    pthread_join(thread->thread, NULL);
    host_thread_free(thread);
    return true;
}
