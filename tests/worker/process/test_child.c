#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "worker/process/child.h"

/* Every process that a child leaves behind has this in its environment.  It has
 * the pid of this test, for the same test of another build may run beside it.
 */
static char mark[40];
static const char *const env[] = { "PATH=/usr/bin:/bin", mark, NULL };

static struct child *start(const char *script, int64_t limit_ns)
{
    struct child_spec spec = {
        .argv = (const char *[]){ "/bin/sh", "-c", script, NULL },
        .env = env,
        .folder = "/",
        .limit_ns = limit_ns,
    };
    struct child *child;
    struct err err;

    if (child_start(&spec, clock_boot_ns(), &child, &err) < 0)
        fail_msg("%s", err.text);
    return child;
}

/* Step 'child' to its end, or for 20 s. */
static void run(struct child *child)
{
    int64_t now_ns = clock_boot_ns(), until_ns = now_ns + 20 * NS_PER_S;

    while (child_step(child, now_ns) != CHILD_ENDED) {
        struct pollfd fds[CHILD_FDS_MAX];
        int64_t wake_ns = child_deadline_ns(child);

        assert_true(now_ns < until_ns);
        if (wake_ns > until_ns)
            wake_ns = until_ns;
        poll(fds, (nfds_t)child_poll(child, fds, CHILD_FDS_MAX),
             wake_ns > now_ns ? (int)((wake_ns - now_ns) / NS_PER_MS) + 1 : 0);
        now_ns = clock_boot_ns();
    }
}

static bool is_marked(const char *pid)
{
    char path[300], *item = NULL;
    size_t size = 0;
    bool found = false;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%s/environ", pid);
    file = fopen(path, "re");
    while (file && !found && getdelim(&item, &size, '\0', file) > 0)
        found = strcmp(item, mark) == 0;
    free(item);
    if (file)
        fclose(file);
    return found;
}

/* Counts processes that were started with the mark, whatever their parent. */
static int processes_left(void)
{
    DIR *dir = opendir("/proc");
    const struct dirent *entry;
    int n = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            n += is_marked(entry->d_name);
    closedir(dir);
    return n;
}

static void text_of(const struct capture *capture, struct buf *out)
{
    buf_init(out, 1 << 20);
    capture_text(capture, out);
}

static void output_and_exit_status_are_told(void **state)
{
    struct child *child = start("echo out; echo err >&2; exit 3", 0);
    char text[CHILD_END_BYTES];
    struct buf out, err;

    (void)state;
    run(child);
    text_of(child_stdout(child), &out);
    text_of(child_stderr(child), &err);
    assert_string_equal(buf_text(&out), "out\n");
    assert_string_equal(buf_text(&err), "err\n");
    child_end_text(child_end(child), text);
    assert_string_equal(text, "exit status 3");
    buf_fini(&out);
    buf_fini(&err);
    child_free(child);
}

static void death_by_signal_is_told(void **state)
{
    struct child *child = start("kill -SEGV $$", 0);
    char text[CHILD_END_BYTES];

    (void)state;
    run(child);
    child_end_text(child_end(child), text);
    assert_string_equal(text, "signal 11 (SIGSEGV)");
    assert_false(child_end(child)->timed_out);
    child_free(child);
}

static void program_that_is_not_there_says_so(void **state)
{
    struct child_spec spec = {
        .argv = (const char *[]){ "/nowhere/nvcc", NULL },
        .env = env,
        .folder = "/",
    };
    struct child *child;
    struct buf text;

    (void)state;
    assert_int_equal(child_start(&spec, clock_boot_ns(), &child, NULL), 0);
    run(child);
    assert_int_equal(child_end(child)->status, 127);
    text_of(child_stderr(child), &text);
    assert_string_equal(buf_text(&text), "No such file or directory");
    buf_fini(&text);
    child_free(child);
}

static void hanging_program_is_ended_at_its_limit(void **state)
{
    struct child *child = start("sleep 1000", NS_PER_S / 5);

    (void)state;
    run(child);
    assert_true(child_end(child)->timed_out);
    assert_false(child_end(child)->exited);
    assert_true(child_end(child)->seconds < 2);
    assert_int_equal(processes_left(), 0);
    child_free(child);
}

static void program_that_ignores_TERM_is_killed(void **state)
{
    struct child *child =
        start("trap '' TERM; while :; do sleep 0.05; done", NS_PER_S / 5);

    (void)state;
    run(child);
    assert_true(child_end(child)->timed_out);
    assert_int_equal(child_end(child)->signal, 9);
    assert_int_equal(processes_left(), 0);
    child_free(child);
}

static void process_in_a_session_of_its_own_goes_with_the_child(void **state)
{
    struct child *child = start("setsid sh -c 'trap \"\" TERM HUP; sleep 1000; "
                                "sleep 1000' >/dev/null 2>&1 & exit 0",
                                0);

    (void)state;
    run(child);
    assert_true(child_end(child)->exited);
    assert_int_equal(processes_left(), 0);
    child_free(child);
}

static void tree_of_sessions_goes_with_the_child(void **state)
{
    struct child *child =
        start("f() { if [ $1 -gt 0 ]; then for i in 1 2; do setsid sh -c \""
              "sleep 1000\" & (f $(($1 - 1))) & done; fi; sleep 1000; }; f 3",
              NS_PER_S / 2);

    (void)state;
    run(child);
    assert_true(child_end(child)->timed_out);
    assert_int_equal(processes_left(), 0);
    child_free(child);
}

static void held_pipe_does_not_keep_a_child_from_ending(void **state)
{
    struct child *child = start("setsid sleep 1000 & echo done", 0);
    struct buf text;

    (void)state;
    run(child);
    text_of(child_stdout(child), &text);
    assert_string_equal(buf_text(&text), "done\n");
    buf_fini(&text);
    child_free(child);
}

static void endless_output_is_cut_in_the_middle(void **state)
{
    struct child *child =
        start("echo first; yes 0123456789 | head -c 8000000; echo last", 0);
    struct buf text;

    (void)state;
    run(child);
    text_of(child_stdout(child), &text);
    assert_int_equal(child_stdout(child)->total, 8000011);
    assert_true(text.len < CAPTURE_HEAD + CAPTURE_TAIL + 64);
    assert_memory_equal(text.bytes, "first\n", 6);
    assert_non_null(strstr(text.bytes, "\n[... 7934475 bytes left out ...]\n"));
    assert_string_equal(text.bytes + text.len - 5, "last\n");
    buf_fini(&text);
    child_free(child);
}

static void freed_child_leaves_nothing(void **state)
{
    struct child *child = start("setsid sleep 1000 & sleep 1000", 0);
    int64_t until_ns = clock_boot_ns() + 10 * NS_PER_S;

    (void)state;
    while (processes_left() < 3)
        assert_true(clock_boot_ns() < until_ns);
    child_finish(child, 5 * NS_PER_S);
    assert_int_equal(processes_left(), 0);
}

static void interactive_child_talks(void **state)
{
    struct child_spec spec = {
        .argv = (const char *[]){ "/bin/cat", NULL },
        .env = env,
        .folder = "/",
        .interactive = true,
    };
    struct child *child;
    char text[8] = "";

    (void)state;
    assert_int_equal(child_start(&spec, clock_boot_ns(), &child, NULL), 0);
    assert_int_equal(write(child_in(child), "hello\n", 6), 6);
    child_close_in(child);
    run(child);
    assert_int_equal(read(child_out(child), text, sizeof(text) - 1), 6);
    assert_string_equal(text, "hello\n");
    child_free(child);
}

static void environment_is_only_what_was_given(void **state)
{
    struct child *child = start("env | grep -v ^PWD= | grep -v ^_= | "
                                "grep -v ^SHLVL= | sort; ls /proc/self/fd",
                                0);
    struct buf text;
    char expected[80]; /* descriptor 3 is ls's own */

    (void)state;
    run(child);
    text_of(child_stdout(child), &text);
    snprintf(expected, sizeof(expected), "%s\nPATH=/usr/bin:/bin\n0\n1\n2\n3\n",
             mark);
    assert_string_equal(buf_text(&text), expected);
    buf_fini(&text);
    child_free(child);
}

static void processes_that_breed_are_all_ended(void **state)
{
    struct child *child =
        start("b() { [ $1 -gt 0 ] && { b $(($1 - 1)) & b $(($1 - 1)) & }; "
              "trap '' TERM HUP INT; while :; do sleep 0.2; done; }; b 4",
              NS_PER_S);

    (void)state;
    run(child);
    assert_true(child_end(child)->timed_out);
    assert_int_equal(processes_left(), 0);
    child_free(child);
}

/* As after kill -9 of the worker. */
static void death_of_the_worker_ends_its_children(void **state)
{
    int64_t until_ns = clock_boot_ns() + 10 * NS_PER_S;
    pid_t worker = fork();
    int status;

    (void)state;
    if (worker == 0) {
        start("setsid sleep 1000 & trap '' TERM; while :; do sleep 1; done", 0);
        for (;;)
            pause();
    }
    assert_true(worker > 0);
    while (processes_left() < 3)
        assert_true(clock_boot_ns() < until_ns);
    kill(worker, SIGKILL);
    assert_int_equal(waitpid(worker, &status, 0), worker);
    while (processes_left() > 0)
        assert_true(clock_boot_ns() < until_ns);
}

/* CUDA reads /proc/PID of itself. */
static void process_finds_itself_in_proc(void **state)
{
    struct child *child = start("tr '\\0' ' ' </proc/$$/cmdline", 0);
    struct buf text;

    (void)state;
    run(child);
    text_of(child_stdout(child), &text);
    assert_memory_equal(buf_text(&text), "/bin/sh -c tr", 13);
    buf_fini(&text);
    child_free(child);
}

static int set_mark(void **state)
{
    (void)state;
    snprintf(mark, sizeof(mark), "FA_TEST_CHILD=%d", (int)getpid());
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_exit_status_are_told),
        cmocka_unit_test(death_by_signal_is_told),
        cmocka_unit_test(program_that_is_not_there_says_so),
        cmocka_unit_test(hanging_program_is_ended_at_its_limit),
        cmocka_unit_test(program_that_ignores_TERM_is_killed),
        cmocka_unit_test(process_in_a_session_of_its_own_goes_with_the_child),
        cmocka_unit_test(tree_of_sessions_goes_with_the_child),
        cmocka_unit_test(held_pipe_does_not_keep_a_child_from_ending),
        cmocka_unit_test(endless_output_is_cut_in_the_middle),
        cmocka_unit_test(freed_child_leaves_nothing),
        cmocka_unit_test(interactive_child_talks),
        cmocka_unit_test(processes_that_breed_are_all_ended),
        cmocka_unit_test(death_of_the_worker_ends_its_children),
        cmocka_unit_test(process_finds_itself_in_proc),
        cmocka_unit_test(environment_is_only_what_was_given),
    };

    int failed = 0;

    for (int kind = SUPERVISOR_NAMESPACE; kind < SUPERVISOR_KINDS; kind++) {
        child_setup_from((enum supervisor_kind)kind);
        failed += cmocka_run_group_tests_name(child_containment(), tests,
                                              set_mark, NULL);
    }
    return failed;
}
