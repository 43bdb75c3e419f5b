#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/nonce.h"

static void the_time_comes_first_so_later_ones_sort_after(void **state)
{
    char early[HASH_HEX], late[HASH_HEX];

    (void)state;
    nonce_draw(INT64_C(0x0123456789ab) * NS_PER_MS, early);
    nonce_draw(INT64_C(0x0123456789ac) * NS_PER_MS, late);
    assert_true(hash_is_hex(early));
    assert_memory_equal(early, "0123456789ab", 12);
    assert_memory_equal(late, "0123456789ac", 12);
    assert_true(strcmp(early, late) < 0);
}

static void two_of_one_moment_differ(void **state)
{
    char one[HASH_HEX], other[HASH_HEX];

    (void)state;
    nonce_draw(7, one);
    nonce_draw(7, other);
    assert_memory_equal(one, "000000000000", 12);
    assert_string_not_equal(one + 12, other + 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_time_comes_first_so_later_ones_sort_after),
        cmocka_unit_test(two_of_one_moment_differ),
    };
    struct err err;

    if (hash_setup(&err) < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
