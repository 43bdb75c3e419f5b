#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "worker/process/child.h"
#include "worker/process/sandbox_policy.h"
#include "worker/store/build_dir.h"
#include "worker/tool/tool.h"

static char folder[64];

static int set_up(void **state)
{
    char tmp[80];

    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/fa_tool_XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(tmp, sizeof(tmp), "%s/tmp", folder);
    return mkdir(tmp, 0700);
}

static int tear_down(void **state)
{
    (void)state;
    return build_dir_remove_tree(folder) ? 0 : -1;
}

static struct tool_box box(const char *device)
{
    return (struct tool_box){ .dir = folder,
                              .device = device,
                              .compiler = "/bin/cc",
                              .runner = "/bin/cat" };
}

/* Step it to its end, or for 20 s. */
static void run(const struct tool_box *where, const struct tool_job *job,
                struct tool_result *out)
{
    int64_t now_ns = clock_boot_ns(), until_ns = now_ns + 20 * NS_PER_S;
    struct tool *tool = tool_start(where, job, now_ns);

    while (tool_step(tool, now_ns) != TOOL_ENDED) {
        struct pollfd fds[CHILD_FDS_MAX];
        int64_t wake_ns = tool_deadline_ns(tool);

        assert_true(now_ns < until_ns);
        if (wake_ns > until_ns)
            wake_ns = until_ns;
        poll(fds, (nfds_t)tool_poll(tool, fds, CHILD_FDS_MAX),
             wake_ns > now_ns ? (int)((wake_ns - now_ns) / NS_PER_MS) + 1 : 0);
        now_ns = clock_boot_ns();
    }
    tool_take_result(tool, out);
    tool_free(tool);
}

static void run_script(const char *script, double limit_s,
                       struct tool_result *out)
{
    const char *command[] = { "sh", "-c", script };
    const struct tool_box here = box("cpu");
    const struct tool_job job = { .gpu = "CPU-1",
                                  .command = { command, 3 },
                                  .limit_ns = (int64_t)(limit_s * 1e9) };

    run(&here, &job, out);
}

static size_t folders_left(void)
{
    char path[80];
    DIR *dir;
    size_t n = 0;

    snprintf(path, sizeof(path), "%s/tmp", folder);
    dir = opendir(path);
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2; /* . and .. */
}

static void its_output_and_status_are_told_and_its_folder_is_gone(void **state)
{
    struct tool_result result;

    (void)state;
    run_script("echo '{}'; echo note >&2; echo x >left; pwd >&2", 10, &result);
    assert_int_equal(result.outcome, OUTCOME_RAN);
    assert_string_equal(result.detail, "");
    assert_string_equal(result.output, "{}\n");
    assert_non_null(strstr(result.log, "note\n"));
    assert_non_null(strstr(result.log, "/src\n"));
    assert_int_equal(result.status, 0);
    assert_int_equal(folders_left(), 0);
    tool_result_fini(&result);
}

static void it_finds_the_files_that_came_along(void **state)
{
    const char *command[] = { "sh", "say.sh", "a b;c $(id)" };
    const char *names[] = { "say.sh", "lib/words.txt" };
    const struct bytes contents[] = {
        { "cat lib/words.txt; echo \"$1\"\n", 29 }, { "hello\n", 6 }
    };
    const struct tool_box here = box("cpu");
    const struct tool_job job = { .gpu = "CPU-1",
                                  .names = { names, 2 },
                                  .contents = { contents, 2 },
                                  .command = { command, 3 } };
    struct tool_result result;

    (void)state;
    run(&here, &job, &result);
    assert_string_equal(result.output, "hello\na b;c $(id)\n");
    tool_result_fini(&result);
}

static char *below(const char *name)
{
    return mem_printf("%s/%s", folder, name);
}

static void put_file(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs("text\n", file);
    fclose(file);
}

/* In a home folder that is the work folder, too. */
static void it_sees_its_own_folder_and_what_it_was_given(void **state)
{
    char *journal = below("journal"), *artifact = below("artifact");
    char *script = mem_printf("cat %s; cat %s; echo x >left; cat left; cat "
                              "script.sh",
                              journal, artifact);
    const char *command[] = { "sh", "script.sh" };
    const char *names[] = { "script.sh" };
    const struct bytes contents[] = { { script, strlen(script) } };
    struct tool_box here = box("cpu");
    struct wire_request *request = mem_new(1, sizeof(*request));
    const struct tool_job job = { .gpu = "CPU-1",
                                  .names = { names, 1 },
                                  .contents = { contents, 1 },
                                  .command = { command, 2 },
                                  .request = request };
    struct tool_result result;
    struct sandbox *sandbox;
    char *expected;

    (void)state;
    assert_int_equal(
        sandbox_policy_new(
            &(struct sandbox_policy){
                .dir = folder, .home = folder, .database = "", .allow = "" },
            &sandbox, NULL),
        0);
    if (sandbox->means == SANDBOX_NOTHING)
        skip();
    put_file(journal);
    put_file(artifact);
    request->kind = WIRE_MEASURE;
    snprintf(request->measure.kernel.path, WIRE_PATH_MAX, "%s", artifact);
    here.sandbox = sandbox;
    run(&here, &job, &result);
    expected = mem_printf("text\nx\n%s", script);
    if (strcmp(result.output, expected) != 0)
        fail_msg("%s: %s", result.detail, result.log);
    assert_non_null(strstr(result.log, journal));
    tool_result_fini(&result);
    sandbox_free(sandbox);
    unlink(journal);
    unlink(artifact);
    free(expected);
    free(request);
    free(script);
    free(artifact);
    free(journal);
}

static void a_program_in_the_home_folder_needs_allow(void **state)
{
    char *program = below("program");
    const char *command[] = { program };
    struct sandbox *sandbox = sandbox_new(SANDBOX_MOUNTS);
    struct tool_box here = box("cpu");
    const struct tool_job job = { .gpu = "CPU-1", .command = { command, 1 } };
    struct tool_result result;

    (void)state;
    put_file(program);
    assert_int_equal(chmod(program, 0700), 0);
    assert_true(sandbox_set(sandbox, folder, SANDBOX_HIDDEN));
    here.sandbox = sandbox;
    run(&here, &job, &result);
    assert_int_equal(result.outcome, OUTCOME_MISSING);
    assert_non_null(strstr(result.detail, "names its folder by allow="));
    tool_result_fini(&result);
    sandbox_free(sandbox);
    unlink(program);
    free(program);
}

static void what_is_not_on_the_host_is_said_in_one_sentence(void **state)
{
    const char *command[] = { "no-such-program-of-ours", "x" };
    const struct tool_box here = box("cpu");
    const struct tool_job job = { .gpu = "CPU-1", .command = { command, 2 } };
    struct tool_result result;

    (void)state;
    setenv("PATH", "/usr/bin:/bin", 1);
    run(&here, &job, &result);
    assert_int_equal(result.outcome, OUTCOME_MISSING);
    assert_string_equal(result.detail,
                        "there is no program 'no-such-program-of-ours' on this "
                        "host: no folder of its PATH has it (/usr/bin:/bin), "
                        "nor the compiler's, /bin");
    assert_int_equal(result.status, -1);
    tool_result_fini(&result);
    command[0] = "/opt/none/python3";
    run(&here, &job, &result);
    assert_string_equal(result.detail,
                        "there is no program '/opt/none/python3' on this host");
    tool_result_fini(&result);
    command[0] = "bin/sh"; /* neither a name nor a path from the root */
    run(&here, &job, &result);
    assert_int_equal(result.outcome, OUTCOME_MISSING);
    tool_result_fini(&result);
}

static void a_failure_is_told_by_its_last_line(void **state)
{
    struct tool_result result;

    (void)state;
    run_script("echo Traceback >&2; echo 'No module named torch' >&2; exit 3",
               10, &result);
    assert_int_equal(result.outcome, OUTCOME_FAILED);
    assert_string_equal(result.detail, "exit status 3: No module named torch");
    assert_int_equal(result.status, 3);
    tool_result_fini(&result);
    run_script("kill -SEGV $$", 10, &result);
    assert_int_equal(result.outcome, OUTCOME_FAILED);
    assert_string_equal(result.detail, "signal 11 (SIGSEGV)");
    tool_result_fini(&result);
    run_script("kill -KILL $$", 10, &result);
    assert_int_equal(result.outcome, OUTCOME_CRASH);
    tool_result_fini(&result);
}

static void a_hang_ends_at_the_limit(void **state)
{
    struct tool_result result;

    (void)state;
    run_script("exec sleep 100", 0.2, &result);
    assert_int_equal(result.outcome, OUTCOME_TIMEOUT);
    assert_string_equal(result.detail, "it did not end within 0.2 s");
    assert_true(result.seconds < 5);
    tool_result_fini(&result);
}

static void a_flood_ends_it_and_is_cut(void **state)
{
    struct tool_result result;

    (void)state;
    run_script("exec yes", 20, &result);
    assert_int_equal(result.outcome, OUTCOME_FAILED);
    assert_string_equal(result.detail, "it wrote more than 512 KiB");
    assert_true(strlen(result.output) <= TOOL_OUTPUT_MAX);
    tool_result_fini(&result);
    run_script("exec yes >&2", 20, &result);
    assert_string_equal(result.detail, "it wrote more than 16384 KiB");
    assert_true(strlen(result.log) <= MSG_LOG_MAX);
    tool_result_fini(&result);
}

static void what_stays_below_the_limit_comes_whole(void **state)
{
    struct tool_result result;

    (void)state;
    run_script("seq 100000 | head -c 500000", 20, &result);
    assert_int_equal(result.outcome, OUTCOME_RAN);
    assert_int_equal(strlen(result.output), 500000);
    assert_null(strstr(result.output, "left out"));
    assert_non_null(strstr(result.output, "\n50000\n50001\n"));
    tool_result_fini(&result);
}

static void what_it_forked_ends_with_it(void **state)
{
    struct tool_result result;
    int64_t began = clock_boot_ns();

    (void)state;
    /* Holding the output open would make it hang if it lived on. */
    run_script("setsid sleep 60 & (sleep 60 &) ; echo done", 20, &result);
    assert_int_equal(result.outcome, OUTCOME_RAN);
    assert_string_equal(result.output, "done\n");
    assert_true(clock_boot_ns() - began < 10 * NS_PER_S);
    tool_result_fini(&result);
}

static void its_memory_is_bounded_where_no_driver_is(void **state)
{
    struct tool_result result;

    (void)state;
    run_script("ulimit -v", 10, &result);
    assert_string_equal(result.output, "16777216\n"); /* KiB */
    tool_result_fini(&result);
}

static void nul_bytes_do_not_cut_its_output(void **state)
{
    struct tool_result result;

    (void)state;
    run_script("printf 'a\\0b'", 10, &result);
    assert_string_equal(result.output, "a?b");
    tool_result_fini(&result);
}

static void it_sees_one_gpu_and_little_of_the_environment(void **state)
{
    const char *command[] = { "env" };
    const struct tool_box here = box("cuda");
    const struct tool_job job = { .gpu = "GPU-8f", .command = { command, 1 } };
    struct tool_result result;

    (void)state;
    setenv("FA_TEST_SECRET", "hunter2", 1);
    run(&here, &job, &result);
    assert_non_null(strstr(result.output, "CUDA_VISIBLE_DEVICES=GPU-8f\n"));
    assert_non_null(strstr(result.output, "TMPDIR=/tmp/fa_tool_"));
    assert_null(strstr(result.output, "hunter2"));
    tool_result_fini(&result);
}

static void the_runner_is_named_and_gets_its_request(void **state)
{
    const char *command[] = { "env", TOOL_RUNNER };
    const struct tool_box here = box("cpu");
    struct wire_request request = { .kind = WIRE_QUIT };
    const struct tool_job job = { .gpu = "CPU-1",
                                  .command = { command, 2 },
                                  .request = &request };
    struct tool_result result;

    (void)state;
    run(&here, &job, &result);
    assert_string_equal(result.output, "open\ndevice cpu\ngpu 0\n\nquit\n\n");
    tool_result_fini(&result);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(its_output_and_status_are_told_and_its_folder_is_gone),
        TEST(it_finds_the_files_that_came_along),
        TEST(it_sees_its_own_folder_and_what_it_was_given),
        TEST(a_program_in_the_home_folder_needs_allow),
        TEST(what_is_not_on_the_host_is_said_in_one_sentence),
        TEST(a_failure_is_told_by_its_last_line),
        TEST(a_hang_ends_at_the_limit),
        TEST(a_flood_ends_it_and_is_cut),
        TEST(what_stays_below_the_limit_comes_whole),
        TEST(what_it_forked_ends_with_it),
        TEST(its_memory_is_bounded_where_no_driver_is),
        TEST(nul_bytes_do_not_cut_its_output),
        TEST(it_sees_one_gpu_and_little_of_the_environment),
        TEST(the_runner_is_named_and_gets_its_request),
    };

    child_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
