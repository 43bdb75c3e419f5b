/* Words that a shell reads back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>

#include <cmocka.h>

#include "coordinator/text/shell_word.h"

static void only_what_needs_it_is_quoted(void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        { "sweep.db", "sweep.db" },
        { "/a/b-c_1.h200.db", "/a/b-c_1.h200.db" },
        { "gpu1:22", "gpu1:22" },
        { "", "''" },
        { "my sweep.db", "'my sweep.db'" },
        { "it's.db", "'it'\\''s.db'" },
        { "$(x).db", "'$(x).db'" },
        { "~/a", "'~/a'" },
        { "a&b", "'a&b'" },
        { "\xc3\xb1.db", "'\xc3\xb1.db'" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *word = shell_word(cases[i].text);

        assert_string_equal(word, cases[i].word);
        free(word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_needs_it_is_quoted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
