#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/runner/secret.h"

static void forked_process_does_not_have_it(void **state)
{
    char *secret = secret_new(5);
    int fds[2], status = 0;
    pid_t pid;

    (void)state;
    assert_non_null(secret);
    memcpy(secret, "1234", 5);
    assert_int_equal(pipe(fds), 0);
    pid = fork();
    if (pid == 0) /* a call with a bad address fails, and is no fault */
        _exit(write(fds[1], secret, 5) < 0 ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_string_equal(secret, "1234");
    close(fds[0]);
    close(fds[1]);
    secret_free(secret, 5);
}

static void nothing_needs_no_memory(void **state)
{
    void *secret = secret_new(0);

    (void)state;
    assert_non_null(secret);
    secret_free(secret, 0);
    secret_free(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forked_process_does_not_have_it),
        cmocka_unit_test(nothing_needs_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
