#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/print/table.h"

static int no_colours(void **state)
{
    (void)state;
    setenv("NO_COLOR", "1", 1);
    return 0;
}

/* Prints the table into 'text', as on a screen of so many columns, and frees
 * it. */
static char *printed(struct table *table, const char *columns, char *text,
                     size_t size)
{
    FILE *file = tmpfile();
    size_t len;

    setenv("COLUMNS", columns, 1);
    table_print(table, file);
    table_free(table);
    rewind(file);
    len = fread(text, 1, size - 1, file);
    text[len] = '\0';
    fclose(file);
    return text;
}

static struct table *times(void)
{
    struct table *table = table_new();

    table_column(table, 'r', "rank");
    table_column(table, 'r', "time us");
    table_column(table, 'r', "ratio");
    table_column(table, 'l', "key");
    table_cell(table, "1");
    table_number(table, 3, 1.5);
    table_number(table, 1, 2);
    table_cell(table, "0a1b2c3d");
    table_cell(table, "10");
    table_number(table, 3, (double)NAN);
    table_number(table, 1, 1);
    table_cell(table, "ff00ff00");
    return table;
}

static void columns_are_as_wide_as_their_contents(void **state)
{
    char text[512];

    (void)state;
    assert_string_equal(printed(times(), "80", text, sizeof(text)),
                        "rank  time us  ratio  key\n"
                        "   1    1.500    2.0  0a1b2c3d\n"
                        "  10        -    1.0  ff00ff00\n");
}

static void a_table_that_just_fits_is_whole(void **state)
{
    char text[512];

    (void)state;
    assert_string_equal(printed(times(), "30", text, sizeof(text)),
                        "rank  time us  ratio  key\n"
                        "   1    1.500    2.0  0a1b2c3d\n"
                        "  10        -    1.0  ff00ff00\n");
}

static void a_wide_table_is_printed_in_parts(void **state)
{
    char text[512];

    (void)state;
    assert_string_equal(printed(times(), "29", text, sizeof(text)),
                        "rank  time us  ratio\n"
                        "   1    1.500    2.0\n"
                        "  10        -    1.0\n"
                        "\n"
                        "rank  key\n"
                        "   1  0a1b2c3d\n"
                        "  10  ff00ff00\n");
}

static void text_at_the_end_gets_several_lines(void **state)
{
    struct table *table = table_new();
    char text[512];

    (void)state;
    table_column(table, 'l', "gate");
    table_column(table, 'l', "why");
    table_cell(table, "smem");
    table_cell(table, "the tiles of K and V do not fit into shared memory");
    table_cell(table, "short");
    table_cell(table, "too short");
    assert_string_equal(printed(table, "34", text, sizeof(text)),
                        "gate   why\n"
                        "smem   the tiles of K and V do not\n"
                        "       fit into shared memory\n"
                        "short  too short\n");
}

static void a_column_that_fits_nowhere_is_still_printed(void **state)
{
    struct table *table = table_new();
    char text[512];

    (void)state;
    table_column(table, 'r', "n");
    table_column(table, 'r', "a number that is very wide");
    table_cell(table, "1");
    table_cell(table, "2");
    assert_string_equal(printed(table, "20", text, sizeof(text)),
                        "n\n"
                        "1\n"
                        "\n"
                        "n  a number that is very wide\n"
                        "1                           2\n");
}

static struct table *narrow_at_the_end(void)
{
    struct table *table = table_new();

    table_column(table, 'l', "received");
    table_column(table, 'l', "gpu");
    table_column(table, 'r', "n");
    table_cell(table, "2026-11-29");
    table_cell(table, "GPU-402");
    table_cell(table, "5");
    return table;
}

static void a_column_of_one_character_is_not_beyond_the_screen(void **state)
{
    char text[512];

    (void)state;
    assert_string_equal(printed(narrow_at_the_end(), "22", text, sizeof(text)),
                        "received    gpu      n\n2026-11-29  GPU-402  5\n");
    for (int columns = 20; columns <= 21; columns++)
        assert_string_equal(printed(narrow_at_the_end(),
                                    columns == 20 ? "20" : "21", text,
                                    sizeof(text)),
                            "received    gpu\n2026-11-29  GPU-402\n\n"
                            "received    n\n2026-11-29  5\n");
}

static void styles_do_not_count_as_width(void **state)
{
    struct table *table = table_new();
    char text[512];

    (void)state;
    unsetenv("NO_COLOR");
    setenv("CLICOLOR_FORCE", "1", 1);
    table_column(table, 'l', "verdict");
    table_column(table, 'r', "n");
    table_cell(table, "FAST");
    table_style(table, SCREEN_GOOD);
    table_cell(table, "1");
    assert_string_equal(printed(table, "80", text, sizeof(text)),
                        "\033[1mverdict\033[0m  \033[1mn\033[0m\n"
                        "\033[32mFAST\033[0m     1\n");
    unsetenv("CLICOLOR_FORCE");
}

static void empty_columns_can_be_left_out(void **state)
{
    struct table *table = table_new();
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    (void)state;
    table_column(table, 'l', "first");
    table_column(table, 'r', "none");
    table_column(table, 'r', "some");
    table_cell(table, "%s", "");
    table_cell(table, "%s", "");
    table_cell(table, "%s", "");
    table_cell(table, "%s", "");
    table_cell(table, "%s", "");
    table_cell(table, "%d", 7);
    table_drop_empty(table);
    table_csv(table, to);
    fclose(to);
    assert_string_equal(text, "first,some\n,\n,7\n");
    free(text);
    table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_of_one_character_is_not_beyond_the_screen),
        cmocka_unit_test(empty_columns_can_be_left_out),
        cmocka_unit_test_setup(columns_are_as_wide_as_their_contents,
                               no_colours),
        cmocka_unit_test_setup(a_table_that_just_fits_is_whole, no_colours),
        cmocka_unit_test_setup(a_wide_table_is_printed_in_parts, no_colours),
        cmocka_unit_test_setup(text_at_the_end_gets_several_lines, no_colours),
        cmocka_unit_test_setup(a_column_that_fits_nowhere_is_still_printed,
                               no_colours),
        cmocka_unit_test_setup(styles_do_not_count_as_width, no_colours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
