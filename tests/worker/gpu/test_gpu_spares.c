#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/outcome.h"
#include "tests/worker/gpu/gpu_fixture.h"

/* Each runner appends lines to the file 'log': "opens", "is open", and
 * "measures", with "alone" if none that has measured is left, else "beside". */
#define HOME "home=${0%/*}; exec 9>$home/lock; "
#define SAY(what) "echo '" what "' >>$home/log; "
#define MEASURES                                                             \
    "while :; do " READ_REQUEST                                              \
    "flock -n 9 && echo measures alone >>$home/log || echo measures beside " \
    ">>$home/log; " PRINT_CORRECT "done"

static void read_log(char text[512])
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/log", gpu_fixture_dir);
    file = fopen(path, "r");
    text[file ? fread(text, 1, 511, file) : 0] = '\0';
    if (file)
        fclose(file);
}

/* Step the GPU until the log is this. */
static void until_log(struct gpu *gpu, const char *expected)
{
    int64_t until_ns = clock_boot_ns() + 30 * NS_PER_S;
    char text[512];

    for (;;) {
        read_log(text);
        if (strcmp(text, expected) == 0)
            return;
        if (clock_boot_ns() > until_ns)
            fail_msg("the log is: %s", text);
        gpu_step(gpu, clock_boot_ns());
        poll(NULL, 0, 5);
    }
}

static int remove_log(void **state)
{
    char path[128];

    (void)state;
    snprintf(path, sizeof(path), "%s/log", gpu_fixture_dir);
    return unlink(path);
}

static struct gpu_result measured(struct gpu *gpu, bool fresh)
{
    struct gpu_job job = { .lease = 7,
                           .request = REQUEST("right"),
                           .artifact = KERNELS "right.so",
                           .reference = KERNELS "sum.so",
                           .fresh = fresh };

    return gpu_fixture_measure_job(gpu, &job);
}

static void assert_measured(struct gpu *gpu, bool fresh)
{
    struct gpu_result result = measured(gpu, fresh);

    assert_int_equal(result.outcome, OUTCOME_CORRECT);
    assert_false(result.repeated);
}

static void
they_open_while_nothing_is_measured_and_are_the_fresh_ones(void **state)
{
    struct gpu *gpu = gpu_fixture_open_spares(
        gpu_fixture_script(HOME SAY("opens") SAY_OPEN MEASURES), 2);
    static const char expected[] = "opens\nopens\nopens\nmeasures alone\n"
                                   "measures beside\n";
    char text[512];

    (void)state;
    until_log(gpu, "opens\nopens\nopens\n");
    assert_measured(gpu, true);
    assert_measured(gpu, true);
    read_log(text);
    text[strlen(expected)] = '\0'; /* more may open by now */
    assert_string_equal(text, expected);
    assert_measured(gpu, true);
    assert_measured(gpu, false);
    gpu_close(gpu);
}

/* Runner 'n' holds a lock for as long as it lives. */
static bool has_ended(int n)
{
    char path[128];
    bool free;
    int fd;

    snprintf(path, sizeof(path), "%s/lives.%d", gpu_fixture_dir, n);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    free = flock(fd, LOCK_SH | LOCK_NB) == 0;
    close(fd);
    return free;
}

static void those_that_have_measured_end_while_nothing_is_measured(void **state)
{
    int64_t until_ns = clock_boot_ns() + 30 * NS_PER_S;
    struct gpu *gpu = gpu_fixture_open_spares(
        gpu_fixture_script(
            HOME SAY("opens") "exec 8>$home/lives.$(wc -l <$home/log); "
                              "flock 8; " SAY_OPEN
                              "while :; do " READ_REQUEST PRINT_CORRECT "done"),
        2);

    (void)state;
    until_log(gpu, "opens\nopens\nopens\n");
    assert_measured(gpu, false);
    assert_measured(gpu, true);
    assert_false(has_ended(1));
    while (!has_ended(1)) {
        assert_true(clock_boot_ns() < until_ns);
        gpu_step(gpu, clock_boot_ns());
        poll(NULL, 0, 5);
    }
    until_log(gpu, "opens\nopens\nopens\nopens\n");
    assert_false(has_ended(2));
    assert_measured(gpu, true);
    gpu_close(gpu);
}

/* The third cannot be opened while the first one lives. */
static void one_that_has_measured_is_not_in_the_way_of_the_next(void **state)
{
    struct gpu *gpu = gpu_fixture_open_spares(
        gpu_fixture_script(
            HOME SAY("opens") "n=$(wc -l <$home/log); "
                              "exec 8>$home/lives.$n; flock 8; "
                              "[ $n -lt 3 ] || flock -n $home/lives.1 true || "
                              "{ " READ_REQUEST "printf 'error no memory\\n"
                              "poisoned 0\\n\\n'; exit; }; " SAY_OPEN
                              "while :; do " READ_REQUEST PRINT_CORRECT "done"),
        1);

    (void)state;
    until_log(gpu, "opens\nopens\n");
    assert_measured(gpu, false);
    assert_measured(gpu, true);
    assert_false(has_ended(1));
    assert_int_equal(measured(gpu, true).outcome, OUTCOME_CORRECT);
    assert_true(has_ended(1));
    gpu_close(gpu);
}

#define SLOW_SPARES                                                  \
    HOME READ_REQUEST                                                \
        SAY("opens") "[ $(wc -l <$home/log) = 1 ] || sleep 1; " SAY( \
            "is open") "printf 'ok\\nfact uuid emulation\\n\\n'; " MEASURES

static void a_measurement_waits_for_the_one_that_opens(void **state)
{
    struct gpu *gpu =
        gpu_fixture_open_spares(gpu_fixture_script(SLOW_SPARES), 1);

    (void)state;
    until_log(gpu, "opens\nis open\nopens\n");
    assert_measured(gpu, false);
    until_log(gpu, "opens\nis open\nopens\nis open\nmeasures alone\n");
    gpu_close(gpu);
}

static void a_cancelled_one_that_waits_ends_nothing(void **state)
{
    struct gpu *gpu =
        gpu_fixture_open_spares(gpu_fixture_script(SLOW_SPARES), 1);
    struct gpu_job job = { .lease = 7,
                           .request = REQUEST("right"),
                           .artifact = KERNELS "right.so",
                           .reference = KERNELS "sum.so" };
    struct err err;

    (void)state;
    until_log(gpu, "opens\nis open\nopens\n");
    assert_int_equal(gpu_measure(gpu, &job, clock_boot_ns(), &err), 0);
    assert_int_equal(gpu_state(gpu), GPU_BUSY);
    gpu_cancel(gpu, clock_boot_ns());
    assert_int_equal(gpu_state(gpu), GPU_IDLE);
    assert_measured(gpu, false);
    until_log(gpu, "opens\nis open\nopens\nis open\nmeasures alone\n");
    gpu_close(gpu);
}

static void after_one_that_cannot_open_no_other_is_tried(void **state)
{
    struct gpu *gpu = gpu_fixture_open_spares(
        gpu_fixture_script(
            HOME SAY("opens") "[ $(wc -l <$home/log) = 1 ] || { " READ_REQUEST
                              "echo ended >>$home/log; printf 'error no "
                              "memory\\npoisoned 0\\n\\n'; "
                              "exit; }; " SAY_OPEN MEASURES),
        8);

    (void)state;
    until_log(gpu, "opens\nopens\nended\n");
    assert_measured(gpu, false);
    for (int i = 0; i < 3; i++)
        gpu_fixture_step(gpu);
    until_log(gpu, "opens\nopens\nended\nmeasures alone\n");
    gpu_close(gpu);
}

/* Even if that shows only when it is asked. */
static void one_that_dies_fails_no_measurement(void **state)
{
    struct gpu *gpu = gpu_fixture_open_spares(
        gpu_fixture_script(HOME SAY(
            "opens") "n=$(wc -l <$home/log); " SAY_OPEN "[ $n = 2 ] && { "
                     "echo ended >>$home/log; exit; }; " MEASURES),
        1);

    (void)state;
    until_log(gpu, "opens\nopens\nended\n");
    assert_int_equal(measured(gpu, true).outcome, OUTCOME_CORRECT);
    assert_int_equal(measured(gpu, true).outcome, OUTCOME_CORRECT);
    gpu_close(gpu);
}

/* What they hold may be what a measurement lacks. */
static void memory_that_is_short_is_taken_from_them(void **state)
{
    struct gpu *gpu = gpu_fixture_open_spares(
        gpu_fixture_script(
            HOME SAY("opens") "n=$(wc -l <$home/log); " SAY_OPEN
                              "[ $n = 1 ] && { " READ_REQUEST
                              "printf 'error out of memory\\npoisoned 0\\n\\n';"
                              " exit; }; " MEASURES),
        1);
    struct gpu_result result;

    (void)state;
    until_log(gpu, "opens\nopens\n");
    result = measured(gpu, false);
    assert_int_equal(result.outcome, OUTCOME_CORRECT);
    assert_true(result.repeated);
    until_log(gpu, "opens\nopens\nopens\nmeasures alone\n");
    gpu_close(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(
            they_open_while_nothing_is_measured_and_are_the_fresh_ones,
            remove_log),
        cmocka_unit_test_teardown(
            those_that_have_measured_end_while_nothing_is_measured, remove_log),
        cmocka_unit_test_teardown(
            one_that_has_measured_is_not_in_the_way_of_the_next, remove_log),
        cmocka_unit_test_teardown(a_measurement_waits_for_the_one_that_opens,
                                  remove_log),
        cmocka_unit_test_teardown(a_cancelled_one_that_waits_ends_nothing,
                                  remove_log),
        cmocka_unit_test_teardown(after_one_that_cannot_open_no_other_is_tried,
                                  remove_log),
        cmocka_unit_test_teardown(one_that_dies_fails_no_measurement,
                                  remove_log),
        cmocka_unit_test_teardown(memory_that_is_short_is_taken_from_them,
                                  remove_log),
    };

    return cmocka_run_group_tests(tests, gpu_fixture_set_up,
                                  gpu_fixture_tear_down);
}
