/* The news that a host thread sends, with a script as the worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/hash.h"
#include "tests/coordinator/link/stage.h"

static void a_worker_that_speaks_is_attached(void **state)
{
    struct stage *stage = *state;

    stage_start(stage,
                "head -c 200000 /dev/zero; echo\n" STAND_IN_MAGIC STAND_IN_OPEN
                    STAND_IN_STAYS);
    stage_await_upload(stage);
    stage_await(stage, HOST_THREADS_ATTACHED);
    stage_await_heard(stage, "heard", "epoch 7\n");
    assert_int_equal(stage_wiped_texts, 1);
    assert_int_equal(stage_wiped_invites, 0);
    stage_end(stage);
    assert_int_equal(stage_wiped_invites, 1);
}

static void a_thread_that_is_at_work_is_not_joined_yet(void **state)
{
    struct stage *stage = *state;

    stage_start(stage, STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    stage_await_upload(stage);
    stage_await(stage, HOST_THREADS_ATTACHED);
    stage_freeze();
    assert_false(host_thread_join(stage->thread, clock_boot_ns()));
    stage_end(stage);
}

/* It is asked now and then, and not in a loop. */
static void a_thread_that_cannot_end_is_waited_for(void **state)
{
    struct stage *stage = *state;
    int before;

    stage_start(stage, "touch \"$3/up\"; exec sleep 60\n");
    stage_await_upload(stage);
    stage_await_heard(stage, "up", "");
    before = stage_looks;
    stage_end(stage);
    assert_true(stage_looks - before < STAGE_FEW);
}

/* Scripts that end, and the text of the resulting news. */
static const struct ending {
    const char *script;
    int code;
    const char *text; /* "": any */
    bool attached;
} endings[] = {
    { "echo no libz here >&2; exit 127\n", ERR_NETWORK,
      "the worker could not be started: no libz here", false },
    { "echo This account is not available.; exit 1\n", ERR_NETWORK,
      "the worker could not be started: This account is not available.",
      false },
    { "exit 0\n", ERR_NETWORK, "the worker could not be started", false },
    { "echo fa-relay 2 9.9.9\n", ERR_PROTO, "", false },
    { "head -c 300000 /dev/zero\n", ERR_PROTO, "", false },
    { "printf '\\033[2Jno shell\\n'; exit 1\n", ERR_NETWORK,
      "the worker could not be started: ?[2Jno shell", false },
    { STAND_IN_MAGIC "sleep 0.2; echo fa-worker: it serves ada >&2; exit 1\n",
      ERR_NETWORK, "it serves ada", false },
    { STAND_IN_MAGIC "sleep 0.2; echo Killed >&2; exit 1\n", ERR_NETWORK,
      "the worker ended: Killed", false },
    { STAND_IN_MAGIC STAND_IN_OPEN "sleep 0.2; echo Killed >&2; exit 1\n",
      ERR_NETWORK, "the worker ended: Killed", true },
    { STAND_IN_MAGIC "echo this is no frame at all; sleep 5\n", ERR_PROTO, "",
      false },
};

static void an_end_is_reported_with_its_output(void **state)
{
    struct stage *stage = *state;

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const struct ending *ending = &endings[i];
        struct host_thread_news news;

        stage_start(stage, ending->script);
        stage_await_upload(stage);
        if (ending->attached)
            stage_await(stage, HOST_THREADS_ATTACHED);
        news = stage_await(stage, HOST_THREADS_BROKEN);
        assert_int_equal(news.code, ending->code);
        if (ending->text[0] && strcmp(news.text, ending->text) != 0)
            fail_msg("row %zu: '%s'", i, news.text);
        assert_true(strlen(news.text) > 0);
        stage_end(stage);
    }
}

static void a_broken_connection_is_made_again(void **state)
{
    struct stage *stage = *state;

    stage_start(stage,
                "test -e \"$3/again\" || { touch \"$3/again\"; exit 1; }\n" //
                STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    stage_await_upload(stage);
    stage_await(stage, HOST_THREADS_BROKEN);
    stage_await_upload(stage);
    stage_await(stage, HOST_THREADS_ATTACHED);
    stage_end(stage);
}

static void a_connection_is_made_again_when_it_is_asked_for(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news;

    stage_start(stage, STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    stage_await_upload(stage);
    stage_await(stage, HOST_THREADS_ATTACHED);
    host_thread_reconnect(stage->thread);
    news = stage_await(stage, HOST_THREADS_BROKEN);
    assert_int_equal(news.code, ERR_NETWORK);
    assert_string_equal(news.text, "the host is silent; connecting again");
    stage_await_upload(stage);
    stage_await(stage, HOST_THREADS_ATTACHED);
    stage_end(stage);
}

static void an_unusable_work_folder_ends_the_thread(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news;

    snprintf(stage->host.workdir, sizeof(stage->host.workdir), "/proc/none");
    stage_start(stage, STAND_IN_MAGIC);
    stage_await_upload(stage);
    news = stage_await(stage, HOST_THREADS_GAVE_UP);
    assert_int_equal(news.code, ERR_INPUT);
    assert_memory_equal(news.text, "deploy: the work folder '/proc/none'", 36);
    host_thread_reconnect(stage->thread); /* has nothing to break */
    assert_false(stage_hears(stage, STAGE_STILL_MS, &news));
    stage_end(stage);
}

/* What ends the thread of a host that never worked is a pause for this one. */
static void a_host_that_worked_is_not_given_up(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news = { .event = HOST_THREADS_BROKEN };
    char away[sizeof(stage->host.workdir) + 8];

    snprintf(away, sizeof(away), "%s.away", stage->host.workdir);
    stage_start(stage, STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS);
    stage_await_upload(stage);
    stage_await(stage, HOST_THREADS_ATTACHED);
    assert_int_equal(rename(stage->host.workdir, away), 0);
    stand_in_write(stage->host.workdir, ""); /* no folder */
    host_thread_reconnect(stage->thread);
    stage_await(stage, HOST_THREADS_BROKEN);
    stage_await_upload(stage);
    assert_int_equal(stage_await(stage, HOST_THREADS_BROKEN).code, ERR_INPUT);
    assert_int_equal(unlink(stage->host.workdir), 0);
    assert_int_equal(rename(away, stage->host.workdir), 0);
    while (news.event != HOST_THREADS_ATTACHED &&
           news.event != HOST_THREADS_GAVE_UP)
        assert_true(stage_hears(stage, STAGE_WAIT_MS, &news));
    assert_int_equal(news.event, HOST_THREADS_ATTACHED);
    stage_end(stage);
}

static void it_ends_while_it_waits_for_the_magic_line(void **state)
{
    struct stage *stage = *state;

    stage_start(stage, STAND_IN_STAYS);
    stage_await_upload(stage);
    stage_end(stage);
}

static void it_can_be_stopped_right_after_its_start(void **state)
{
    struct stage *stage = *state;

    for (int i = 0; i < 20; i++) {
        stage_start(stage, STAND_IN_STAYS);
        stage_end(stage);
    }
}

static void a_host_cannot_have_two_threads(void **state)
{
    struct stage *stage = *state;
    struct host_threads_options options = { .socket_path = stage->router };
    struct host_thread_task task = { .index = 3, .host = &stage->host };
    struct host_thread *second;
    struct err err;

    stage_start(stage, STAND_IN_STAYS);
    assert_int_equal(
        host_thread_start(stage->zctx, &task, &options, &second, &err),
        ERR_SYSTEM);
    assert_null(second);
    assert_non_null(strstr(err.text, "Address already in use"));
    assert_int_equal(stage_wiped_invites, 1);
    stage_end(stage);
}

#define CASE(test) \
    cmocka_unit_test_setup_teardown(test, stage_set_up, stage_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_worker_that_speaks_is_attached),
        CASE(a_thread_that_is_at_work_is_not_joined_yet),
        CASE(a_thread_that_cannot_end_is_waited_for),
        CASE(an_end_is_reported_with_its_output),
        CASE(a_broken_connection_is_made_again),
        CASE(a_connection_is_made_again_when_it_is_asked_for),
        CASE(an_unusable_work_folder_ends_the_thread),
        CASE(a_host_that_worked_is_not_given_up),
        CASE(it_ends_while_it_waits_for_the_magic_line),
        CASE(it_can_be_stopped_right_after_its_start),
        CASE(a_host_cannot_have_two_threads),
    };
    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
