#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/runner/device/order_check.h"

enum {
    N = 5
};

static float floats[N];
static int32_t numbers[N];
static char text[200];

static const struct order_check_array arrays[] = {
    { "floats", ELEMENT_FP32, N, floats, NULL },
    { "numbers", ELEMENT_INT32, N, numbers, NULL },
};

static struct order_check *begun(void)
{
    struct order_check *check = order_check_new(arrays, 2);

    assert_non_null(check);
    return check;
}

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++) {
        floats[i] = (float)i;
        numbers[i] = 10 * i;
    }
    return 0;
}

static void second_launch_begins_as_the_first_did(void **state)
{
    struct order_check *check = begun();

    (void)state;
    floats[3] = 30;
    numbers[4] = 44;
    order_check_keep(check);
    order_check_restore(check);
    assert_true(floats[3] == 3);
    assert_int_equal(numbers[4], 40);
    floats[3] = 30;
    numbers[4] = 44;
    assert_true(order_check_same(check, text, sizeof(text)));
    order_check_free(check);
}

/* The second half adds to what it meets. */
static void what_halves_meet_is_not_put_back(void **state)
{
    static const unsigned char met[N] = { [2] = 1 };
    const struct order_check_array array = { "numbers", ELEMENT_INT32, N,
                                             numbers, met };
    struct order_check *check = order_check_new(&array, 1);

    (void)state;
    order_check_keep(check);
    order_check_restore(check);
    numbers[1]++;
    numbers[2]++;
    assert_true(order_check_halve(check));
    assert_int_equal(numbers[1], 10);
    assert_int_equal(numbers[2], 21);
    numbers[2]--; /* as before the first launch, and met */
    order_check_join(check, false);
    assert_int_equal(numbers[1], 11);
    assert_int_equal(numbers[2], 20);
    order_check_free(check);
}

static void either_half_may_be_the_last_one(void **state)
{
    struct order_check *check = begun();

    (void)state;
    order_check_keep(check);
    order_check_restore(check);
    numbers[1] = 11;
    assert_true(order_check_halve(check));
    numbers[1] = 12;
    order_check_join(check, false);
    assert_int_equal(numbers[1], 12);
    order_check_join(check, true);
    assert_int_equal(numbers[1], 11);
    order_check_finish(check);
    assert_int_equal(numbers[1], 10);
    order_check_free(check);
}

static void halves_are_put_together(void **state)
{
    struct order_check *check = begun();

    (void)state;
    floats[1] = 11;  /* by the one half */
    floats[3] = 33;  /* by the other */
    numbers[2] = 22; /* by both: 21 each */
    order_check_keep(check);
    order_check_restore(check);
    floats[1] = 11;
    numbers[2] = 21;
    assert_true(order_check_halve(check));
    assert_true(floats[1] == 1);
    assert_int_equal(numbers[2], 20);
    floats[3] = 33;
    numbers[2] = 21;
    order_check_join(check, false);
    assert_true(floats[1] == 11 && floats[3] == 33);
    assert_false(order_check_same(check, text, sizeof(text)));
    assert_string_equal(text,
                        "'numbers'[2] is 22 in one order, and 21 in another");
    order_check_free(check);
}

static void first_difference_is_named(void **state)
{
    struct order_check *check = begun();

    (void)state;
    numbers[2] = 7;
    numbers[4] = 8;
    order_check_keep(check);
    order_check_restore(check);
    numbers[4] = 8;
    assert_false(order_check_same(check, text, sizeof(text)));
    assert_string_equal(text,
                        "'numbers'[2] is 7 in one order, and 20 in another");
    order_check_free(check);
}

static void bits_are_compared_and_not_values(void **state)
{
    struct order_check *check = begun();

    (void)state;
    floats[0] = -0.0f;
    order_check_keep(check);
    order_check_restore(check);
    assert_false(order_check_same(check, text, sizeof(text)));
    assert_string_equal(text,
                        "'floats'[0] is -0 in one order, and 0 in another");
    memset(&floats[0], 0xff, sizeof(floats[0]));
    order_check_keep(check);
    order_check_restore(check);
    memset(&floats[0], 0xff, sizeof(floats[0]));
    assert_true(order_check_same(check, text, sizeof(text))); /* two NaN */
    order_check_free(check);
}

static void what_is_left_out_is_restored_and_not_compared(void **state)
{
    struct order_check *check = begun();

    (void)state;
    numbers[1] = 1;
    order_check_keep(check);
    order_check_leave_out(check, numbers);
    order_check_restore(check);
    assert_int_equal(numbers[1], 10);
    assert_true(order_check_same(check, text, sizeof(text)));
    floats[1] = 7;
    assert_false(order_check_same(check, text, sizeof(text)));
    order_check_free(check);
}

static void arrays_that_are_too_large_are_not_copied(void **state)
{
    const struct order_check_array large = { "large", ELEMENT_INT8,
                                             (int64_t)ORDER_CHECK_BYTES_MAX + 1,
                                             numbers, NULL };

    (void)state;
    assert_null(order_check_new(&large, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(second_launch_begins_as_the_first_did, set_up),
        cmocka_unit_test_setup(what_halves_meet_is_not_put_back, set_up),
        cmocka_unit_test_setup(either_half_may_be_the_last_one, set_up),
        cmocka_unit_test_setup(halves_are_put_together, set_up),
        cmocka_unit_test_setup(first_difference_is_named, set_up),
        cmocka_unit_test(arrays_that_are_too_large_are_not_copied),
        cmocka_unit_test_setup(what_is_left_out_is_restored_and_not_compared,
                               set_up),
        cmocka_unit_test_setup(bits_are_compared_and_not_values, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
