#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/link/upload_watch.h"

#define START_NS (100 * NS_PER_S)
#define STILL_NS (UPLOAD_WATCH_STILL_S * NS_PER_S)

static void its_beginning_is_progress(void **state)
{
    struct upload_watch watch = { 0 };

    (void)state;
    assert_false(upload_watch_gets_on(&watch, START_NS));
    assert_true(upload_watch_found(&watch, 0, START_NS));
    assert_true(upload_watch_gets_on(&watch, START_NS));
    assert_false(upload_watch_found(&watch, 0, START_NS + 1));
}

static void only_more_than_ever_is_progress(void **state)
{
    struct upload_watch watch = { 0 };

    (void)state;
    assert_true(upload_watch_found(&watch, 0, START_NS));
    assert_true(upload_watch_sent(&watch, 5000, START_NS + 1));
    assert_false(upload_watch_sent(&watch, 5000, START_NS + 2));
    assert_false(upload_watch_sent(&watch, 4000, START_NS + 3));
    assert_true(upload_watch_found(&watch, 1000, START_NS + 4));
    assert_false(upload_watch_found(&watch, 1000, START_NS + 5));
    assert_int_equal(watch.progress_ns, START_NS + 4);
    assert_true(upload_watch_sent(&watch, 5001, START_NS + 6));
}

static void time_without_progress_ends_it(void **state)
{
    struct upload_watch watch = { 0 };

    (void)state;
    upload_watch_found(&watch, 0, START_NS);
    assert_true(upload_watch_gets_on(&watch, START_NS + STILL_NS - 1));
    assert_false(upload_watch_gets_on(&watch, START_NS + STILL_NS));
    upload_watch_found(&watch, 1, START_NS + STILL_NS);
    assert_true(upload_watch_gets_on(&watch, START_NS + STILL_NS));
}

static void it_is_told_now_and_then(void **state)
{
    const int64_t step_ns = UPLOAD_WATCH_TELL_S * NS_PER_S;
    struct upload_watch watch = { 0 };

    (void)state;
    assert_true(upload_watch_found(&watch, 0, START_NS));
    assert_false(upload_watch_tells(&watch, START_NS + step_ns - 1));
    assert_true(upload_watch_tells(&watch, START_NS + step_ns));
    assert_false(upload_watch_tells(&watch, START_NS + step_ns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_beginning_is_progress),
        cmocka_unit_test(only_more_than_ever_is_progress),
        cmocka_unit_test(time_without_progress_ends_it),
        cmocka_unit_test(it_is_told_now_and_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
