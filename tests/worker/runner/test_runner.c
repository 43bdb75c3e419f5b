/* test_runner.c - fa-runner as a process: its pipe, its end, its parent */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/outcome.h"
#include "tests/worker/runner/box.h"

#define RUNNER FA_BINARY_DIR "/bin/fa-runner"

static struct box box;

static int set_up(void **state)
{
    (void)state;
    box_start(&box, RUNNER);
    return 0;
}

static const char *fact(const char *name)
{
    for (size_t i = 0; i < box.reply.n_facts; i++)
        if (strcmp(box.reply.facts[i].name, name) == 0)
            return box.reply.facts[i].value;
    return "missing";
}

static void open_answers_with_facts(void **state)
{
    (void)state;
    assert_true(box_open(&box, "cpu"));
    assert_int_equal(box.reply.kind, WIRE_OK);
    assert_string_equal(fact("device"), "cpu");
    assert_string_not_equal(fact("arch"), "missing");
    assert_string_not_equal(fact("smem_per_block"), "missing");
    assert_int_equal(box_stop(&box), 0);
}

static void device_of_another_build_is_refused(void **state)
{
    (void)state;
    assert_true(box_open(&box, "cuda"));
    assert_int_equal(box.reply.kind, WIRE_ERROR);
    assert_string_equal(box.reply.error, "device 'cuda' is not in this runner, "
                                         "which was built for 'cpu'");
    assert_true(box_open(&box, "cpu"));
    assert_int_equal(box.reply.kind, WIRE_OK);
    assert_int_equal(box_stop(&box), 0);
}

static void measure_before_open_is_refused(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "right", "sum", 1001);
    assert_true(box_ask(&box, &request));
    assert_string_equal(box.reply.error, "no device is open");
    assert_int_equal(box_stop(&box), 0);
}

static void what_is_checked_is_not_timed(void **state)
{
    struct wire_request request;

    (void)state;
    assert_true(box_open(&box, "cpu"));
    box_request(&request, "right", "sum", 1001);
    request.kind = WIRE_CHECK;
    assert_true(box_ask(&box, &request));
    assert_int_equal(box.reply.kind, WIRE_RESULT);
    assert_int_equal(box.reply.result.outcome, OUTCOME_CORRECT);
    assert_int_equal(box.reply.result.n_samples, 0);
    assert_true(box.reply.result.relative_l2 < 1e-6);
    assert_null(strstr(box.stages, "time"));
    assert_int_equal(box_stop(&box), 0);
}

static void second_open_is_refused(void **state)
{
    (void)state;
    assert_true(box_open(&box, "cpu"));
    assert_true(box_open(&box, "cpu"));
    assert_string_equal(box.reply.error, "the device is open already");
    assert_int_equal(box_stop(&box), 0);
}

static void bad_request_is_answered_and_ends_the_runner(void **state)
{
    (void)state;
    assert_true(box_ask_text(&box, "open\ncolour red\n"));
    assert_string_equal(box.reply.error, "unknown field 'colour'");
    assert_true(box.reply.result.poisoned);
    assert_int_equal(WEXITSTATUS(box_stop(&box)), 1);
}

static void quit_ends_the_runner(void **state)
{
    (void)state;
    assert_true(box_open(&box, "cpu"));
    assert_false(box_ask_text(&box, "quit\n\n"));
    assert_int_equal(box_stop(&box), 0);
}

static void endless_kernel_can_be_killed_and_replaced(void **state)
{
    struct wire_request request;
    char line[64];

    (void)state;
    assert_true(box_open(&box, "cpu"));
    box_request(&request, "endless", "sum", 1001);
    assert_int_equal(wire_write_request(box.requests, &request), 0);
    do
        assert_non_null(fgets(line, sizeof(line), box.replies));
    while (strcmp(line, "progress check\n") != 0);
    kill(box.pid, SIGKILL);
    assert_int_equal(WTERMSIG(box_stop(&box)), SIGKILL);
    box_start(&box, RUNNER);
    assert_true(box_open(&box, "cpu"));
    assert_int_equal(box_measure(&box, "right")->outcome, OUTCOME_CORRECT);
    assert_int_equal(box_stop(&box), 0);
}

/* A parent starts a runner, says its pid and dies; the runner must follow,
 * though its pipe is still open here. */
static void runner_dies_with_its_parent(void **state)
{
    int keep[2], tell[2];
    char end;
    pid_t parent;

    (void)state;
    box_stop(&box);
    assert_int_equal(pipe(keep), 0);
    assert_int_equal(pipe(tell), 0);
    parent = fork();
    if (parent == 0) {
        if (fork() == 0) {
            dup2(keep[0], 0);
            dup2(tell[1], 1);
            close(keep[1]);
            execl(RUNNER, RUNNER, (char *)NULL);
        }
        dprintf(keep[1], "open\ndevice cpu\ngpu 0\n\n");
        /* the first byte of its answer: it is up, past prctl */
        _exit(read(tell[0], &end, 1) == 1 ? 0 : 1);
    }
    close(tell[1]);
    waitpid(parent, NULL, 0);
    while (read(tell[0], &end, 1) == 1)
        continue; /* ends when the runner, its last writer, does */
    close(keep[0]);
    close(keep[1]);
    close(tell[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(open_answers_with_facts, set_up),
        cmocka_unit_test_setup(device_of_another_build_is_refused, set_up),
        cmocka_unit_test_setup(measure_before_open_is_refused, set_up),
        cmocka_unit_test_setup(what_is_checked_is_not_timed, set_up),
        cmocka_unit_test_setup(second_open_is_refused, set_up),
        cmocka_unit_test_setup(bad_request_is_answered_and_ends_the_runner,
                               set_up),
        cmocka_unit_test_setup(quit_ends_the_runner, set_up),
        cmocka_unit_test_setup(endless_kernel_can_be_killed_and_replaced,
                               set_up),
        cmocka_unit_test_setup(runner_dies_with_its_parent, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
