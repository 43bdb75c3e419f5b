/* stdout as a stream that never waits.  Each test is a process of its own,
 * since it replaces its stdout. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/live/patient_stdio.h"
#include "coordinator/text/terminal.h"

/* Two lines: the first is written when it ends, before anybody asks. */
static int print_to_nobody(void)
{
    int ends[2], rc;
    struct err err;

    signal(SIGPIPE, SIG_IGN);
    if (pipe(ends) < 0 || dup2(ends[1], STDOUT_FILENO) < 0)
        return 2;
    close(ends[1]);
    patient_stdio_begin(); /* opens the pipe again, which needs its reader */
    close(ends[0]);
    printf("one\n");
    printf("two\n");
    rc = terminal_flush(stdout, &err);
    patient_stdio_end();
    return rc < 0 || terminal_flush(stdout, &err) < 0;
}

static void a_reader_that_has_gone_is_no_error(void **state)
{
    int status;
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        _exit(print_to_nobody());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_that_has_gone_is_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
