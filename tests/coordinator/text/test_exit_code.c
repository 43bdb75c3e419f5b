#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/text/exit_code.h"

static void errors(void **state)
{
    (void)state;
    assert_int_equal(exit_code_of(ERR_INPUT), 2);
    assert_int_equal(exit_code_of(ERR_NETWORK), 3);
    assert_int_equal(exit_code_of(ERR_PROTO), 3);
    assert_int_equal(exit_code_of(ERR_AUTH), 4);
    assert_int_equal(exit_code_of(ERR_HOST_KEY), 4);
    assert_int_equal(exit_code_of(ERR_STORE), 7);
    assert_int_equal(exit_code_of(ERR_SYSTEM), 1);
    assert_int_equal(exit_code_of(ERR_DEVICE), 1);
}

static void endings(void **state)
{
    (void)state;
    assert_int_equal(exit_code_of_signal(SIGINT), 130);
    assert_true(exit_code_is_signal(143));
    assert_false(exit_code_is_signal(EXIT_DATABASE));
    assert_true(exit_code_is_resumable(EXIT_PARTIAL));
    assert_true(exit_code_is_resumable(EXIT_CAP));
    assert_true(exit_code_is_resumable(130));
    assert_false(exit_code_is_resumable(EXIT_DONE));
    assert_false(exit_code_is_resumable(EXIT_DATABASE));
}

/* Each row of the first table begins with the codes and their meaning. */
static void page(void **state)
{
    FILE *file = fopen(FA_SOURCE_DIR "/docs/exit-codes.md", "r");
    char line[1024], want[256];
    size_t row = 0;

    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) && strncmp(line, "|---", 4) != 0)
        continue;
    while (fgets(line, sizeof(line), file) && line[0] == '|') {
        const struct exit_meaning *meaning = exit_code_meaning(row++);

        assert_non_null(meaning);
        snprintf(want, sizeof(want), "| %s | %s", meaning->codes,
                 meaning->text);
        if (strncmp(line, want, strlen(want)) != 0)
            fail_msg("docs/exit-codes.md has '%s', not '%s'", line, want);
    }
    fclose(file);
    assert_null(exit_code_meaning(row));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors),
        cmocka_unit_test(endings),
        cmocka_unit_test(page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
