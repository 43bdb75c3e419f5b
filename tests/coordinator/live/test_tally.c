#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/live/tally.h"

static struct tally tally;

static void a_configuration_is_tried_when_all_its_measurements_are(void **state)
{
    (void)state;
    tally = (struct tally){ .shapes = 2 };
    tally_add(&tally, (struct tally_unit){ 0, 0 });
    assert_int_equal(tally.tried, 0);
    tally_add(&tally, (struct tally_unit){ 1, 1 });
    assert_int_equal(tally.tried, 0);
    tally_add(&tally, (struct tally_unit){ 2, 2 });
    assert_int_equal(tally.tried, 1);
    assert_int_equal(tally.correct, 1);
    assert_int_equal(tally.settled, 3);
}

/* What is left of it cannot make it correct. */
static void a_configuration_that_failed_once_is_tried(void **state)
{
    (void)state;
    tally = (struct tally){ .shapes = 3 };
    tally_add(&tally, (struct tally_unit){ 2, 1 });
    assert_int_equal(tally.tried, 1);
    assert_int_equal(tally.correct, 0);
    assert_int_equal(tally.settled, 2);
}

static void a_change_counts_once(void **state)
{
    (void)state;
    tally = (struct tally){ .shapes = 2 };
    tally_change(&tally, (struct tally_unit){ 0, 0 },
                 (struct tally_unit){ 1, 1 });
    tally_change(&tally, (struct tally_unit){ 1, 1 },
                 (struct tally_unit){ 2, 2 });
    assert_int_equal(tally.correct, 1);
    tally_change(&tally, (struct tally_unit){ 2, 2 },
                 (struct tally_unit){ 2, 1 });
    assert_int_equal(tally.tried, 1);
    assert_int_equal(tally.correct, 0);
    assert_int_equal(tally.settled, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_configuration_is_tried_when_all_its_measurements_are),
        cmocka_unit_test(a_configuration_that_failed_once_is_tried),
        cmocka_unit_test(a_change_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
