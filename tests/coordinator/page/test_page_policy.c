#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/page/page_policy.h"

/* SHA-256 of "abc" and of "", FIPS 180-4. */
#define ABC "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='"
#define EMPTY "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"

static const struct page_policy_text empty = { { "" } };

static void a_policy_allows_scripts_and_style_by_their_hashes(void **state)
{
    const struct page_policy_text scripts[] = { { { "abc" } }, { { "" } } };
    char *policy = page_policy(scripts, 2, &scripts[0], false);

    (void)state;
    assert_string_equal(policy, "default-src 'none'; base-uri 'none'; "
                                "form-action 'none'; style-src " ABC
                                "; script-src " ABC " " EMPTY);
    free(policy);
}

static void the_parts_of_a_text_are_hashed_as_one(void **state)
{
    const struct page_policy_text parts = { { "a", "", "b", "c" } };
    char *policy = page_policy(&parts, 1, &empty, false);

    (void)state;
    assert_non_null(strstr(policy, "script-src " ABC));
    free(policy);
}

static void scripts_of_a_live_page_may_ask_its_server(void **state)
{
    char *policy = page_policy(&empty, 1, &empty, true);

    (void)state;
    assert_non_null(
        strstr(policy, "; script-src " EMPTY "; connect-src 'self'"));
    free(policy);
}

static void without_scripts_none_is_allowed(void **state)
{
    char *policy = page_policy(NULL, 0, &empty, true);

    (void)state;
    assert_null(strstr(policy, "script-src"));
    assert_null(strstr(policy, "connect-src"));
    assert_non_null(strstr(policy, "default-src 'none'"));
    free(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_allows_scripts_and_style_by_their_hashes),
        cmocka_unit_test(the_parts_of_a_text_are_hashed_as_one),
        cmocka_unit_test(scripts_of_a_live_page_may_ask_its_server),
        cmocka_unit_test(without_scripts_none_is_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
