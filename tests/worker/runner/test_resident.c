/* test_resident.c - how many copies of its inputs a rotation needs */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "worker/runner/resident.h"

#define MIB ((size_t)1 << 20)

/* Flash attention at s512 on an H200: 48 MiB of q, k and v, 60 MiB of L2. */
static void copies_are_larger_than_the_cache(void **state)
{
    (void)state;
    assert_int_equal(resident_copies(48 * MIB, 60 * MIB), 2);
    assert_int_equal(resident_copies(60 * MIB, 60 * MIB), 1);
    assert_int_equal(resident_copies(200 * MIB, 60 * MIB), 1);
    assert_int_equal(resident_copies(1 * MIB, 60 * MIB), 60);
    assert_int_equal(resident_copies(4096, 0), 1);
}

static void small_inputs_and_none_are_not_rotated(void **state)
{
    (void)state;
    assert_int_equal(resident_copies(MIB / 2, 60 * MIB), 0);
    assert_int_equal(resident_copies(0, 60 * MIB), 0);
    assert_int_equal(resident_copies(0, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_larger_than_the_cache),
        cmocka_unit_test(small_inputs_and_none_are_not_rotated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
