#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/prune/prune_age.h"

static void an_age_is_a_number_and_a_unit(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds; /* -1: refused */
    } cases[] = {
        { "0d", 0 },
        { "90s", 90 },
        { "30min", 1800 },
        { "12h", 43200 },
        { "7d", 604800 },
        { "2w", 1209600 },
        { "7", -1 },
        { "d", -1 },
        { "", -1 },
        { "-7d", -1 },
        { "7 d", -1 },
        { "7days", -1 },
        { "1.5d", -1 },
        { "99999w", -1 },
        { "999999999999d", -1 },
        { "12345678901s", -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t got = -1;
        struct err err;
        int rc = prune_age_parse(cases[i].text, &got, &err);

        if (got != cases[i].seconds || (rc < 0) != (got < 0))
            fail_msg("%s: %lld", cases[i].text, (long long)got);
    }
}

static void a_refused_age_says_what_to_write(void **state)
{
    struct err err;
    int64_t got;

    (void)state;
    assert_int_equal(prune_age_parse("week", &got, &err), ERR_INPUT);
    assert_string_equal(err.text, "--older 'week': write a number of s, min, "
                                  "h, d or w, such as 7d");
}

static void ages_and_sizes_have_a_unit_that_fits(void **state)
{
    char text[PRUNE_AGE_BYTES];

    (void)state;
    assert_string_equal(prune_age_text(0, text), "0 s");
    assert_string_equal(prune_age_text(119, text), "119 s");
    assert_string_equal(prune_age_text(120, text), "2 min");
    assert_string_equal(prune_age_text(3 * 86400 + 5, text), "3 d");
    assert_string_equal(prune_age_size(0, text), "0 B");
    assert_string_equal(prune_age_size(1023, text), "1023 B");
    assert_string_equal(prune_age_size(1536, text), "1.5 KiB");
    assert_string_equal(prune_age_size(1048575, text), "1.0 MiB");
    assert_string_equal(prune_age_size(INT64_C(8) << 30, text), "8.0 GiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_age_is_a_number_and_a_unit),
        cmocka_unit_test(a_refused_age_says_what_to_write),
        cmocka_unit_test(ages_and_sizes_have_a_unit_that_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
