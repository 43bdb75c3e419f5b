/* A host whose machine is acquired and released. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/hash.h"
#include "coordinator/link/wake.h"
#include "tests/coordinator/link/stage.h"

#define WORKS STAND_IN_MAGIC STAND_IN_OPEN STAND_IN_STAYS

static void start_rented(struct stage *stage, const char *script)
{
    stage->rents = true;
    snprintf(stage->host.rental.start, sizeof(stage->host.rental.start),
             "true");
    stage_start(stage, script);
}

/* Its machine is acquired, with this work folder. */
static void acquire(struct stage *stage, const char *folder)
{
    struct host place = stage->host;

    snprintf(place.workdir, sizeof(place.workdir), "%s/%s",
             stage->stand_in.folder, folder);
    host_thread_rented(stage->thread, &place);
    place = (struct host){ .local = false }; /* it has a copy */
}

static void it_connects_when_it_is_acquired(void **state)
{
    struct stage *stage = *state;
    struct host_thread_news news;

    start_rented(stage, WORKS);
    stage_await(stage, HOST_THREADS_PARKED);
    assert_false(stage_hears(stage, STAGE_STILL_MS / 4, &news));
    acquire(stage, "work");
    stage_await_upload(stage);
    stage_await(stage, HOST_THREADS_ATTACHED);
    stage_await_heard(stage, "heard", "epoch 7\n");
    stage_end(stage);
}

static void it_is_where_it_was_acquired_last(void **state)
{
    struct stage *stage = *state;

    start_rented(stage, WORKS);
    stage_await(stage, HOST_THREADS_PARKED);
    for (int turn = 0; turn < 2; turn++) {
        char folder[8];

        snprintf(folder, sizeof(folder), "at-%d", turn);
        snprintf(stage->host.workdir, sizeof(stage->host.workdir), "%s/%s",
                 stage->stand_in.folder, folder);
        acquire(stage, folder);
        stage_await_upload(stage);
        stage_await(stage, HOST_THREADS_ATTACHED);
        stage_await_heard(stage, "heard", "epoch 7\n");
        host_thread_park(stage->thread);
        stage_await(stage, HOST_THREADS_PARKED);
    }
    stage_end(stage);
}

/* It was acquired again in between, and ends before it connects there. */
static void it_may_be_acquired_while_it_is_connected(void **state)
{
    struct stage *stage = *state;

    start_rented(stage, WORKS);
    stage_await(stage, HOST_THREADS_PARKED);
    acquire(stage, "work");
    stage_await_upload(stage);
    stage_await(stage, HOST_THREADS_ATTACHED);
    acquire(stage, "second");
    acquire(stage, "third");
    stage_end(stage);
}

static void it_ends_while_it_is_parked(void **state)
{
    struct stage *stage = *state;

    start_rented(stage, WORKS);
    stage_await(stage, HOST_THREADS_PARKED);
    stage_end(stage);
}

/* A machine that has just started may not have its keys yet. */
static void it_is_not_given_up_for_its_first_login(void **state)
{
    struct stage *stage = *state;

    snprintf(stage->host.workdir, sizeof(stage->host.workdir), "/proc/none");
    start_rented(stage, WORKS);
    stage_await(stage, HOST_THREADS_PARKED);
    host_thread_rented(stage->thread, &stage->host);
    stage_await_upload(stage);
    assert_int_equal(stage_await(stage, HOST_THREADS_BROKEN).code, ERR_INPUT);
    stage_await_upload(stage);
    stage_end(stage);
}

/* Where the run does not rent, the line says where the machine is. */
static void without_renting_it_connects_at_once(void **state)
{
    struct stage *stage = *state;

    snprintf(stage->host.rental.start, sizeof(stage->host.rental.start),
             "true");
    stage_start(stage, WORKS);
    stage_await_upload(stage);
    stage_end(stage);
}

/* What is said to it may take in that news has come. */
static void its_news_is_seen_after_it_was_spoken_to(void **state)
{
    struct stage *stage = *state;
    struct wake *wake;
    int turns = 0;

    start_rented(stage, WORKS);
    wake = host_thread_wake(stage->thread);
    while (!wake_has(wake)) {
        wake_touch(wake);
        assert_true(turns++ < 100000000);
    }
    wake->quiet = true; /* as before it came */
    host_thread_admit(stage->thread);
    assert_true(wake_has(wake));
    stage_await(stage, HOST_THREADS_PARKED);
    stage_end(stage);
}

#define CASE(test) \
    cmocka_unit_test_setup_teardown(test, stage_set_up, stage_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(it_connects_when_it_is_acquired),
        CASE(it_is_where_it_was_acquired_last),
        CASE(it_may_be_acquired_while_it_is_connected),
        CASE(it_ends_while_it_is_parked),
        CASE(it_is_not_given_up_for_its_first_login),
        CASE(without_renting_it_connects_at_once),
        CASE(its_news_is_seen_after_it_was_spoken_to),
    };
    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
