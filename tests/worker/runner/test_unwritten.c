#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/runner/device/unwritten.h"

static float value_of(uint64_t turn)
{
    const uint32_t word = unwritten_word(turn);
    float value;

    memcpy(&value, &word, sizeof(value));
    return value;
}

static void
the_first_is_a_nan_then_come_large_numbers_of_both_signs(void **state)
{
    (void)state;
    assert_true(value_of(0) != value_of(0));
    assert_true(value_of(1) > 1e36f);
    assert_true(value_of(2) < -1e36f);
    assert_true(value_of(3) != value_of(3));
}

static void some_turns_in_a_row_have_all_bytes(void **state)
{
    (void)state;
    for (uint64_t first = 0; first < 7; first++) {
        unsigned seen = 0;

        for (uint64_t turn = first; turn < first + UNWRITTEN_BYTES; turn++)
            seen |= unwritten_byte(turn) == 0xff   ? 1
                    : unwritten_byte(turn) == 0x7b ? 2
                                                   : 4;
        assert_int_equal(seen, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_first_is_a_nan_then_come_large_numbers_of_both_signs),
        cmocka_unit_test(some_turns_in_a_row_have_all_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
