#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/outcome.h"
#include "worker/process/child.h"
#include "worker/store/build_dir.h"
#include "worker/tool/tools.h"

static char folder[64];

static int set_up(void **state)
{
    char tmp[80];

    snprintf(folder, sizeof(folder), "/tmp/fa_tools_XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(tmp, sizeof(tmp), "%s/tmp", folder);
    *state = tools_new(&(struct tool_box){
        .dir = folder, .device = "cpu", .compiler = "/bin/cc", .runner = "" });
    return mkdir(tmp, 0700);
}

static int tear_down(void **state)
{
    tools_free(*state);
    return build_dir_remove_tree(folder) ? 0 : -1;
}

static void add(struct tools *tools, int64_t lease, int gpu, const char *script)
{
    const char *command[] = { "sh", "-c", script };

    tools_add(tools, lease, gpu,
              &(struct tool_job){ .gpu = "CPU-1", .command = { command, 3 } },
              clock_boot_ns());
}

static void step(struct tools *tools)
{
    struct pollfd fds[2 * CHILD_FDS_MAX];

    poll(fds, (nfds_t)tools_poll(tools, fds, 2 * CHILD_FDS_MAX), 20);
    tools_step(tools, clock_boot_ns());
}

static void a_gpu_is_held_until_its_tool_has_ended(void **state)
{
    struct tools *tools = *state;
    int64_t until_ns = clock_boot_ns() + 20 * NS_PER_S, lease;
    struct tool_result result;
    bool stuck;

    add(tools, 7, 1, "echo out");
    assert_true(tools_hold(tools, 1));
    assert_false(tools_hold(tools, 0));
    while (!tools_next_result(tools, &lease, &stuck, &result)) {
        assert_true(clock_boot_ns() < until_ns);
        assert_true(tools_hold(tools, 1));
        step(tools);
    }
    assert_int_equal(lease, 7);
    assert_false(stuck);
    assert_string_equal(result.output, "out\n");
    assert_false(tools_hold(tools, 1));
    tool_result_fini(&result);
}

static void
a_cancelled_tool_has_no_result_and_holds_until_it_is_gone(void **state)
{
    struct tools *tools = *state;
    int64_t until_ns = clock_boot_ns() + 20 * NS_PER_S, lease;
    struct tool_result result;
    bool stuck;

    add(tools, 7, 0, "sleep 100");
    tools_cancel(tools, 7);
    assert_true(tools_hold(tools, 0));
    while (tools_hold(tools, 0)) {
        assert_true(clock_boot_ns() < until_ns);
        step(tools);
        assert_false(tools_next_result(tools, &lease, &stuck, &result));
    }
}

/* ---- tools that stay */

static void ask_within(struct tools *tools, const char *script,
                       const char *line, double limit_s,
                       struct tool_result *out)
{
    const char *command[] = { "sh", "-c", script, folder };
    int64_t until_ns = clock_boot_ns() + 20 * NS_PER_S, lease;
    bool stuck;

    tools_add(tools, 7, 0,
              &(struct tool_job){ .gpu = "CPU-1",
                                  .command = { command, 4 },
                                  .ask = line,
                                  .limit_ns = (int64_t)(limit_s * 1e9) },
              clock_boot_ns());
    while (!tools_next_result(tools, &lease, &stuck, out)) {
        assert_true(clock_boot_ns() < until_ns);
        assert_true(tools_hold(tools, 0));
        step(tools);
    }
    assert_int_equal(lease, 7);
    assert_false(stuck);
}

static void ask(struct tools *tools, const char *script, const char *line,
                struct tool_result *out)
{
    ask_within(tools, script, line, 20, out);
}

/* It answers with the count of its lines and the line. */
#define COUNTS "n=0; while read -r l; do n=$((n+1)); echo \"$n $l\"; done"

static void one_process_answers_one_line_after_another(void **state)
{
    struct tools *tools = *state;
    struct tool_result result;

    ask(tools, COUNTS, "[\"a b\", 1]", &result);
    assert_int_equal(result.outcome, OUTCOME_RAN);
    assert_int_equal(result.status, 0);
    assert_string_equal(result.output, "1 [\"a b\", 1]");
    assert_false(tools_hold(tools, 0)); /* others measure now */
    tool_result_fini(&result);
    ask(tools, COUNTS, "second", &result);
    assert_string_equal(result.output, "2 second");
    tool_result_fini(&result);
    ask(tools, COUNTS " # another command", "third", &result);
    assert_string_equal(result.output, "1 third");
    tool_result_fini(&result);
    ask(tools, COUNTS, "fourth", &result);
    assert_string_equal(result.output, "3 fourth");
    tool_result_fini(&result);
}

static int64_t ticks(void)
{
    char path[80];
    struct stat st;

    snprintf(path, sizeof(path), "%s/ticks", folder);
    return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

/* What it started in the background stands still, too. */
static void it_stands_still_until_it_is_asked_again(void **state)
{
    static const char script[] =
        "cd \"$0\"; (while :; do echo >>ticks; sleep 0.01; done) & "
        "while read -r l; do n=$(cat ticks | wc -l); "
        "while [ \"$(cat ticks | wc -l)\" = \"$n\" ]; do sleep 0.01; done; "
        "echo \"$l\"; done";
    struct tools *tools = *state;
    int64_t until_ns = clock_boot_ns() + 20 * NS_PER_S, before = -1;
    struct tool_result result;

    ask(tools, script, "a", &result);
    tool_result_fini(&result);
    while (before != ticks()) { /* the signal takes a moment */
        assert_true(clock_boot_ns() < until_ns);
        before = ticks();
        poll(NULL, 0, 200);
    }
    ask(tools, script, "b", &result);
    assert_string_equal(result.output, "b");
    tool_result_fini(&result);
    assert_true(ticks() > before);
}

static void one_that_ends_is_started_again(void **state)
{
    static const char script[] = "read -r l; echo \"$l\"";
    struct tools *tools = *state;
    struct tool_result result;

    for (int i = 0; i < 3; i++) {
        char line[8];

        snprintf(line, sizeof(line), "%d", i);
        ask(tools, script, line, &result);
        assert_int_equal(result.outcome, OUTCOME_RAN);
        assert_int_equal(atoi(result.output), i);
        tool_result_fini(&result);
        step(tools);
    }
}

/* It was stopped before it ended, so that it still seems to wait. */
static void one_that_was_about_to_end_is_started_again(void **state)
{
    static const char script[] = "read -r l; echo \"$l\"; sleep 0.3; exit 3";
    struct tools *tools = *state;
    struct tool_result result;

    for (int i = 0; i < 3; i++) {
        char line[8];

        snprintf(line, sizeof(line), "%d", i);
        ask(tools, script, line, &result);
        assert_int_equal(result.outcome, OUTCOME_RAN);
        assert_int_equal(atoi(result.output), i);
        tool_result_fini(&result);
    }
}

static void one_that_dies_or_is_late_is_a_failed_run(void **state)
{
    struct tools *tools = *state;
    struct tool_result result;

    ask(tools, "read -r l; echo bad >&2; exit 3", "a", &result);
    assert_int_equal(result.outcome, OUTCOME_FAILED);
    assert_string_equal(result.detail, "exit status 3: bad");
    tool_result_fini(&result);
    ask_within(tools, "read -r l; sleep 100", "a", 0.2, &result);
    assert_int_equal(result.outcome, OUTCOME_TIMEOUT);
    assert_string_equal(result.detail, "it did not end within 0.2 s");
    tool_result_fini(&result);
    ask(tools, "read -r l; cat /dev/zero", "a", &result);
    assert_int_equal(result.outcome, OUTCOME_FAILED);
    assert_string_equal(result.detail, "it wrote more than 512 KiB");
    tool_result_fini(&result);
}

/* It could be the answer to an earlier question. */
static void what_nobody_asked_for_is_no_answer(void **state)
{
    static const char script[] = "read -r l; printf '%s\\nmore\\n' \"$l\"; "
                                 "read -r l; echo \"second $l\"";
    struct tools *tools = *state;
    struct tool_result result;

    ask(tools, script, "a", &result);
    tool_result_fini(&result);
    ask(tools, script, "b", &result);
    assert_int_equal(result.outcome, OUTCOME_RAN);
    assert_string_equal(result.output, "b"); /* the first of another one */
    tool_result_fini(&result);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_gpu_is_held_until_its_tool_has_ended),
        TEST(a_cancelled_tool_has_no_result_and_holds_until_it_is_gone),
        TEST(one_process_answers_one_line_after_another),
        TEST(it_stands_still_until_it_is_asked_again),
        TEST(one_that_ends_is_started_again),
        TEST(one_that_was_about_to_end_is_started_again),
        TEST(one_that_dies_or_is_late_is_a_failed_run),
        TEST(what_nobody_asked_for_is_no_answer),
    };

    child_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
