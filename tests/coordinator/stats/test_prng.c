#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/stats/prng.h"

/* splitmix64's first word for seed 0 is published; the other values follow from
 * it. */
static void the_numbers_are_those_of_the_published_generator(void **state)
{
    struct prng prng;

    (void)state;
    prng_init(&prng, 0);
    assert_true(prng.state[0] == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(prng_next(&prng) == UINT64_C(0x99ec5f36cb75f2b4));
}

static void below_is_even_and_in_range(void **state)
{
    int count[7] = { 0 };
    struct prng prng;

    (void)state;
    prng_init(&prng, 1);
    for (int i = 0; i < 7000; i++)
        count[prng_below(&prng, 7)]++;
    for (int i = 0; i < 7; i++)
        assert_in_range(count[i], 880, 1120);
}

static void a_shuffle_keeps_every_item(void **state)
{
    int items[] = { 0, 1, 2, 3, 4, 5, 6, 7 }, seen[8] = { 0 };
    struct prng prng;

    (void)state;
    prng_init(&prng, 2);
    prng_shuffle(&prng, items, 8);
    for (int i = 0; i < 8; i++)
        assert_int_equal(seen[items[i]]++, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_are_those_of_the_published_generator),
        cmocka_unit_test(below_is_even_and_in_range),
        cmocka_unit_test(a_shuffle_keeps_every_item),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
