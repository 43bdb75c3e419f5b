#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "common/insertion_sort.h"

static void lists_of_zero_and_one_are_sorted(void **state)
{
    double x[] = { 2, 1 };

    (void)state;
    insertion_sort(x, 0);
    insertion_sort(x, 1);
    insertion_sort(x + 1, 1);
    assert_true(x[0] == 2 && x[1] == 1);
}

static void numbers_are_sorted_ascending(void **state)
{
    double x[] = { 3, -1, INFINITY, 0.5, -1, 2 };
    static const double sorted[] = { -1, -1, 0.5, 2, 3, INFINITY };

    (void)state;
    insertion_sort(x, 6);
    assert_memory_equal(x, sorted, sizeof(sorted));
}

static void a_descending_list_is_reversed(void **state)
{
    double x[] = { 5, 4, 3, 2, 1 };
    static const double sorted[] = { 1, 2, 3, 4, 5 };

    (void)state;
    insertion_sort(x, 5);
    assert_memory_equal(x, sorted, sizeof(sorted));
    insertion_sort(x, 5);
    assert_memory_equal(x, sorted, sizeof(sorted));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_zero_and_one_are_sorted),
        cmocka_unit_test(numbers_are_sorted_ascending),
        cmocka_unit_test(a_descending_list_is_reversed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
