#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/packed.h"

static void a_count_must_fit_into_what_follows_it(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        bool fits;
    } rows[] = {
        { "", 0, true },
        { "\xc0", 1, true },
        { "\x93\x01\x02\x03", 4, true }, /* [1, 2, 3] */
        { "\x93\x01\x02", 3, false },    /* one is missing */
        { "\x81\xa1k\x01", 4, true },    /* {"k": 1} */
        { "\x81\xa1k", 3, true },        /* as many bytes as objects */
        { "\x82\x01\x02", 3, false },
        { "\xdd\xff\xff\xff\xff", 5, false },     /* array of 2^32 - 1 */
        { "\xdf\xff\xff\xff\xff\xc0", 6, false }, /* map of as many */
        { "\xdc\x00\x02\x01\x02", 5, true },
        { "\xc4\x02"
          "ab",
          4, true }, /* bytes */
        { "\xc4\x03"
          "ab",
          4, false },
        { "\xc6\xff\xff\xff\xff", 5, false },
        { "\xda\x00\x01"
          "a",
          4, true },              /* text, 16-bit length */
        { "\xda\x00", 2, false }, /* cut in its head */
        { "\xcb\x00\x00\x00\x00\x00\x00\x00\x00", 9, true }, /* a double */
        { "\xcb\x00\x00", 3, false },
        { "\xc7\x01\x05x", 4, true }, /* an extension of one byte */
        { "\xd8\x05", 2, false },     /* an extension of 16, without them */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(packed_counts_fit(rows[i].bytes, rows[i].len),
                         rows[i].fits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_count_must_fit_into_what_follows_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
