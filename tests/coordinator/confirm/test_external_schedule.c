#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/confirm/external_schedule.h"

static const struct external_schedule_design design = {
    .hosts = 2, .shapes = 2, .blocks = 3, .attempts = 3
};

static void one_that_fails_is_never_run_again_on_its_host(void **state)
{
    struct external_schedule *e = external_schedule_new(&design);

    (void)state;
    assert_int_equal(external_schedule_join(e, 1, 0, 0), EXTERNAL_SCHEDULE_YES);
    external_schedule_begin(e, 7, 1, 0, 0);
    assert_true(external_schedule_runs(e, 1));
    assert_true(external_schedule_end(e, 7, EXTERNAL_SCHEDULE_FAILED));
    assert_false(external_schedule_runs(e, 1));
    assert_true(external_schedule_is_off(e, 0));
    assert_int_equal(external_schedule_ask(e, 0, 1),
                     EXTERNAL_SCHEDULE_NO); /* the other shape */
    external_schedule_complete(e, 1);
    assert_int_equal(external_schedule_join(e, 2, 0, 0), EXTERNAL_SCHEDULE_NO);
    external_schedule_free(e);
}

/* Two GPUs of one host: the second waits for the result of the first. */
static void a_trial_is_run_alone_on_its_host(void **state)
{
    struct external_schedule *e = external_schedule_new(&design);

    (void)state;
    assert_int_equal(external_schedule_join(e, 1, 0, 0), EXTERNAL_SCHEDULE_YES);
    external_schedule_begin(e, 7, 1, 0, 0);
    assert_int_equal(external_schedule_join(e, 2, 0, 0),
                     EXTERNAL_SCHEDULE_LATER);
    external_schedule_end(e, 7, EXTERNAL_SCHEDULE_TIMED);
    assert_int_equal(external_schedule_join(e, 2, 0, 0), EXTERNAL_SCHEDULE_YES);
    external_schedule_begin(e, 8, 2, 0, 0);
    assert_int_equal(external_schedule_ask(e, 0, 0),
                     EXTERNAL_SCHEDULE_YES); /* it has a time here */
    external_schedule_begin(e, 9, 1, 0, 1);  /* each shape has its own trial */
    assert_int_equal(external_schedule_ask(e, 0, 1), EXTERNAL_SCHEDULE_LATER);
    assert_int_equal(external_schedule_ask(e, 0, 0), EXTERNAL_SCHEDULE_YES);
    external_schedule_end(e, 9, EXTERNAL_SCHEDULE_TIMED);
    assert_int_equal(external_schedule_ask(e, 0, 1), EXTERNAL_SCHEDULE_YES);
    external_schedule_free(e);
}

static void a_host_says_nothing_of_another(void **state)
{
    struct external_schedule *e = external_schedule_new(&design);

    (void)state;
    assert_int_equal(external_schedule_join(e, 1, 0, 0), EXTERNAL_SCHEDULE_YES);
    external_schedule_begin(e, 7, 1, 0, 0);
    assert_int_equal(external_schedule_join(e, 2, 1, 0), EXTERNAL_SCHEDULE_YES);
    external_schedule_begin(e, 8, 2, 1, 0); /* at the same time */
    external_schedule_end(e, 7, EXTERNAL_SCHEDULE_FAILED);
    assert_false(external_schedule_is_off(e, 1));
    external_schedule_end(e, 8, EXTERNAL_SCHEDULE_TIMED);
    assert_int_equal(external_schedule_ask(e, 1, 1), EXTERNAL_SCHEDULE_YES);
    external_schedule_free(e);
}

/* A block on a host where it failed does not count as joined. */
static void it_joins_the_number_of_blocks_asked_for(void **state)
{
    struct external_schedule *e = external_schedule_new(&design);

    (void)state;
    assert_int_equal(external_schedule_join(e, 1, 0, 0), EXTERNAL_SCHEDULE_YES);
    external_schedule_begin(e, 1, 1, 0, 0);
    external_schedule_end(e, 1, EXTERNAL_SCHEDULE_FAILED);
    external_schedule_complete(e, 1);
    for (int round = 2; round <= 4; round++) {
        assert_int_equal(external_schedule_join(e, round, 1, 0),
                         EXTERNAL_SCHEDULE_YES);
        external_schedule_begin(e, round, round, 1, 0);
        external_schedule_end(e, round, EXTERNAL_SCHEDULE_TIMED);
        external_schedule_complete(e, round);
    }
    assert_int_equal(external_schedule_join(e, 5, 1, 0), EXTERNAL_SCHEDULE_NO);
    external_schedule_free(e);
}

static void a_block_that_breaks_gives_its_place_to_another(void **state)
{
    struct external_schedule *e = external_schedule_new(&design);

    (void)state;
    external_schedule_had(e, 2); /* of three; done by an earlier run */
    assert_int_equal(external_schedule_join(e, 1, 0, 0), EXTERNAL_SCHEDULE_YES);
    external_schedule_begin(e, 7, 1, 0, 0);
    assert_int_equal(external_schedule_join(e, 2, 1, 0), EXTERNAL_SCHEDULE_NO);
    external_schedule_end(e, 7, EXTERNAL_SCHEDULE_TIMED);
    external_schedule_broken(e, 1);
    assert_int_equal(external_schedule_join(e, 2, 1, 0), EXTERNAL_SCHEDULE_YES);
    external_schedule_free(e);
}

/* It continues after its block is broken, and its time is still used. */
static void a_run_outlives_its_block(void **state)
{
    struct external_schedule *e = external_schedule_new(&design);
    int round, host;

    (void)state;
    external_schedule_join(e, 1, 0, 0);
    external_schedule_begin(e, 7, 1, 0, 0);
    external_schedule_broken(e, 1);
    assert_int_equal(external_schedule_at(e, 0, &round, &host), 7);
    assert_int_equal(round, 1);
    assert_int_equal(host, 0);
    assert_int_equal(external_schedule_join(e, 2, 0, 0),
                     EXTERNAL_SCHEDULE_LATER);
    assert_true(external_schedule_end(e, 7, EXTERNAL_SCHEDULE_TIMED));
    assert_false(external_schedule_end(e, 7, EXTERNAL_SCHEDULE_TIMED));
    assert_int_equal(external_schedule_at(e, 0, &round, &host), 0);
    assert_int_equal(external_schedule_join(e, 2, 0, 0), EXTERNAL_SCHEDULE_YES);
    external_schedule_free(e);
}

static void a_dropped_run_leaves_the_trial_to_the_next(void **state)
{
    struct external_schedule *e = external_schedule_new(&design);

    (void)state;
    external_schedule_join(e, 1, 0, 0);
    external_schedule_begin(e, 7, 1, 0, 0);
    assert_true(external_schedule_end(e, 7, EXTERNAL_SCHEDULE_DROPPED));
    assert_false(external_schedule_is_off(e, 0));
    external_schedule_broken(e, 1);
    assert_int_equal(external_schedule_join(e, 2, 0, 0), EXTERNAL_SCHEDULE_YES);
    external_schedule_free(e);
}

static void runs_that_are_lost_in_a_row_end_it_on_the_host(void **state)
{
    struct external_schedule *e = external_schedule_new(&design);

    (void)state;
    assert_false(external_schedule_lost(e, 0));
    assert_false(external_schedule_lost(e, 0));
    external_schedule_join(e, 1, 0, 0);
    external_schedule_begin(e, 7, 1, 0, 0);
    external_schedule_end(e, 7, EXTERNAL_SCHEDULE_TIMED);
    assert_false(external_schedule_lost(e, 0)); /* counting starts again */
    assert_false(external_schedule_lost(e, 0));
    assert_false(external_schedule_lost(e, 1));
    assert_true(external_schedule_lost(e, 0));
    assert_true(external_schedule_is_off(e, 0));
    assert_false(external_schedule_is_off(e, 1));
    external_schedule_free(e);
}

static void it_joins_what_is_asked_or_needed_or_all(void **state)
{
    (void)state;
    assert_int_equal(external_schedule_blocks(8, 6, INT_MAX, false), 8);
    assert_int_equal(external_schedule_blocks(6, 10, INT_MAX, false), 10);
    assert_int_equal(external_schedule_blocks(1, 1, INT_MAX, false), 1);
    assert_int_equal(external_schedule_blocks(20, 8, 12, false), 12);
    assert_int_equal(external_schedule_blocks(20, 14, 12, false), 14);
    assert_true(external_schedule_blocks(6, 10, 12, true) > 9999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_joins_what_is_asked_or_needed_or_all),
        cmocka_unit_test(one_that_fails_is_never_run_again_on_its_host),
        cmocka_unit_test(a_trial_is_run_alone_on_its_host),
        cmocka_unit_test(a_host_says_nothing_of_another),
        cmocka_unit_test(it_joins_the_number_of_blocks_asked_for),
        cmocka_unit_test(a_block_that_breaks_gives_its_place_to_another),
        cmocka_unit_test(a_run_outlives_its_block),
        cmocka_unit_test(a_dropped_run_leaves_the_trial_to_the_next),
        cmocka_unit_test(runs_that_are_lost_in_a_row_end_it_on_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
