#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/print/paragraph.h"

static int narrow(void **state)
{
    (void)state;
    setenv("COLUMNS", "20", 1);
    setenv("NO_COLOR", "1", 1);
    return 0;
}

/* What was written into a file, which then is closed. */
static char *written(FILE *file, char *text, size_t size)
{
    size_t len;

    rewind(file);
    len = fread(text, 1, size - 1, file);
    text[len] = '\0';
    fclose(file);
    return text;
}

static void words_go_to_the_next_line(void **state)
{
    FILE *file = tmpfile();
    char text[256];

    (void)state;
    paragraph_print(file, 2, "%s words that need three lines to be shown",
                    "seven");
    assert_string_equal(written(file, text, sizeof(text)),
                        "seven words that\n"
                        "  need three lines\n"
                        "  to be shown\n");
}

static void a_long_word_stays_whole(void **state)
{
    FILE *file = tmpfile();
    char text[256];

    (void)state;
    paragraph_print(file, 2, "see /a/path/that/is/longer/than/a/line here");
    assert_string_equal(written(file, text, sizeof(text)),
                        "see\n"
                        "  /a/path/that/is/longer/than/a/line\n"
                        "  here\n");
}

static void line_feeds_stay(void **state)
{
    FILE *file = tmpfile();
    char text[256];

    (void)state;
    paragraph_print(file, 0, "one\n\ntwo\n");
    assert_string_equal(written(file, text, sizeof(text)), "one\n\ntwo\n");
}

static void nothing_is_an_empty_line(void **state)
{
    FILE *file = tmpfile();
    char text[256];

    (void)state;
    paragraph_print(file, 0, "%s", "");
    assert_string_equal(written(file, text, sizeof(text)), "\n");
}

static void letters_count_and_not_bytes(void **state)
{
    const char *next;
    const char *text = "\xc3\xa9\xc3\xa9\xc3\xa9 abc";

    (void)state;
    assert_int_equal(paragraph_line(text, 7, &next), strlen(text));
    assert_string_equal(next, "");
    assert_int_equal(paragraph_line(text, 6, &next), 6);
    assert_string_equal(next, "abc");
}

static void a_label_stands_beside_all_lines(void **state)
{
    FILE *file = tmpfile();
    char text[256];

    (void)state;
    paragraph_labelled(file, 6, "Cost", "about half a dollar in all");
    assert_string_equal(written(file, text, sizeof(text)),
                        "Cost  about half a\n"
                        "      dollar in all\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(words_go_to_the_next_line, narrow),
        cmocka_unit_test_setup(a_long_word_stays_whole, narrow),
        cmocka_unit_test_setup(line_feeds_stay, narrow),
        cmocka_unit_test_setup(nothing_is_an_empty_line, narrow),
        cmocka_unit_test_setup(letters_count_and_not_bytes, narrow),
        cmocka_unit_test_setup(a_label_stands_beside_all_lines, narrow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
