/* What a host thread waits for, how long, and that it rests meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/hash.h"
#include "tests/coordinator/link/stage.h"

/* The far side says that it is a worker.  From then on, each look at the clock
 * takes as long as the invitation has. */
static void start_where_looks_are_slow(struct stage *stage)
{
    int before;

    stage_freeze();
    stage_start(stage, "touch \"$3/up\"\n"
                       "while ! test -e \"$3/more\"; do sleep 0.01; done\n"
                       "echo Last login: today\n"
                       "while ! test -e \"$3/go\"; do sleep 0.01; done\n"
                       "printf 'fa-relay 1 0.1.0\\n"
                       "\\001\\000\\001\\000\\000\\000\\000\\000'\n" //
                STAND_IN_STAYS);
    stage_await_upload(stage);
    stage_await_heard(stage, "up", "");
    before = stage_looks;
    stage_let_go_on(stage, "more");
    /* so it waits for the magic line, and looks no more */
    stage_await_look(before);
    stage_step_ns = 20 * NS_PER_S;
}

/* Over SSH nothing ends a wait for a session that is idle but its deadline.  So
 * a wait before it is written finds the deadline gone by. */
static void an_invitation_is_written_before_anything_is_waited_for(void **state)
{
    struct stage *stage = *state;

    start_where_looks_are_slow(stage);
    stage_let_go_on(stage, "go");
    stage_await(stage, HOST_THREADS_ATTACHED);
    stage_await_heard(stage, "heard", "epoch 7\n");
    stage_step_ns = 0;
    stage_end(stage);
}

static void an_invitation_that_nobody_reads_has_20_seconds(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news;

    start_where_looks_are_slow(stage);
    stage_takes_none = true;
    stage_let_go_on(stage, "go");
    news = stage_await(stage, HOST_THREADS_BROKEN);
    stage_takes_none = false; /* it may connect again by now */
    stage_step_ns = 0;
    assert_int_equal(news.code, ERR_NETWORK);
    assert_string_equal(news.text, "the relay does not read");
    stage_end(stage);
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

/* How often a text of five bytes is in what the worker has heard. */
static int times_heard(const struct stage *stage, const char *text)
{
    static char content[1 << 20];
    char path[96];
    FILE *file;
    size_t n;
    int times = 0;

    snprintf(path, sizeof(path), "%s/heard", stage->host.workdir);
    file = fopen(path, "r");
    assert_non_null(file);
    n = fread(content, 1, sizeof(content), file);
    fclose(file);
    for (size_t i = 0; i + 5 <= n; i++)
        times += memcmp(content + i, text, 5) == 0;
    return times;
}

static void bytes_go_both_ways(void **state)
{
    struct stage *stage = *state;
    int listener = listen_at(stage->router), fd;
    char said[8] = "";

    stage_start(stage, STAND_IN_MAGIC STAND_IN_OPEN
                "printf '\\002\\000\\001\\000\\005\\000\\000\\000hello'\n" //
                STAND_IN_STAYS);
    fd = accept(listener, NULL, NULL);
    assert_int_equal(recv(fd, said, 5, MSG_WAITALL), 5);
    assert_string_equal(said, "hello");
    assert_int_equal(send(fd, "world", 5, 0), 5);
    stage_await_heard(stage, "heard", "world");
    assert_int_equal(send(fd, "again", 5, 0), 5);
    stage_await_heard(stage, "heard", "again");
    assert_int_equal(times_heard(stage, "world"), 1);
    stage_end(stage);
    close(fd);
    close(listener);
}

/* 64 frames of 60000 bytes, which no buffer on the way holds. */
#define FRAMES 64
#define FRAME_BYTES 60000

/* The thread comes to rest: then a turn of it is a second. */
static void await_rest(void)
{
    int before = stage_polls;

    for (int turn = 0; turn < 10 * STAGE_WAIT_MS / STAGE_STILL_MS; turn++) {
        (void)poll(NULL, 0, STAGE_STILL_MS / 10);
        if (stage_polls - before < STAGE_FEW)
            return;
        before = stage_polls;
    }
    fail_msg("it has no rest");
}

static void what_the_router_does_not_read_waits(void **state)
{
    struct stage *stage = *state;
    int listener = listen_at(stage->router), fd;
    struct host_thread_news news;
    size_t got = 0;
    char block[4096];
    ssize_t n = 1;

    stage_start(
        stage, STAND_IN_MAGIC STAND_IN_OPEN
        "touch \"$3/up\"; for i in 0 1 2 3 4 5 6 7; do for j in 0 1 2 3 4 "
        "5 6 7; do\n"
        "printf '\\002\\000\\001\\000\\140\\352\\000\\000'\n"
        "head -c 60000 /dev/zero\n"
        "done; done\n" STAND_IN_STAYS);
    stage_await_upload(stage);
    stage_await(stage, HOST_THREADS_ATTACHED);
    fd = accept(listener, NULL, NULL);
    stage_await_heard(stage, "up", "");
    assert_false(stage_hears(stage, STAGE_STILL_MS / 4, &news));
    await_rest();
    while (got < FRAMES * FRAME_BYTES && n > 0) {
        n = recv(fd, block, sizeof(block), 0);
        got += (size_t)(n > 0 ? n : 0);
    }
    assert_int_equal(got, FRAMES * FRAME_BYTES);
    stage_end(stage);
    close(fd);
    close(listener);
}

/* More than its socket holds, and then the worker ends. */
static void the_last_bytes_reach_the_router(void **state)
{
    struct stage *stage = *state;
    int listener = listen_at(stage->router), fd;
    char block[4096];
    size_t got = 0;
    ssize_t n = 1;

    stage_start(stage, "for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do\n"
                       "printf '\\002\\000\\001\\000\\140\\352\\000\\000'\n"
                       "head -c 60000 /dev/zero\n"
                       "done > \"$3/all\"\n" STAND_IN_MAGIC STAND_IN_OPEN
                       "cat \"$3/all\"; echo > \"$3/up\"; exit 1\n");
    fd = accept(listener, NULL, NULL);
    stage_await_heard(stage, "up", "\n");
    while (n > 0) {
        n = recv(fd, block, sizeof(block), 0);
        got += (size_t)(n > 0 ? n : 0);
    }
    assert_int_equal(got, 16 * FRAME_BYTES);
    stage_end(stage);
    close(fd);
    close(listener);
}

static void a_worker_that_does_not_read_holds_nothing_up(void **state)
{
    struct stage *stage = *state;
    int listener = listen_at(stage->router), fd;
    struct pollfd out = { .events = POLLOUT };
    static char block[FRAME_BYTES];
    int rounds = 0;

    stage_start(stage, STAND_IN_MAGIC STAND_IN_OPEN
                "printf '\\002\\000\\001\\000\\005\\000\\000\\000hello'\n" //
                "exec sleep 60\n");
    fd = accept(listener, NULL, NULL);
    assert_int_equal(recv(fd, block, 5, MSG_WAITALL), 5);
    out.fd = fd;
    while (rounds < FRAMES && poll(&out, 1, STAGE_STILL_MS / 4) > 0) {
        (void)send(fd, block, sizeof(block), MSG_DONTWAIT);
        rounds++;
    }
    assert_true(rounds < FRAMES); /* it is full */
    stage_end(stage);
    close(fd);
    close(listener);
}

static void a_far_side_without_the_magic_line_has_20_seconds(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news;
    int before;

    stage_freeze();
    stage_start(stage, "touch \"$3/up\"; echo Last login: today\n"
                       "while ! test -e \"$3/more\"; do sleep 0.05; done\n"
                       "echo and more\n"
                       "while ! test -e \"$3/late\"; do sleep 0.05; done\n"
                       "echo and on; exec cat >/dev/null\n");
    stage_await_upload(stage);
    stage_await_heard(stage, "up", "");
    before = stage_looks;
    stage_let_go_on(stage, "more");
    stage_await_look(before); /* so it knows how long it waits */
    assert_false(stage_hears(stage, STAGE_STILL_MS / 4, &news));
    assert_true(stage_looks - before < STAGE_FEW);
    stage_frozen_ns += 20 * NS_PER_S - 1;
    stage_let_go_on(stage, "late");
    assert_false(stage_hears(stage, STAGE_STILL_MS / 4, &news));
    stage_frozen_ns += 1;
    news = stage_await(stage, HOST_THREADS_BROKEN);
    assert_int_equal(news.code, ERR_NETWORK);
    assert_memory_equal(news.text, "the worker did not answer in time: Last",
                        39);
    stage_end(stage);
}

static void a_relay_without_a_worker_has_40_seconds(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news;
    int before;

    stage_freeze();
    stage_start(stage, STAND_IN_MAGIC STAND_IN_STAYS);
    stage_await_upload(stage);
    stage_await_heard(stage, "heard", "epoch 7\n");
    stage_frozen_ns += 40 * NS_PER_S;
    before = stage_looks;
    assert_false(stage_hears(stage, STAGE_STILL_MS, &news));
    assert_true(stage_looks - before < STAGE_FEW);
    stage_frozen_ns += 1;
    news = stage_await(stage, HOST_THREADS_BROKEN);
    assert_string_equal(news.text, "the worker does not answer");
    stage_end(stage);
}

#define NOTE "printf '\\004\\000\\000\\000\\012\\000\\000\\000ada has it'\n"

/* Each note gives it another 40 seconds.  A part of one is no answer. */
static void a_relay_that_waits_says_so_and_is_not_left(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news;

    stage_freeze();
    stage_start(stage, STAND_IN_MAGIC
                "printf '\\004\\000\\000'; touch \"$3/up\"\n"
                "while ! test -e \"$3/rest\"; do sleep 0.01; done\n"
                "printf '\\000\\012\\000\\000\\000ada has it'\n"
                "while ! test -e \"$3/more\"; do sleep 0.01; done\n" NOTE
                "while ! test -e \"$3/go\"; do sleep 0.01; done\n" //
                STAND_IN_OPEN STAND_IN_STAYS);
    stage_await_upload(stage);
    stage_await_heard(stage, "up", "");
    stage_frozen_ns += 30 * NS_PER_S;
    stage_let_go_on(stage, "rest");
    news = stage_await(stage, HOST_THREADS_WAITING);
    assert_string_equal(news.text, "ada has it");
    stage_frozen_ns += 30 * NS_PER_S;
    stage_let_go_on(stage, "more");
    stage_await(stage, HOST_THREADS_WAITING);
    stage_frozen_ns += 30 * NS_PER_S;
    stage_let_go_on(stage, "go");
    stage_await(stage, HOST_THREADS_ATTACHED);
    stage_end(stage);
}

static void a_relay_that_says_no_more_is_left_after_40_seconds(void **state)
{
    struct stage *stage = *state;

    stage_freeze();
    stage_start(stage, STAND_IN_MAGIC NOTE STAND_IN_STAYS);
    stage_await_upload(stage);
    stage_await(stage, HOST_THREADS_WAITING);
    stage_frozen_ns += 40 * NS_PER_S + 1;
    assert_string_equal(stage_await(stage, HOST_THREADS_BROKEN).text,
                        "the worker does not answer");
    stage_end(stage);
}

#define CASE(test) \
    cmocka_unit_test_setup_teardown(test, stage_set_up, stage_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_invitation_is_written_before_anything_is_waited_for),
        CASE(an_invitation_that_nobody_reads_has_20_seconds),
        CASE(bytes_go_both_ways),
        CASE(what_the_router_does_not_read_waits),
        CASE(the_last_bytes_reach_the_router),
        CASE(a_worker_that_does_not_read_holds_nothing_up),
        CASE(a_far_side_without_the_magic_line_has_20_seconds),
        CASE(a_relay_without_a_worker_has_40_seconds),
        CASE(a_relay_that_waits_says_so_and_is_not_left),
        CASE(a_relay_that_says_no_more_is_left_after_40_seconds),
    };
    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
