#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/hash.h"
#include "coordinator/sql/checksum.h"

/* What databases hold: it must stay as it is. */
static const struct {
    struct sql_value values[2];
    size_t n;
    const char *sum;
} rows[] = {
    { .n = 0, .sum = "cae66941d9efbd404e4d88758ea67670" },
    { { { .type = 'I', .integer = 1 } },
      1,
      "b2d1cf15cb70a75813ab7a6c561ba4fe" },
    { { { .type = 'I', .integer = 1 }, { .type = 'I', .integer = -256 } },
      2,
      "a14761b28ebe1447bffd4443ebbf0048" },
    { { { .type = 'd', .real = 0.5 } }, 1, "bb8983ffca08243c0bfa11554b9e9714" },
    { { { .type = 't', .text = "ab", .len = 2 } },
      1,
      "577add2b0ef708e8693539b2db29e3af" },
    { { { .type = 't', .text = "a", .len = 1 },
        { .type = 't', .text = "b", .len = 1 } },
      2,
      "0592a20a62cbe97ebdbe6416b38b18e8" },
    { { { .type = 'n' } }, 1, "4ee3fdf7a7a38af04951408152eaad1f" },
};

static void each_row_has_the_sum_that_it_always_had(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(hash_setup(&err), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char sum[HASH_HEX];

        checksum_row(rows[i].values, rows[i].n, sum);
        assert_string_equal(sum, rows[i].sum);
    }
}

/* Around the size of what is hashed at once. */
static void a_long_text_is_hashed_whole(void **state)
{
    static char text[3000];

    (void)state;
    memset(text, 'x', sizeof(text));
    for (size_t len = 0; len <= sizeof(text); len += 1 + len / 500) {
        const struct sql_value row[] = {
            { .type = 'I', .integer = 7 },
            { .type = 't', .text = text, .len = len },
            { .type = 't', .text = "ab", .len = 2 },
        };
        const unsigned char before[] = { 'I', 7, 0, 0, 0, 0, 0, 0, 0, 't' };
        const unsigned char after[] = { 't', 2, 0, 0, 0, 0, 0, 0, 0, 'a', 'b' };
        char sum[HASH_HEX], expected[HASH_HEX];
        struct hash hash;

        hash_init(&hash);
        hash_add(&hash, before, sizeof(before));
        hash_field(&hash, text, len);
        hash_add(&hash, after, sizeof(after));
        hash_end(&hash, expected);
        checksum_row(row, 3, sum);
        assert_string_equal(sum, expected);
    }
}

static void the_short_sum_is_its_first_bytes(void **state)
{
    (void)state;
    assert_int_equal(checksum_short(rows[0].values, rows[0].n),
                     (int64_t)0x40bdefd94169e6ca);
    assert_int_equal(checksum_short(rows[1].values, rows[1].n),
                     (int64_t)0x58a770cb15cfd1b2);
}

static void the_sign_of_a_zero_is_not_kept(void **state)
{
    const struct sql_value plus = { .type = 'd', .real = 0.0 };
    const struct sql_value minus = { .type = 'd', .real = -0.0 };
    char a[HASH_HEX], b[HASH_HEX];

    (void)state;
    checksum_row(&plus, 1, a);
    checksum_row(&minus, 1, b);
    assert_string_equal(a, b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_has_the_sum_that_it_always_had),
        cmocka_unit_test(a_long_text_is_hashed_whole),
        cmocka_unit_test(the_short_sum_is_its_first_bytes),
        cmocka_unit_test(the_sign_of_a_zero_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
