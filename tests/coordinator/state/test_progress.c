#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/clock.h"
#include "coordinator/state/progress.h"

static void a_line_says_what_is_done_and_what_is_left(void **state)
{
    const struct progress_facts facts = { .total = 48,
                                          .settled = 12,
                                          .correct = 10,
                                          .building = 3,
                                          .measuring = 1,
                                          .hosts_ready = 2,
                                          .hosts = 3,
                                          .usd = 0.0125 };
    char line[256];

    (void)state;
    progress_line(&facts, 65 * NS_PER_S, 0.5, line, sizeof(line));
    assert_string_equal(line, "12/48 measured  10 correct  2 failed  "
                              "3 building  1 measuring  2/3 hosts  $0.0125  "
                              "1:05, about 1:12 left");
}

static void an_unpriced_sweep_shows_no_dollars(void **state)
{
    const struct progress_facts facts = { .total = 2, .hosts = 1, .usd = NAN };
    char line[256];

    (void)state;
    progress_line(&facts, 3725 * NS_PER_S, 0, line, sizeof(line));
    assert_string_equal(line, "0/2 measured  0 correct  0 failed  0 building  "
                              "0 measuring  0/1 hosts  1:02:05");
}

static void builds_alone_are_counted_as_builds(void **state)
{
    const struct progress_facts facts = { .builds_only = true,
                                          .total = 48,
                                          .settled = 12,
                                          .correct = 10,
                                          .building = 3,
                                          .usd = NAN };
    char line[256];

    (void)state;
    progress_line(&facts, 12 * NS_PER_S, 1, line, sizeof(line));
    assert_string_equal(line, "10/48 built  2 failed  3 building  0:12, about "
                              "0:36 left");
}

static void a_line_has_its_bounds(void **state)
{
    struct progress_facts facts = { .builds_only = true, .total = 2 };
    char line[256];

    (void)state;
    facts.settled = facts.correct = 1;
    progress_line(&facts, 3599 * NS_PER_S, 0, line, sizeof(line));
    assert_string_equal(line, "1/2 built  0 failed  0 building  59:59");
    progress_line(&facts, 3600 * NS_PER_S, 0, line, sizeof(line));
    assert_string_equal(line, "1/2 built  0 failed  0 building  1:00:00");
    facts.settled = facts.correct = 2; /* so nothing is left */
    progress_line(&facts, NS_PER_S, 1, line, sizeof(line));
    assert_string_equal(line, "2/2 built  0 failed  0 building  0:01");
}

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
    const struct progress_facts facts = { .total = 2, .usd = NAN };
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
    struct progress_facts facts = { .total = 100, .settled = 50, .usd = NAN };
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
    assert_non_null(strstr(second, "0:02, about 0:08 left"));
    assert_ptr_equal(strstr(text, "left"), strstr(second, "left"));
    fclose(file);
}

/* What was written to a terminal of so many columns. */
static void watch(unsigned short columns, size_t lanes, char *text, size_t size)
{
    static const struct progress_lane lane = { "box", "L4", "" };
    struct progress_lane all[20];
    const struct progress_facts facts = {
        .total = 2, .usd = NAN, .lanes = all, .n_lanes = lanes
    };
    struct winsize window = { .ws_row = 24, .ws_col = columns };
    struct progress *progress;
    int far, near;
    ssize_t n = 1;

    for (size_t i = 0; i < 20; i++)
        all[i] = lane;
    all[0].text = "BLOCK=64";
    assert_int_equal(openpty(&far, &near, NULL, NULL, &window), 0);
    listen_with(near);
    progress = progress_new(false);
    progress_show(progress, &facts, 5, false);
    progress_show(progress, &facts, 5 + 200 * NS_PER_MS - 1, false);
    progress_show(progress, &facts, 5 + 200 * NS_PER_MS, false);
    progress_say(progress, "a line");
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

static void a_terminal_has_a_line_and_a_lane_for_each_gpu(void **state)
{
    char text[8192];

    (void)state;
    watch(40, 2, text, sizeof(text));
    assert_string_equal(text, "0/2 measured  0 correct  0 failed  0 bu\r\n"
                              "  box                          L4      \r\n"
                              "  box                          L4      \r\n"
                              "\r\033[3A\033[Ja line\r\n"
                              "0/2 measured  0 correct  0 failed  0 bu\r\n");
    watch(60, 1, text, sizeof(text));
    assert_non_null(strstr(text, "  box                          L4           "
                                 "BLOCK=64\r\n"));
    watch(60, 2, text, sizeof(text));
    assert_non_null(
        strstr(text, "  box                          L4           -\r\n"));
    watch(60, 20, text, sizeof(text)); /* 16 of them */
    assert_int_equal(lines_in(text), 1 + 16 + 1 + 1);
    assert_non_null(strstr(text, "\033[17A"));
}

/* A terminal that does not know its width has 80 columns. */
static void the_narrowest_terminal_has_two_columns(void **state)
{
    char text[8192];

    (void)state;
    watch(2, 0, text, sizeof(text));
    assert_string_equal(text, "0\r\n\r\033[1A\033[Ja line\r\n0\r\n");
    watch(1, 0, text, sizeof(text));
    assert_non_null(strstr(text, "0 building  0 measuring  0/0 hosts  0:00"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_alone_are_counted_as_builds),
        cmocka_unit_test(a_line_says_what_is_done_and_what_is_left),
        cmocka_unit_test(an_unpriced_sweep_shows_no_dollars),
        cmocka_unit_test(a_line_has_its_bounds),
        cmocka_unit_test(without_a_terminal_a_line_comes_every_ten_seconds),
        cmocka_unit_test(what_is_left_is_told_after_a_second),
        cmocka_unit_test(a_terminal_has_a_line_and_a_lane_for_each_gpu),
        cmocka_unit_test(the_narrowest_terminal_has_two_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
