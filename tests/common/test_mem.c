#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/mem.h"

/* Run it in a process of its own, and read what it says. */
static void says(void (*exhaust)(void), char *out, size_t size)
{
    int stream[2], status;
    ssize_t n;
    pid_t pid;

    assert_int_equal(pipe(stream), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(stream[1], STDERR_FILENO);
        exhaust();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(stream[1]);
    n = read(stream[0], out, size - 1);
    close(stream[0]);
    assert_true(n >= 0);
    out[n] = '\0';
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

static void grow_too_far(void)
{
    (void)mem_grow(NULL, SIZE_MAX / 2, 4);
}

static void without_memory_it_ends_with_a_line_and_a_remedy(void **state)
{
    char text[200];

    (void)state;
    says(mem_exhausted, text, sizeof(text));
    assert_string_equal(text, "test_common_mem: out of memory: free some, or "
                              "raise 'ulimit -v'; what is stored stays, and "
                              "the same command continues\n");
    says(grow_too_far, text, sizeof(text));
    assert_non_null(strstr(text, ": out of memory: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_it_ends_with_a_line_and_a_remedy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
