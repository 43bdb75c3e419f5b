#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "coordinator/words.h"

static void a_text_is_kept_once_and_clean(void **state)
{
    struct words *words = words_new();
    const char *kept = words_keep(words, "gpu1");
    char copy[] = "gpu1";

    (void)state;
    assert_string_equal(kept, "gpu1");
    assert_ptr_equal(words_keep(words, copy), kept);
    assert_string_equal(words_keep(words, "\033[31mgpu2"), "?[31mgpu2");
    assert_string_equal(words_keep(words, ""), "");
    words_free(words);
}

static void texts_stay_where_they_are_when_there_are_many(void **state)
{
    struct words *words = words_new();
    const char *first = words_keep(words, "0");
    char text[16];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof(text), "%d", i);
        assert_string_equal(words_keep(words, text), text);
    }
    assert_ptr_equal(words_keep(words, "0"), first);
    words_free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_kept_once_and_clean),
        cmocka_unit_test(texts_stay_where_they_are_when_there_are_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
