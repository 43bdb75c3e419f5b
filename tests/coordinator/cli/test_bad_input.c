/* For each sweep file of tests/fixtures/bad_input, 'fa-coord check' prints the
 * text in expected.txt and ends with exit code 2. CTest kills a run that
 * hangs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"

#define FOLDER FA_SOURCE_DIR "/tests/fixtures/bad_input"
#define PROGRAM FA_BINARY_DIR "/bin/fa-coord"
#define TEXT_MAX 65536
#define CASES_MIN 25

static void read_all(int fd, struct buf *out)
{
    char chunk[4096];
    ssize_t n;

    while ((n = read(fd, chunk, sizeof(chunk))) > 0)
        buf_add(out, chunk, (size_t)n);
    close(fd);
}

/* Run the program in a folder; returns its stderr and its exit code. */
static int check(const char *folder, struct buf *out)
{
    int ends[2], status;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        if (chdir(folder) == 0)
            execl(PROGRAM, "fa-coord", "check", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    read_all(ends[0], out);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_case(const char *name)
{
    char path[512];
    struct buf expected, got;
    int fd, code;

    buf_init(&expected, TEXT_MAX);
    buf_init(&got, TEXT_MAX);
    snprintf(path, sizeof(path), "%s/%s/expected.txt", FOLDER, name);
    fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    read_all(fd, &expected);
    *strrchr(path, '/') = '\0';
    code = check(path, &got);
    if (code != 2 || strcmp(buf_text(&got), buf_text(&expected)) != 0)
        fail_msg("%s: exit %d\n%s\nnot\n%s", name, code, buf_text(&got),
                 buf_text(&expected));
    buf_fini(&expected);
    buf_fini(&got);
}

static void every_flaw_has_its_message(void **state)
{
    struct dirent **list;
    int n = scandir(FOLDER, &list, NULL, alphasort), cases = 0;

    (void)state;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        if (list[i]->d_name[0] != '.') {
            check_case(list[i]->d_name);
            cases++;
        }
        free(list[i]);
    }
    free(list);
    assert_true(cases >= CASES_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flaw_has_its_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
