#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/outcome.h"
#include "tests/worker/gpu/gpu_fixture.h"

/* Each runner appends to the file 'log': "open beside" or "open alone", by
 * whether another one holds the lock, and the same for "measure". */
#define HOME "home=${0%/*}; exec 9>$home/lock; "
#define SAY_WHAT(what)                                            \
    "flock -n 9 && echo " what " alone >>$home/log || echo " what \
    " beside >>$home/log; "
#define MEASURES \
    "while :; do " READ_REQUEST SAY_WHAT("measure") PRINT_CORRECT "done"

static void assert_log(const char *expected)
{
    char path[128], text[256];
    size_t n;
    FILE *file;

    snprintf(path, sizeof(path), "%s/log", gpu_fixture_dir);
    file = fopen(path, "r");
    assert_non_null(file);
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
    assert_int_equal(unlink(path), 0);
}

static void assert_measured(struct gpu *gpu, bool fresh)
{
    struct gpu_job job = { .lease = 7,
                           .request = REQUEST("right"),
                           .artifact = KERNELS "right.so",
                           .reference = KERNELS "sum.so",
                           .fresh = fresh };
    struct gpu_result result = gpu_fixture_measure_job(gpu, &job);

    assert_int_equal(result.outcome, OUTCOME_CORRECT);
    assert_false(result.repeated);
}

static void
next_one_opens_first_and_measures_when_the_other_has_ended(void **state)
{
    struct gpu *gpu = gpu_fixture_open(
        gpu_fixture_script(HOME SAY_WHAT("open") SAY_OPEN MEASURES));

    (void)state;
    assert_measured(gpu, false);
    assert_measured(gpu, true);
    assert_measured(gpu, false);
    gpu_close(gpu);
    assert_log("open alone\nmeasure alone\n"
               "open beside\nmeasure alone\nmeasure alone\n");
}

/* As where the compute mode is exclusive, or memory is short. */
static void one_that_cannot_open_beside_the_other_opens_after_it(void **state)
{
    struct gpu *gpu = gpu_fixture_open(gpu_fixture_script(HOME SAY_WHAT(
        "open") "flock -n 9 || { " READ_REQUEST
                "printf 'error in use\\n\\n'; exit; }; " SAY_OPEN MEASURES));

    (void)state;
    assert_measured(gpu, false);
    assert_measured(gpu, true);
    assert_measured(gpu, true);
    assert_int_equal(gpu_fixture_settle(gpu), GPU_IDLE);
    gpu_close(gpu);
    assert_log("open alone\nmeasure alone\n"
               "open beside\nopen alone\nmeasure alone\n"
               "open alone\nmeasure alone\n");
}

static void one_that_dies_beside_the_other_opens_after_it(void **state)
{
    struct gpu *gpu = gpu_fixture_open(gpu_fixture_script(
        HOME SAY_WHAT("open") "flock -n 9 || exit 1; " SAY_OPEN MEASURES));

    (void)state;
    assert_measured(gpu, false);
    assert_measured(gpu, true);
    gpu_close(gpu);
    assert_log("open alone\nmeasure alone\n"
               "open beside\nopen alone\nmeasure alone\n");
}

static struct gpu *open_known(char runner[64])
{
    char facts[64];
    struct gpu *gpu;

    gpu_fixture_write("facts", HOME SAY_WHAT("facts") SAY_OPEN READ_REQUEST,
                      facts);
    gpu_fixture_write("runner", HOME SAY_WHAT("open") SAY_OPEN MEASURES,
                      runner);
    gpu = gpu_fixture_open_facts(facts);
    return gpu;
}

static void one_that_is_known_measures_when_the_runner_is_built(void **state)
{
    char runner[64];
    struct gpu *gpu = open_known(runner);

    (void)state;
    assert_int_equal(gpu_fixture_settle(gpu), GPU_KNOWN);
    assert_string_equal(gpu_fact(gpu, "uuid"), "emulation");
    gpu_use(gpu, runner, clock_boot_ns());
    assert_int_equal(gpu_state(gpu), GPU_STARTING);
    assert_measured(gpu, false);
    assert_measured(gpu, true);
    gpu_close(gpu);
    assert_log("facts alone\nopen beside\nmeasure alone\n"
               "open beside\nmeasure alone\n");
}

static void runner_that_is_built_before_the_facts_are_there(void **state)
{
    char runner[64];
    struct gpu *gpu = open_known(runner);

    (void)state;
    gpu_use(gpu, runner, clock_boot_ns());
    assert_measured(gpu, false);
    gpu_close(gpu);
    assert_log("facts alone\nopen beside\nmeasure alone\n");
}

/* Not for ever: fa-facts has no context that could be in the way. */
static void runner_that_dies_beside_fa_facts_opens_again(void **state)
{
    char runner[64];
    struct gpu *gpu = open_known(runner);

    (void)state;
    assert_int_equal(gpu_fixture_settle(gpu), GPU_KNOWN);
    gpu_fixture_write(
        "runner",
        HOME "[ -e $home/once ] || { >$home/once; exit 1; }; " SAY_WHAT("open")
            SAY_OPEN MEASURES,
        runner);
    gpu_use(gpu, runner, clock_boot_ns());
    assert_measured(gpu, false);
    assert_measured(gpu, true);
    gpu_close(gpu);
    assert_log("facts alone\nopen alone\nmeasure alone\n"
               "open beside\nmeasure alone\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            next_one_opens_first_and_measures_when_the_other_has_ended),
        cmocka_unit_test(one_that_cannot_open_beside_the_other_opens_after_it),
        cmocka_unit_test(one_that_dies_beside_the_other_opens_after_it),
        cmocka_unit_test(one_that_is_known_measures_when_the_runner_is_built),
        cmocka_unit_test(runner_that_is_built_before_the_facts_are_there),
        cmocka_unit_test(runner_that_dies_beside_fa_facts_opens_again),
    };

    return cmocka_run_group_tests(tests, gpu_fixture_set_up,
                                  gpu_fixture_tear_down);
}
