/* What a host's thread tells its starter, and what it is told, without the
 * thread. */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/host_session.h"

static void *zctx, *starter; /* its end of the pipe */
static struct host host;
static struct host_session session;
static int64_t now_ns;
static int send_errno; /* why nothing can be sent; 0: it can */
static int (*library_send)(void *, const void *, size_t, int);

int clock_gettime(clockid_t id, struct timespec *out)
{
    long rc = syscall(SYS_clock_gettime, id, out);

    if (id == CLOCK_BOOTTIME)
        *out = (struct timespec){ now_ns / NS_PER_S, now_ns % NS_PER_S };
    return (int)rc;
}

int zmq_send(void *socket, const void *bytes, size_t len, int flags)
{
    if (!send_errno)
        return library_send(socket, bytes, len, flags);
    errno = send_errno;
    return -1;
}

static int set_up(void **state)
{
    (void)state;
    *(void **)&library_send = dlsym(RTLD_NEXT, "zmq_send");
    send_errno = 0;
    now_ns = 1000 * NS_PER_S;
    host = (struct host){ .name = "box" };
    session = (struct host_session){ .task = { .index = 3, .host = &host } };
    zctx = zmq_ctx_new();
    starter = zmq_socket(zctx, ZMQ_PAIR);
    session.news = zmq_socket(zctx, ZMQ_PAIR);
    session.wake = wake_of(session.news);
    assert_int_equal(zmq_bind(starter, "inproc://pair"), 0);
    return zmq_connect(session.news, "inproc://pair");
}

static int tear_down(void **state)
{
    (void)state;
    host_session_fini(&session);
    zmq_close(session.news);
    zmq_close(starter);
    return zmq_ctx_term(zctx);
}

static void say(const char *word)
{
    assert_true(zmq_send(starter, word, strlen(word), 0) > 0);
}

static void say_place(const char *name)
{
    struct host_session_word word = { .text = "PLACE",
                                      .place = mem_new(1, sizeof(host)) };

    strcpy(word.place->name, name);
    assert_true(zmq_send(starter, &word, sizeof(word), 0) > 0);
}

static void assert_told(enum host_threads_event event, const char *text)
{
    struct host_thread_news news;

    assert_int_equal(zmq_recv(starter, &news, sizeof(news), ZMQ_DONTWAIT),
                     sizeof(news));
    assert_int_equal(news.host, 3);
    assert_int_equal(news.event, event);
    assert_string_equal(news.text, text);
}

static void assert_told_nothing(void)
{
    char byte;

    assert_int_equal(zmq_recv(starter, &byte, 1, ZMQ_DONTWAIT), -1);
}

/* The line that shows it begins with the name. */
static void news_has_the_name_of_its_host_once(void **state)
{
    static const char *const rows[][2] = { { "box: no route", "no route" },
                                           { "box 2: no route",
                                             "box 2: no route" },
                                           { "other: no", "other: no" } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        host_session_tell(&session, HOST_THREADS_BROKEN, ERR_NETWORK,
                          rows[i][0]);
        assert_told(HOST_THREADS_BROKEN, rows[i][1]);
    }
}

/* The exit status of a program that cannot send its news. */
static int status_with(int why)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        (void)close(STDERR_FILENO);
        send_errno = why;
        host_session_tell(&session, HOST_THREADS_ATTACHED, 0, "");
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Its starter would wait for it for ever; not so if it is gone. */
static void news_that_finds_no_memory_ends_the_program(void **state)
{
    (void)state;
    assert_int_not_equal(status_with(ENOMEM), 0);
    assert_int_equal(status_with(ETERM), 0);
}

static void each_word_means_one_thing(void **state)
{
    (void)state;
    assert_false(host_session_told_to_stop(&session, 0));
    say("AGAIN");
    assert_false(host_session_told_to_stop(&session, 0));
    assert_true(session.again);
    assert_false(session.is_admitted || session.rental.is_parked);
    session.again = false;
    say("LOGIN");
    assert_false(host_session_told_to_stop(&session, 0));
    assert_true(session.is_admitted);
    assert_false(session.again || session.rental.is_parked);
    say("PARK");
    assert_false(host_session_told_to_stop(&session, 0));
    assert_true(session.again && session.rental.is_parked);
    say_place("one");
    say_place("two");
    for (int i = 0; i < 2; i++)
        assert_false(host_session_told_to_stop(&session, 0));
    assert_string_equal(session.rental.next->name, "two");
    say("STOP");
    assert_true(host_session_told_to_stop(&session, 0));
    say("AGAIN");
    assert_true(host_session_told_to_stop(&session, 0)); /* it is final */
}

/* Receiving and sending may both take in that a word has come. */
static void the_next_word_is_not_overlooked(void **state)
{
    (void)state;
    say("AGAIN");
    say("AGAIN");
    session.wake.quiet = true;
    host_session_tell(&session, HOST_THREADS_ATTACHED, 0, "");
    assert_true(wake_has(&session.wake));
    session.wake.quiet = true;
    assert_false(host_session_told_to_stop(&session, 0));
    assert_true(wake_has(&session.wake));
}

static void a_login_waits_for_its_turn(void **state)
{
    struct err err;

    (void)state;
    session.is_admitted = true; /* to the login before */
    say("AGAIN");
    say("LOGIN");
    assert_int_equal(host_session_enter(&session, "server", &err), 0);
    assert_true(session.again);
    assert_told(HOST_THREADS_LOGIN_ASKED, "server");
    assert_told_nothing();
}

static void a_login_that_is_not_wanted_does_not_begin(void **state)
{
    struct err err;

    (void)state;
    say("PARK");
    assert_int_equal(host_session_enter(&session, "server", &err), ERR_NETWORK);
    session.rental.is_parked = false;
    say("STOP");
    assert_int_equal(host_session_enter(&session, "server", &err), ERR_NETWORK);
}

static void a_machine_that_is_not_acquired_is_waited_for(void **state)
{
    (void)state;
    assert_true(host_session_is_rented(&session)); /* it is there */
    assert_told_nothing();
    assert_ptr_equal(session.task.host, &host);
    for (int i = 0; i < 2; i++) {
        session.rental.is_parked = session.has_worked = true;
        say("AGAIN");
        say_place(i ? "two" : "one");
        assert_true(host_session_is_rented(&session));
        assert_string_equal(session.task.host->name, i ? "two" : "one");
        assert_false(session.rental.is_parked || session.has_worked);
        assert_null(session.rental.next);
        assert_told(HOST_THREADS_PARKED, "");
        assert_told_nothing();
    }
    session.rental.is_parked = true;
    say("STOP");
    assert_false(host_session_is_rented(&session));
}

static void what_it_was_not_told_is_freed_at_its_end(void **state)
{
    (void)state;
    session.task.invite.secret_key[0] = 'x';
    say("STOP");
    say_place("one");
    say("STOP");
    say_place("two");
    host_session_fini(&session);
    session.rental = (struct host_session_rental){ .is_rented = false };
    assert_int_equal(session.task.invite.secret_key[0], '\0');
    assert_false(host_session_told_to_stop(&session, 0));
}

/* An upload that broke off goes on, while it makes progress. */
static void a_cut_is_no_failure_for_a_while(void **state)
{
    struct err err;

    (void)state;
    err_set(&err, ERR_NETWORK, "box: reset");
    assert_false(host_session_is_cut(&session, ERR_NETWORK, &err));
    assert_string_equal(err.text, "box: reset");
    session.is_uploading = true;
    upload_watch_found(&session.upload, 10, now_ns);
    assert_true(host_session_is_cut(&session, ERR_NETWORK, &err));
    assert_false(host_session_is_cut(&session, ERR_PROTO, &err));
    assert_string_equal(err.text, "box: reset");
    now_ns += (UPLOAD_WATCH_STILL_S + 1) * NS_PER_S;
    assert_false(host_session_is_cut(&session, ERR_NETWORK, &err));
    assert_memory_equal(err.text, "no progress with the upload for ", 32);
    assert_non_null(strstr(err.text, " s: reset"));
}

/* Time passes, and help may come; a rented machine costs meanwhile. */
static void what_is_of_no_use_to_try_again(void **state)
{
    static const struct {
        int code;
        bool first, after_work, rented;
    } rows[] = {
        { ERR_HOST_KEY, true, false, true },
        { ERR_AUTH, true, false, false },
        { ERR_INPUT, true, false, false },
        { ERR_NETWORK, false, false, false },
        { ERR_SYSTEM, false, false, false },
        { ERR_PROTO, false, false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        session.has_worked = session.rental.is_rented = false;
        assert_int_equal(host_session_is_hopeless(&session, rows[i].code),
                         rows[i].first);
        session.has_worked = true;
        assert_int_equal(host_session_is_hopeless(&session, rows[i].code),
                         rows[i].after_work);
        session.rental.is_rented = true;
        assert_int_equal(host_session_is_hopeless(&session, rows[i].code),
                         rows[i].rented);
        session.has_worked = false;
        assert_int_equal(host_session_is_hopeless(&session, rows[i].code),
                         rows[i].rented);
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(news_has_the_name_of_its_host_once),
        CASE(news_that_finds_no_memory_ends_the_program),
        CASE(each_word_means_one_thing),
        CASE(the_next_word_is_not_overlooked),
        CASE(a_login_waits_for_its_turn),
        CASE(a_login_that_is_not_wanted_does_not_begin),
        CASE(a_machine_that_is_not_acquired_is_waited_for),
        CASE(what_it_was_not_told_is_freed_at_its_end),
        CASE(a_cut_is_no_failure_for_a_while),
        CASE(what_is_of_no_use_to_try_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
