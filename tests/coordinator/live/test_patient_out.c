#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "coordinator/live/patient_out.h"

enum {
    LINES = 4000,
    LINE = 32
};

static char written[LINES * LINE], taken[LINES * LINE];
static char much[PATIENT_OUT_KEPT];
static int ends[2]; /* what is read, and what is written */

static void make_pipe(void)
{
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
}

static void close_ends(void)
{
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(close(ends[1]), 0);
}

/* All that is there now, behind the first 'n' bytes. */
static size_t take(size_t n)
{
    ssize_t more;

    while ((more = read(ends[0], taken + n, sizeof(taken) - n)) > 0)
        n += (size_t)more;
    return n;
}

static void put_line(struct patient_out *out, int i)
{
    char *line = written + (size_t)i * LINE;

    memset(line, 'a' + i % 26, LINE - 1);
    line[LINE - 1] = '\n';
    patient_out_write(out, line, LINE);
}

static void full_pipe_gets_the_rest_later(void **state)
{
    struct patient_out *out;
    size_t n;
    int i = 0;

    (void)state;
    make_pipe();
    out = patient_out_new(ends[1]);
    while (patient_out_is_clear(out))
        put_line(out, i++);
    for (int k = 0; k < 100; k++)
        put_line(out, i++); /* nobody reads, and it does not wait */
    n = take(0);
    assert_true(n < (size_t)i * LINE);
    assert_true(patient_out_is_clear(out));
    put_line(out, i++);
    n = take(n);
    assert_int_equal(n, (size_t)i * LINE);
    assert_memory_equal(taken, written, n);
    patient_out_free(out, 0);
    close_ends();
}

static void too_much_is_left_out_as_a_whole(void **state)
{
    struct patient_out *out;
    size_t n;

    (void)state;
    make_pipe();
    out = patient_out_new(ends[1]);
    for (int i = 0; i < LINES; i++)
        put_line(out, i);
    patient_out_write(out, much, sizeof(much));
    for (n = 0; !patient_out_is_clear(out);)
        n = take(n);
    n = take(n);
    assert_int_equal(n, sizeof(written));
    assert_memory_equal(taken, written, n);
    patient_out_free(out, 0);
    close_ends();
}

static void end_waits_as_long_as_it_is_told(void **state)
{
    struct patient_out *out;

    (void)state;
    make_pipe();
    out = patient_out_new(ends[1]);
    for (int i = 0; i < LINES; i++)
        put_line(out, i);
    patient_out_free(out, 50); /* nobody reads */
    close_ends();
}

static void descriptor_of_others_stays_as_it_was(void **state)
{
    struct patient_out *out;

    (void)state;
    make_pipe();
    out = patient_out_new(ends[1]);
    assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
    patient_out_free(out, 0);
    close_ends();
}

static void closed_pipe_is_told(void **state)
{
    struct patient_out *out;

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    make_pipe();
    out = patient_out_new(ends[1]);
    assert_int_equal(close(ends[0]), 0);
    assert_false(patient_out_write(out, "x\n", 2));
    assert_true(patient_out_is_clear(out));
    patient_out_free(out, -1);
    assert_int_equal(close(ends[1]), 0);
}

static void stopped_terminal_is_not_waited_for(void **state)
{
    struct patient_out *out;
    size_t n;

    (void)state;
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    assert_true(ends[0] >= 0);
    assert_int_equal(grantpt(ends[0]), 0);
    assert_int_equal(unlockpt(ends[0]), 0);
    ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
    assert_true(ends[1] >= 0);
    out = patient_out_new(ends[1]);
    assert_int_equal(tcflow(ends[1], TCOOFF), 0);
    patient_out_write(out, "one\n", 4);
    assert_false(patient_out_is_clear(out));
    assert_int_equal(take(0), 0);
    assert_int_equal(tcflow(ends[1], TCOON), 0);
    assert_true(patient_out_is_clear(out));
    n = take(0);
    assert_int_equal(n, 5);
    assert_memory_equal(taken, "one\r\n", n);
    patient_out_free(out, 0);
    close_ends();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_pipe_gets_the_rest_later),
        cmocka_unit_test(too_much_is_left_out_as_a_whole),
        cmocka_unit_test(end_waits_as_long_as_it_is_told),
        cmocka_unit_test(descriptor_of_others_stays_as_it_was),
        cmocka_unit_test(closed_pipe_is_told),
        cmocka_unit_test(stopped_terminal_is_not_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
