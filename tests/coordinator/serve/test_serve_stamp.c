#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/serve/serve_stamp.h"

static const struct serve_stamp stamp = {
    .exists = true,
    .device = 1,
    .file = 7,
    .bytes = 4096,
    .written_utc_ns = 100 * NS_PER_S,
    .log_bytes = 32,
    .log_written_utc_ns = 200 * NS_PER_S,
};

static void each_part_of_a_stamp_tells_a_change(void **state)
{
    struct serve_stamp others[8];

    (void)state;
    for (size_t i = 0; i < 8; i++)
        others[i] = stamp;
    others[0].exists = false;
    others[1].running = true;
    others[2].device++;
    others[3].file++;
    others[4].bytes++;
    others[5].written_utc_ns++;
    others[6].log_bytes++;
    others[7].log_written_utc_ns++;
    for (size_t i = 0; i < 8; i++)
        assert_false(serve_stamp_is_same(&stamp, &others[i]));
    assert_true(serve_stamp_is_same(&stamp, &stamp));
    assert_int_equal(serve_stamp_written_utc(&stamp), 200 * NS_PER_S);
}

static void another_file_of_the_name_is_a_replacement(void **state)
{
    struct serve_stamp now = stamp, gone = { .exists = false };

    (void)state;
    assert_false(serve_stamp_is_replaced(&stamp, &now));
    assert_false(serve_stamp_is_replaced(&stamp, &gone));
    assert_false(serve_stamp_is_replaced(&gone, &stamp));
    now.file = 8;
    assert_true(serve_stamp_is_replaced(&stamp, &now));
    gone.device = 1;
    gone.file = 7;
    assert_true(serve_stamp_is_replaced(&gone, &now));
}

static void a_file_just_written_may_change_without_a_sign(void **state)
{
    (void)state;
    assert_true(serve_stamp_is_recent(&stamp, 200 * NS_PER_S + 1));
    assert_true(serve_stamp_is_recent(&stamp, 200 * NS_PER_S + 99 * NS_PER_MS));
    assert_false(serve_stamp_is_recent(&stamp, 201 * NS_PER_S));
}

static void reading_takes_a_tenth_of_the_time_at_most(void **state)
{
    const int64_t end = 1000 * NS_PER_S;
    const struct serve_stamp_turn never = { 0 },
                                  quick = { end, NS_PER_MS, false },
                                  slow = { end, 2 * NS_PER_S, false },
                                  recent = { end, NS_PER_MS, true };

    (void)state;
    assert_true(serve_stamp_is_due(&never, false, end));
    assert_false(serve_stamp_is_due(&quick, false, end + 100 * NS_PER_S));
    assert_false(serve_stamp_is_due(&quick, true, end + 499 * NS_PER_MS));
    assert_true(serve_stamp_is_due(&quick, true, end + 500 * NS_PER_MS));
    assert_false(serve_stamp_is_due(&slow, true, end + 17 * NS_PER_S));
    assert_true(serve_stamp_is_due(&slow, true, end + 18 * NS_PER_S));
    assert_true(serve_stamp_is_due(&recent, false, end + NS_PER_S));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_of_a_stamp_tells_a_change),
        cmocka_unit_test(another_file_of_the_name_is_a_replacement),
        cmocka_unit_test(a_file_just_written_may_change_without_a_sign),
        cmocka_unit_test(reading_takes_a_tenth_of_the_time_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
