#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/clock.h"
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_gpu_is_held_until_its_tool_has_ended),
        TEST(a_cancelled_tool_has_no_result_and_holds_until_it_is_gone),
    };

    child_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
