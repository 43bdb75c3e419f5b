/* All hosts' threads together, and their logins, with threads that only keep
 * what they are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zmq.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/owner.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/host_thread.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/link/router.h"
#include "coordinator/link/wake.h"
#include "coordinator/remote/deploy.h"
#include "coordinator/remote/login_pace.h"

/* More than log in at once; the second to last dials back. */
#define HOSTS (LOGIN_PACE_FIRST + 4)
#define DIALS (HOSTS - 2)

struct host_thread {
    bool started, joined;
    int admitted, reconnected, acquired, parked, dismissed;
    struct invite invite;
    struct host_thread_news news[2];
    int n_news, n_taken;
};

static struct host_thread each[HOSTS + 1];
static struct host list[HOSTS + 1]; /* one is behind the end */
static struct hosts hosts = { list, HOSTS };
static struct owner owner = { .user = "ada" };
static struct router *router;
static struct host_threads *threads;
static bool hangs; /* a thread is inside a login */
static int freed_workers;
static void *zctx;
static char folder[32], path[64];

int host_thread_start(void *context, const struct host_thread_task *task,
                      const struct host_threads_options *options,
                      struct host_thread **out, struct err *err)
{
    (void)context, (void)options, (void)err;
    assert_ptr_equal(task->host, &list[task->index]);
    *out = &each[task->index];
    (*out)->started = true;
    (*out)->invite = task->invite;
    return 0;
}

struct wake *host_thread_wake(struct host_thread *thread)
{
    (void)thread;
    return NULL;
}

int host_thread_recv(struct host_thread *thread, struct host_thread_news *out)
{
    if (thread->n_taken == thread->n_news)
        return 0;
    *out = thread->news[thread->n_taken++];
    if (thread->n_taken == thread->n_news)
        thread->n_taken = thread->n_news = 0;
    return 1;
}

void host_thread_admit(struct host_thread *thread)
{
    thread->admitted++;
}

void host_thread_reconnect(struct host_thread *thread)
{
    thread->reconnected++;
}

void host_thread_rented(struct host_thread *thread, const struct host *place)
{
    (void)place;
    thread->acquired++;
}

void host_thread_park(struct host_thread *thread)
{
    thread->parked++;
}

void host_thread_dismiss(struct host_thread *thread)
{
    thread->dismissed++;
}

bool host_thread_join(struct host_thread *thread, int64_t until_ns)
{
    (void)until_ns;
    thread->joined = true;
    return !hangs;
}

int worker_binary_load_own(struct worker_binary *out, struct err *err)
{
    (void)err;
    *out = (struct worker_binary){ .len = 0 };
    return 0;
}

void worker_binary_fini(struct worker_binary *program)
{
    (void)program;
    freed_workers++;
}

static int set_up(void **state)
{
    const struct host_threads_options options = { .epoch = 7,
                                                  .linger_s = 3,
                                                  .owner = &owner };
    struct err err;

    (void)state;
    memset(each, 0, sizeof(each));
    hangs = false;
    freed_workers = 0;
    for (size_t i = 0; i < HOSTS; i++)
        snprintf(list[i].name, sizeof(list[i].name), "host-%zu", i);
    list[DIALS].dial.back = true;
    snprintf(folder, sizeof(folder), "/tmp/fa-threads-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/router", folder);
    zctx = zmq_ctx_new();
    assert_int_equal(router_open(zctx, path, HOSTS, NULL, &router, &err), 0);
    return host_threads_start(zctx, &hosts, router, &options, &threads, &err);
}

static int tear_down(void **state)
{
    (void)state;
    hangs = false;
    host_threads_stop(threads);
    router_close(router);
    zmq_ctx_term(zctx);
    unlink(path);
    return rmdir(folder);
}

static void all_but_those_that_dial_back_have_one(void **state)
{
    (void)state;
    for (size_t i = 0; i <= HOSTS; i++)
        assert_int_equal(each[i].started, i < HOSTS && i != DIALS);
    assert_string_equal(each[0].invite.server_key, router_public_key(router));
    assert_string_not_equal(each[0].invite.secret_key,
                            each[1].invite.secret_key);
    assert_string_equal(each[1].invite.endpoint, INVITE_RELAY);
    assert_int_equal(each[1].invite.epoch, 7);
    assert_int_equal(each[1].invite.linger_ms, 3000);
    assert_string_equal(each[1].invite.owner.user, "ada");
}

static void one_is_told_and_no_other(void **state)
{
    (void)state;
    host_threads_reconnect(threads, 1);
    host_threads_rented(threads, 1, &list[1]);
    host_threads_park(threads, 1);
    host_threads_dismiss(threads, 1);
    for (size_t i = 0; i < HOSTS; i++) {
        assert_int_equal(each[i].reconnected, i == 1);
        assert_int_equal(each[i].acquired, i == 1);
        assert_int_equal(each[i].parked, i == 1);
        assert_int_equal(each[i].dismissed, i == 1);
    }
}

/* A host's thread says this; is it heard, and as what? */
static bool hears(size_t host, enum host_threads_event event, int code,
                  const char *text, struct host_thread_news *out)
{
    struct host_thread_news *news = &each[host].news[each[host].n_news++];

    *news =
        (struct host_thread_news){ .host = host, .event = event, .code = code };
    snprintf(news->text, sizeof(news->text), "%s", text);
    return host_threads_recv(threads, host, out) == 1;
}

/* So many hosts want to log in, from this one on. */
static void ask(size_t first, size_t n)
{
    struct host_thread_news news;

    for (size_t i = first; i < first + n; i++)
        assert_false(hears(i, HOST_THREADS_LOGIN_ASKED, 0, "server:22", &news));
}

static int admitted(void)
{
    int n = 0;

    for (size_t i = 0; i < HOSTS; i++)
        n += each[i].admitted;
    return n;
}

static void other_news_is_passed_on(void **state)
{
    struct host_thread_news news;

    (void)state;
    assert_true(hears(2, HOST_THREADS_BROKEN, ERR_AUTH, "why", &news));
    assert_int_equal(news.host, 2);
    assert_int_equal(news.event, HOST_THREADS_BROKEN);
    assert_string_equal(news.text, "why");
    assert_int_equal(host_threads_recv(threads, 2, &news), 0);
    assert_int_equal(admitted(), 0);
}

static void some_log_in_at_once_and_the_others_after_them(void **state)
{
    struct host_thread_news news;

    (void)state;
    ask(0, LOGIN_PACE_FIRST + 1);
    assert_int_equal(admitted(), LOGIN_PACE_FIRST);
    assert_int_equal(each[LOGIN_PACE_FIRST].admitted, 0);
    assert_false(hears(0, HOST_THREADS_LOGIN_ENDED, 0, "", &news));
    assert_int_equal(each[LOGIN_PACE_FIRST].admitted, 1);
}

/* A server that drops logins is busy if it answers others. */
static void a_drop_by_a_silent_server_is_a_failure(void **state)
{
    struct host_thread_news news;

    (void)state;
    ask(0, 1);
    assert_true(hears(0, HOST_THREADS_LOGIN_ENDED, ERR_BUSY, "gone", &news));
    assert_int_equal(news.event, HOST_THREADS_BROKEN);
    assert_int_equal(news.code, ERR_NETWORK);
    assert_string_equal(news.text, "gone");
}

static void a_drop_by_a_server_that_answers_is_not_heard(void **state)
{
    struct host_thread_news news;

    (void)state;
    ask(0, 3);
    assert_false(hears(1, HOST_THREADS_LOGIN_ENDED, 0, "", &news));
    assert_false(hears(0, HOST_THREADS_LOGIN_ENDED, ERR_BUSY, "gone", &news));
    ask(0, 1);
    assert_int_equal(each[0].admitted, 2);
}

/* A refused key is an answer. */
static void what_else_ends_a_login_may_be_an_answer(void **state)
{
    static const struct {
        int code;
        bool answers;
    } rows[] = { { ERR_NETWORK, false },
                 { ERR_SYSTEM, false },
                 { ERR_AUTH, true } };
    struct host_thread_news news;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ask(0, 2);
        assert_false(
            hears(1, HOST_THREADS_LOGIN_ENDED, rows[i].code, "no", &news));
        assert_int_equal(
            hears(0, HOST_THREADS_LOGIN_ENDED, ERR_BUSY, "gone", &news),
            !rows[i].answers);
    }
}

static void all_are_ended(void **state)
{
    (void)state;
    assert_true(host_threads_stop(NULL));
    hangs = true; /* then nothing is freed */
    assert_false(host_threads_stop(threads));
    assert_int_equal(freed_workers, 0);
    for (size_t i = 0; i < HOSTS; i++) {
        assert_int_equal(each[i].dismissed, i != DIALS);
        assert_int_equal(each[i].joined, i != DIALS);
    }
    hangs = false;
    assert_true(host_threads_stop(threads));
    threads = NULL;
    assert_int_equal(freed_workers, 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(all_but_those_that_dial_back_have_one),
        CASE(one_is_told_and_no_other),
        CASE(other_news_is_passed_on),
        CASE(some_log_in_at_once_and_the_others_after_them),
        CASE(a_drop_by_a_silent_server_is_a_failure),
        CASE(a_drop_by_a_server_that_answers_is_not_heard),
        CASE(what_else_ends_a_login_may_be_an_answer),
        CASE(all_are_ended),
    };
    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
