#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/clock.h"
#include "coordinator/live/progress.h"

/* Standard error is this descriptor until the text of it is read. */
static int stderr_before;

static void listen_with(int fd)
{
    fflush(stderr);
    stderr_before = dup(STDERR_FILENO);
    assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
}

static void listen_no_more(void)
{
    fflush(stderr);
    assert_int_equal(dup2(stderr_before, STDERR_FILENO), STDERR_FILENO);
    close(stderr_before);
}

static int lines_in(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* So many lines were written to a file since it was opened. */
static int lines_so_far(int fd)
{
    char text[4096];
    ssize_t n;

    fflush(stderr);
    n = pread(fd, text, sizeof(text) - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    return lines_in(text);
}

static void without_a_terminal_a_line_comes_every_ten_seconds(void **state)
{
    static const struct {
        int64_t at_ns;
        bool force;
        int lines; /* so far */
    } rows[] = { { 0, false, 0 },
                 { 10 * NS_PER_S - 1, false, 0 },
                 { 10 * NS_PER_S, false, 1 },
                 { 19 * NS_PER_S, false, 1 },
                 { 19 * NS_PER_S, true, 2 },
                 { 28 * NS_PER_S, false, 2 },
                 { 29 * NS_PER_S, false, 3 } };
    const struct progress_facts facts = { .total = 2, .best.s = NAN };
    FILE *file = tmpfile();
    struct progress *progress, *quiet;

    (void)state;
    listen_with(fileno(file));
    progress = progress_new(false);
    quiet = progress_new(true);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        progress_show(progress, &facts, 5 + rows[i].at_ns, rows[i].force);
        progress_show(quiet, &facts, 5 + rows[i].at_ns, rows[i].force);
        progress_say(quiet, "nothing");
        if (lines_so_far(fileno(file)) != rows[i].lines)
            break;
        if (rows[i].lines == 3)
            progress_say(progress, "a line");
    }
    progress_free(progress);
    progress_free(quiet);
    progress_free(NULL);
    listen_no_more();
    assert_int_equal(lines_so_far(fileno(file)), 4);
    fclose(file);
}

/* The rate is of this run, once it has lasted more than a second. */
static void what_is_left_is_told_after_a_second(void **state)
{
    struct progress_facts facts = {
        .total = 100, .settled = 50, .best.s = NAN, .money.usd = NAN
    };
    char text[4096];
    FILE *file = tmpfile();
    struct progress *progress;
    const char *second;
    ssize_t n;

    (void)state;
    listen_with(fileno(file));
    progress = progress_new(false);
    progress_show(progress, &facts, 5, false);
    facts.settled = 60;
    progress_show(progress, &facts, 5 + NS_PER_S, true);
    progress_show(progress, &facts, 5 + 2 * NS_PER_S, true);
    progress_free(progress);
    listen_no_more();
    n = pread(fileno(file), text, sizeof(text) - 1, 0);
    assert_true(n > 0);
    text[n] = '\0';
    second = strchr(text, '\n') + 1;
    assert_non_null(strstr(second, "  2 s, 4-13 s left"));
    assert_ptr_equal(strstr(text, "left"), strstr(second, "left"));
    fclose(file);
}

/* The last line of a sweep over 100 configurations whose first result came
 * after 90 s, and 20 more in 10 s; a cap ends it after 'cap_s'. */
static const char *after_a_boot(double cap_s, char *text, size_t size)
{
    struct progress_facts facts = {
        .total = 100, .cap_s = cap_s, .best.s = NAN, .money.usd = NAN
    };
    FILE *file = tmpfile();
    struct progress *progress;
    ssize_t n;

    listen_with(fileno(file));
    progress = progress_new(false);
    progress_show(progress, &facts, 5, false);
    facts.settled = 1;
    progress_show(progress, &facts, 5 + 90 * NS_PER_S, false);
    facts.settled = 21;
    progress_show(progress, &facts, 5 + 100 * NS_PER_S, true);
    progress_free(progress);
    listen_no_more();
    n = pread(fileno(file), text, size - 1, 0);
    assert_true(n > 0);
    text[n - 1] = '\0'; /* in place of the last line feed */
    fclose(file);
    return strrchr(text, '\n') + 1;
}

static void the_time_until_hosts_are_there_does_not_come_again(void **state)
{
    char text[4096];

    (void)state;
    assert_non_null(strstr(after_a_boot(0, text, sizeof(text)),
                           "  1 min 40 s, 27-57 s left"));
    assert_non_null(strstr(after_a_boot(60, text, sizeof(text)),
                           "  1 min 40 s, 27-57 s left"));
    assert_non_null(strstr(after_a_boot(25, text, sizeof(text)),
                           "  1 min 40 s, about 25 s left"));
}

/* A new best is told after 2 s, and looked for once a second. */
static void a_new_best_is_told_sooner(void **state)
{
    struct progress_facts facts = { .total = 2, .best.s = NAN };
    FILE *file = tmpfile();
    struct progress *progress;
    bool wants[3];
    int lines[4];

    (void)state;
    listen_with(fileno(file));
    progress = progress_new(false);
    progress_show(progress, &facts, 5, false);
    progress_show(progress, &facts, 5 + 3 * NS_PER_S, false);
    lines[0] = lines_so_far(fileno(file));
    facts.best.s = 1;
    wants[0] = progress_wants(progress, 5 + 2 * NS_PER_S - 1, false);
    wants[1] = progress_wants(progress, 5 + 3 * NS_PER_S, false);
    wants[2] = progress_wants(progress, 6 + 3 * NS_PER_S, false);
    progress_show(progress, &facts, 5 + 2 * NS_PER_S - 1, false);
    lines[1] = lines_so_far(fileno(file));
    progress_show(progress, &facts, 5 + 3 * NS_PER_S, false);
    lines[2] = lines_so_far(fileno(file));
    progress_show(progress, &facts, 5 + 6 * NS_PER_S, false);
    lines[3] = lines_so_far(fileno(file));
    progress_free(progress);
    listen_no_more();
    assert_false(wants[0]);
    assert_true(wants[1]);
    assert_false(wants[2]);
    for (int i = 0; i < 4; i++)
        assert_int_equal(lines[i], i / 2);
    fclose(file);
}

/* What was written to a terminal of 30 columns. */
static void watch(const char *term, char *text, size_t size)
{
    static const struct progress_lane lane = {
        .host = "box", .state = PROGRESS_LANE_LOST, .key = "", .text = ""
    };
    const struct progress_facts facts = { .name = "x",
                                          .kind = PROGRESS_MEASURED,
                                          .total = 2,
                                          .hosts = 1,
                                          .left_s = { NAN, NAN, NAN },
                                          .best.s = NAN,
                                          .money.usd = NAN,
                                          .lanes = &lane,
                                          .n_lanes = 1 };
    struct winsize window = { .ws_row = 24, .ws_col = 30 };
    struct progress *progress;
    int far, near;
    ssize_t n = 1;

    assert_int_equal(setenv("TERM", term, 1), 0);
    assert_int_equal(openpty(&far, &near, NULL, NULL, &window), 0);
    listen_with(near);
    progress = progress_new(false);
    progress_show(progress, &facts, 5, false);
    progress_show(progress, &facts, 5 + 200 * NS_PER_MS - 1, false);
    progress_show(progress, &facts, 5 + 200 * NS_PER_MS, false);
    progress_say(progress, "a line");
    progress_show(progress, &facts, 5 + 800 * NS_PER_MS, false);
    progress_free(progress);
    listen_no_more();
    close(near);
    *text = '\0';
    for (size_t at = 0; n > 0; at += (size_t)(n > 0 ? n : 0)) {
        n = read(far, text + at, size - at - 1);
        text[at + (size_t)(n > 0 ? n : 0)] = '\0';
    }
    close(far);
}

#define FRAME                                                   \
    "\033[1mx\033[0m  [--------]\r\n  0 of 2 measured, 0 %\r\n" \
    "0 building, 0 measuring\r\n  0 of 1 host ready\r\n"

static void a_terminal_shows_lines_that_change_in_place(void **state)
{
    char text[8192];

    (void)state;
    watch("xterm", text, sizeof(text));
    assert_string_equal(text, FRAME "0 s; unpriced\r\n"
                                    "  box  GPU 0   \033[31mlost\033[0m\r\n"
                                    "\r\033[6A\r\033[Ja line\r\n" FRAME
                                    "0 s; unpriced\r\n"
                                    "  box  GPU 0   \033[31mlost\033[0m\r\n"
                                    "\r\033[2A1 s; unpriced\r\n\r\n"
                                    "\r\033[1A\r\033[J");
}

static void a_terminal_that_cannot_gets_plain_lines(void **state)
{
    char text[8192];

    (void)state;
    watch("dumb", text, sizeof(text));
    assert_null(strchr(text, '\033'));
    assert_string_equal(text + strlen("2026-01-02T03:04:05Z"), " a line\r\n");
    assert_int_equal(setenv("NO_COLOR", "1", 1), 0);
    watch("xterm", text, sizeof(text));
    assert_null(strchr(text, '\033'));
    assert_int_equal(lines_in(text), 1);
    assert_int_equal(unsetenv("NO_COLOR"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_terminal_a_line_comes_every_ten_seconds),
        cmocka_unit_test(what_is_left_is_told_after_a_second),
        cmocka_unit_test(the_time_until_hosts_are_there_does_not_come_again),
        cmocka_unit_test(a_new_best_is_told_sooner),
        cmocka_unit_test(a_terminal_shows_lines_that_change_in_place),
        cmocka_unit_test(a_terminal_that_cannot_gets_plain_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
