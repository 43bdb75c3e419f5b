#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/text/terminal.h"

static void control_characters_become_question_marks(void **state)
{
    static const struct {
        const char *from, *to;
    } rows[] = {
        { "\033]0;owned\a", "?]0;owned?" },
        { "a\tb\rc\nd", "a b?c?d" },
        { "\x7f", "?" },
        { "\xc2\x9b"
          "31m",
          "?31m" },                       /* C1 CSI */
        { "\xff\xfe ok", "?? ok" },       /* not UTF-8 */
        { "\xc0\x9b", "??" },             /* overlong */
        { "\xed\xa0\x80", "???" },        /* surrogate */
        { "caf\xc3\xa9", "caf\xc3\xa9" }, /* UTF-8 stays */
        { "cut \xe2\x82", "cut ??" },
    };
    char text[32];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(text, sizeof(text), "%s", rows[i].from);
        assert_string_equal(terminal_clean(text, false), rows[i].to);
    }
}

/* Eight bytes are looked at together: each byte in each place among them. */
static void each_byte_is_seen_in_each_place(void **state)
{
    (void)state;
    for (int byte = 1; byte < 256; byte++)
        for (size_t place = 0; place < 17; place++) {
            char text[18] = "~~~~~~~~        ", want[18];

            text[place] = (char)byte;
            if (place == 16)
                text[17] = '\0';
            memcpy(want, text, sizeof(want));
            if (byte == '\t')
                want[place] = ' ';
            else if (byte < 0x20 || byte >= 0x7f)
                want[place] = '?';
            assert_string_equal(terminal_clean(text, false), want);
        }
}

static void line_feeds_stay_if_allowed(void **state)
{
    char text[] = "a\nb\033";

    (void)state;
    assert_string_equal(terminal_clean(text, true), "a\nb?");
}

static void width_counts_characters(void **state)
{
    (void)state;
    assert_int_equal(terminal_width("caf\xc3\xa9"), 4);
}

static void a_reader_that_has_gone_is_no_error(void **state)
{
    int fds[2];
    struct err err;
    FILE *to;

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    to = fdopen(fds[1], "w");
    fputs("hello", to);
    assert_int_equal(terminal_flush(to, &err), 0);
    fclose(to);
}

static void a_full_disk_is_an_error(void **state)
{
    FILE *to = fopen("/dev/full", "w");
    struct err err;

    (void)state;
    fputs("hello", to);
    assert_int_equal(terminal_flush(to, &err), ERR_SYSTEM);
    assert_string_equal(err.text, "output: No space left on device");
    fclose(to);
}

/* stdio keeps that something failed, and not why.  Nothing is left to flush
 * then. */
static int flush_after_failure(const char *path, int fd)
{
    FILE *to = path ? fopen(path, "w") : fdopen(fd, "w");
    struct err err;
    int rc;

    setvbuf(to, NULL, _IONBF, 0);
    fputs("hello", to);
    assert_true(ferror(to));
    rc = terminal_flush(to, &err);
    fclose(to);
    return rc;
}

static void what_an_earlier_call_met_is_an_error_too(void **state)
{
    (void)state;
    assert_int_equal(flush_after_failure("/dev/full", -1), ERR_SYSTEM);
}

static void what_an_earlier_call_met_is_none_without_a_reader(void **state)
{
    int fds[2];

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    assert_int_equal(flush_after_failure(NULL, fds[1]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_become_question_marks),
        cmocka_unit_test(each_byte_is_seen_in_each_place),
        cmocka_unit_test(line_feeds_stay_if_allowed),
        cmocka_unit_test(width_counts_characters),
        cmocka_unit_test(a_reader_that_has_gone_is_no_error),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(what_an_earlier_call_met_is_an_error_too),
        cmocka_unit_test(what_an_earlier_call_met_is_none_without_a_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
