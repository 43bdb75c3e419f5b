#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "coordinator/print/screen.h"

static int plain_environment(void **state)
{
    (void)state;
    unsetenv("COLUMNS");
    unsetenv("NO_COLOR");
    unsetenv("CLICOLOR_FORCE");
    setenv("TERM", "xterm", 1);
    return 0;
}

/* A terminal of so many columns; its other end in 'master'. */
static FILE *terminal(unsigned short columns, int *master)
{
    struct winsize size = { .ws_row = 25, .ws_col = columns };
    int slave;

    assert_int_equal(openpty(master, &slave, NULL, NULL, &size), 0);
    return fdopen(slave, "w");
}

static void a_terminal_is_as_wide_as_it_says(void **state)
{
    int master;
    FILE *to = terminal(132, &master);

    (void)state;
    assert_int_equal(screen_columns(to), 132);
    fclose(to);
    close(master);
}

static void a_narrow_terminal_has_a_least_width(void **state)
{
    int master;
    FILE *to = terminal(3, &master);

    (void)state;
    assert_int_equal(screen_columns(to), SCREEN_COLUMNS_LEAST);
    fclose(to);
    close(master);
}

static void a_terminal_without_a_size_counts_as_80(void **state)
{
    int master;
    FILE *to = terminal(0, &master);

    (void)state;
    assert_int_equal(screen_columns(to), 80);
    fclose(to);
    close(master);
}

static void a_file_has_80_columns_and_memory_any(void **state)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = tmpfile(), *memory = open_memstream(&text, &len);

    (void)state;
    assert_int_equal(screen_columns(file), 80);
    assert_int_equal(screen_columns(memory), SCREEN_COLUMNS_ANY);
    fclose(file);
    fclose(memory);
    free(text);
}

static void columns_overrules_both(void **state)
{
    static const struct {
        const char *value;
        size_t columns;
    } cases[] = {
        { "200", 200 },
        { "1", SCREEN_COLUMNS_LEAST },
        { "0", 80 },
        { "-5", 80 },
        { "wide", 80 },
        { "", 80 },
        { "99999999999999999999", SCREEN_COLUMNS_ANY },
    };
    FILE *file = tmpfile();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        setenv("COLUMNS", cases[i].value, 1);
        assert_int_equal(screen_columns(file), cases[i].columns);
    }
    fclose(file);
}

static void colours_are_for_terminals(void **state)
{
    int master;
    FILE *to = terminal(80, &master), *file = tmpfile();

    (void)state;
    assert_true(screen_has_colours(to));
    assert_false(screen_has_colours(file));
    setenv("TERM", "dumb", 1);
    assert_false(screen_has_colours(to));
    unsetenv("TERM");
    assert_false(screen_has_colours(to));
    setenv("CLICOLOR_FORCE", "0", 1);
    assert_false(screen_has_colours(file));
    setenv("CLICOLOR_FORCE", "1", 1);
    assert_true(screen_has_colours(file));
    setenv("NO_COLOR", "1", 1);
    assert_false(screen_has_colours(to));
    assert_false(screen_has_colours(file));
    fclose(to);
    fclose(file);
    close(master);
}

/* What a style makes of the text "ok". */
/* COLUMNS is for text that is printed once. */
static void the_size_of_a_terminal_is_the_one_it_has_now(void **state)
{
    int master;
    FILE *to = terminal(132, &master), *file = tmpfile();
    struct winsize size = { .ws_row = 10, .ws_col = 7 };
    size_t columns, rows;

    (void)state;
    setenv("COLUMNS", "50", 1);
    assert_true(screen_size(to, &columns, &rows));
    assert_int_equal(columns, 132);
    assert_int_equal(rows, 25);
    assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
    assert_true(screen_size(to, &columns, &rows));
    assert_int_equal(columns, 7);
    assert_int_equal(rows, 10);
    assert_false(screen_size(file, &columns, &rows));
    assert_int_equal(columns, 80);
    assert_int_equal(rows, 24);
    unsetenv("COLUMNS");
    fclose(to);
    fclose(file);
    close(master);
}

static void lines_change_in_place_on_terminals_that_can(void **state)
{
    int master;
    FILE *to = terminal(80, &master), *file = tmpfile();

    (void)state;
    setenv("CLICOLOR_FORCE", "1", 1);
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    assert_true(screen_is_live(to));
    assert_false(screen_is_live(file));
    setenv("TERM", "dumb", 1);
    assert_false(screen_is_live(to));
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    assert_false(screen_is_live(to));
    unsetenv("NO_COLOR");
    unsetenv("CLICOLOR_FORCE");
    fclose(to);
    fclose(file);
    close(master);
}

static void assert_printed(enum screen_style style, const char *expected)
{
    FILE *file = tmpfile();
    char text[64] = "";
    size_t len;

    screen_put(file, style, "ok");
    rewind(file);
    len = fread(text, 1, sizeof(text) - 1, file);
    text[len] = '\0';
    assert_string_equal(text, expected);
    fclose(file);
}

static void styles_are_escapes_only_where_there_are_colours(void **state)
{
    (void)state;
    assert_printed(SCREEN_GOOD, "ok");
    setenv("CLICOLOR_FORCE", "1", 1);
    assert_printed(SCREEN_GOOD, "\033[32mok\033[0m");
    assert_printed(SCREEN_PLAIN, "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_terminal_is_as_wide_as_it_says,
                               plain_environment),
        cmocka_unit_test_setup(a_narrow_terminal_has_a_least_width,
                               plain_environment),
        cmocka_unit_test_setup(a_terminal_without_a_size_counts_as_80,
                               plain_environment),
        cmocka_unit_test_setup(a_file_has_80_columns_and_memory_any,
                               plain_environment),
        cmocka_unit_test_setup(columns_overrules_both, plain_environment),
        cmocka_unit_test_setup(colours_are_for_terminals, plain_environment),
        cmocka_unit_test_setup(the_size_of_a_terminal_is_the_one_it_has_now,
                               plain_environment),
        cmocka_unit_test_setup(lines_change_in_place_on_terminals_that_can,
                               plain_environment),
        cmocka_unit_test_setup(styles_are_escapes_only_where_there_are_colours,
                               plain_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
