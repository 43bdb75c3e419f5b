#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "coordinator/text/string_pool.h"

static void a_text_is_kept_once_and_clean(void **state)
{
    struct string_pool *pool = string_pool_new();
    const char *kept = string_pool_keep(pool, "gpu1");
    char copy[] = "gpu1";

    (void)state;
    assert_string_equal(kept, "gpu1");
    assert_ptr_equal(string_pool_keep(pool, copy), kept);
    assert_string_equal(string_pool_keep(pool, "\033[31mgpu2"), "?[31mgpu2");
    assert_string_equal(string_pool_keep(pool, ""), "");
    string_pool_free(pool);
}

static void texts_stay_where_they_are_when_there_are_many(void **state)
{
    struct string_pool *pool = string_pool_new();
    const char *first = string_pool_keep(pool, "0");
    char text[16];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof(text), "%d", i);
        assert_string_equal(string_pool_keep(pool, text), text);
    }
    assert_ptr_equal(string_pool_keep(pool, "0"), first);
    string_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_kept_once_and_clean),
        cmocka_unit_test(texts_stay_where_they_are_when_there_are_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
