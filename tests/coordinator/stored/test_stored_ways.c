#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/stored/stored_ways.h"

static void the_way_that_was_used_last_is_current(void **state)
{
    struct stored_ways ways = { 0 };

    (void)state;
    assert_int_equal(stored_ways_add(&ways, "n1", "old", 5), 0);
    assert_int_equal(stored_ways_add(&ways, "n1", "new", 7), 1);
    assert_false(stored_ways_is_current(&ways, 0));
    assert_true(stored_ways_is_current(&ways, 1));
    assert_int_equal(stored_ways_add(&ways, "n1", "old", 8), 0);
    assert_true(stored_ways_is_current(&ways, 0));
    assert_false(stored_ways_is_current(&ways, 1));
    assert_int_equal(stored_ways_add(&ways, "n1", "old", 6), 0);
    assert_true(stored_ways_is_current(&ways, 0)); /* 8 was later */
    assert_int_equal(ways.list[0].outcomes, 3);
    assert_int_equal(ways.list[0].settled_utc, 8);
    stored_ways_fini(&ways);
}

static void of_two_that_are_as_new_the_first_is_current(void **state)
{
    struct stored_ways ways = { 0 };

    (void)state;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(stored_ways_add(&ways, "n1",
                                         (const char *[]){ "a", "b", "c" }[i],
                                         i == 0 ? 4 : 5),
                         i);
    assert_false(stored_ways_is_current(&ways, 0));
    assert_true(stored_ways_is_current(&ways, 1));
    assert_false(stored_ways_is_current(&ways, 2));
    stored_ways_fini(&ways);
}

static void each_shape_has_its_own(void **state)
{
    struct stored_ways ways = { 0 };

    (void)state;
    assert_int_equal(stored_ways_add(&ways, "n1", "key", 5), 0);
    assert_int_equal(stored_ways_add(&ways, "n2", "key", 7), 1);
    assert_true(stored_ways_is_current(&ways, 0));
    assert_true(stored_ways_is_current(&ways, 1));
    stored_ways_fini(&ways);
    assert_int_equal(ways.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_way_that_was_used_last_is_current),
        cmocka_unit_test(of_two_that_are_as_new_the_first_is_current),
        cmocka_unit_test(each_shape_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
