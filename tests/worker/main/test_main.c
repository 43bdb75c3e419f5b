#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WORKER FA_BINARY_DIR "/bin/fa-worker"

/* Its exit status, or -1 after a signal; its output must contain 'expected'. */
static int run(const char *const *args, const char *expected)
{
    char text[512] = "";
    int out[2], status;
    pid_t pid;
    ssize_t n;

    assert_int_equal(pipe(out), 0);
    pid = fork();
    if (pid == 0) {
        close(0);
        dup2(out[1], 1);
        dup2(out[1], 2);
        close(out[0]);
        close(out[1]);
        execv(WORKER, (char *const *)args);
        _exit(127);
    }
    close(out[1]);
    for (size_t len = 0;
         (n = read(out[0], text + len, sizeof(text) - 1 - len)) > 0;)
        len += (size_t)n;
    close(out[0]);
    waitpid(pid, &status, 0);
    if (!strstr(text, expected))
        fail_msg("'%s' lacks '%s'", text, expected);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_command_line_is_checked(void **state)
{
    char folder[] = "/tmp/fa-main-XXXXXX", deep[160];
    const char *const hash[] = { "fa-worker", "--hash", "/nowhere", NULL };
    const char *const unknown[] = { "fa-worker", "--atach", NULL };
    const char *const half[] = { "fa-worker", "--workdir", NULL };
    const char *const version[] = { "fa-worker", "--version", NULL };
    const char *const help[] = { "fa-worker", "--help", NULL };
    const char *const far[] = { "fa-worker", "--attach", "--workdir", deep,
                                NULL };

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(deep, sizeof(deep), "%s/%0100d", folder, 1);
    assert_int_equal(run(unknown, "unknown option '--atach'"), 2);
    assert_int_equal(run(half, "--workdir needs a value"), 2);
    assert_int_equal(run(version, "fa-worker " FA_VERSION "\n"), 0);
    assert_int_equal(run(help, "usage: fa-worker"), 0);
    assert_int_equal(run(hash, "/nowhere"), 1);
    assert_int_equal(run(far, "choose another one with workdir="), 1);
    rmdir(deep);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_command_line_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
