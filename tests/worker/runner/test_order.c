#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/runner/emulator/order.h"

enum {
    MOST = 300
};

static void every_order_is_a_permutation(void **state)
{
    (void)state;
    for (uint64_t order = 0; order < 40; order++)
        for (uint64_t n = 1; n < MOST; n += 1 + n / 8) {
            bool seen[MOST] = { false };

            for (uint64_t i = 0; i < n; i++) {
                uint64_t at = order_at(order, n, i);

                assert_true(at < n);
                assert_false(seen[at]);
                seen[at] = true;
            }
        }
}

static void drawn_orders_differ(void **state)
{
    int same = 0;

    (void)state;
    assert_int_equal(order_at(ORDER_FORWARD, 9, 2), 2);
    assert_int_equal(order_at(ORDER_REVERSE, 9, 2), 6);
    for (uint64_t i = 0; i < 100; i++) {
        same += order_at(ORDER_DRAWN, 100, i) == i;
        same += order_at(ORDER_DRAWN, 100, i) == order_at(3, 100, i);
    }
    assert_true(same < 20);
}

static void each_of_two_is_first_in_about_half_of_the_orders(void **state)
{
    int first = 0;

    (void)state;
    for (uint64_t order = ORDER_DRAWN; order < 202; order++)
        first += order_at(order, 2, 0) == 0;
    assert_in_range(first, 60, 140);
}

static void lists_are_permutations_as_well(void **state)
{
    int same = 0;

    (void)state;
    for (uint64_t order = 0; order < 40; order++)
        for (unsigned n = 1; n <= 32; n++) {
            uint64_t seen = 0;
            uint8_t list[32];

            order_list(order, n, list);
            for (unsigned i = 0; i < n; i++)
                seen |= UINT64_C(1) << list[i];
            assert_int_equal(seen, (UINT64_C(1) << n) - 1);
            if (order == ORDER_FORWARD)
                assert_int_equal(list[n - 1], n - 1);
            if (order == ORDER_REVERSE)
                assert_int_equal(list[0], n - 1);
            same += order >= ORDER_DRAWN && n == 2 && list[0] == 0;
        }
    assert_in_range(same, 8, 30);
}

static void largest_grid_is_drawn_from_as_well(void **state)
{
    const uint64_t n = UINT64_C(0x7fffffff) * 65535 * 65535;

    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        assert_true(order_at(7, n, n - 1 - i) < n);
}

static void places_have_orders_of_their_own_if_drawn(void **state)
{
    (void)state;
    assert_int_equal(order_within(ORDER_FORWARD, 5), ORDER_FORWARD);
    assert_int_equal(order_within(ORDER_REVERSE, 5), ORDER_REVERSE);
    assert_true(order_within(2, 5) >= ORDER_DRAWN);
    assert_true(order_within(2, 5) != order_within(2, 6));
    assert_true(order_within(2, 5) != order_within(4, 5));
}

static void what_nobody_wrote_is_a_nan_first_and_then_all_kinds(void **state)
{
    (void)state;
    assert_int_equal(order_unwritten(ORDER_FORWARD), 0xff);
    assert_int_equal(order_unwritten(ORDER_REVERSE), 0xff);
    assert_int_equal(order_unwritten(ORDER_DRAWN), 0x7b);
    assert_int_equal(order_unwritten(ORDER_DRAWN + 1), 0xfb);
    assert_int_equal(order_unwritten(ORDER_DRAWN + 2), 0xff);
    assert_int_equal(order_unwritten(ORDER_DRAWN + 3), 0x7b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_is_a_permutation),
        cmocka_unit_test(drawn_orders_differ),
        cmocka_unit_test(each_of_two_is_first_in_about_half_of_the_orders),
        cmocka_unit_test(lists_are_permutations_as_well),
        cmocka_unit_test(largest_grid_is_drawn_from_as_well),
        cmocka_unit_test(places_have_orders_of_their_own_if_drawn),
        cmocka_unit_test(what_nobody_wrote_is_a_nan_first_and_then_all_kinds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
