/* fa-worker needs no library of the machine on which it starts. */
#include <elf.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/mem.h"

#define WORKER FA_BINARY_DIR "/bin/fa-worker"
#define NOT_PERMITTED 77
#define PROGRAM_MAX (256 << 20)

static char *read_program(size_t *len)
{
    FILE *file = fopen(WORKER, "r");
    struct stat st;
    char *bytes;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &st), 0);
    assert_in_range(st.st_size, sizeof(Elf64_Ehdr), PROGRAM_MAX);
    *len = (size_t)st.st_size;
    bytes = mem_new(*len, 1);
    assert_int_equal(fread(bytes, 1, *len, file), *len);
    fclose(file);
    return bytes;
}

static void it_names_no_interpreter(void **state)
{
    size_t len;
    char *bytes = read_program(&len);
    Elf64_Ehdr head;

    (void)state;
    memcpy(&head, bytes, sizeof(head));
    assert_memory_equal(head.e_ident, ELFMAG, SELFMAG);
    assert_true(head.e_phnum > 0);
    for (size_t i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part;

        assert_true(head.e_phoff + (i + 1) * sizeof(part) <= len);
        memcpy(&part, bytes + head.e_phoff + i * sizeof(part), sizeof(part));
        assert_int_not_equal(part.p_type, PT_INTERP);
        assert_int_not_equal(part.p_type, PT_DYNAMIC);
    }
    free(bytes);
}

static void put_program(const char *path)
{
    size_t len;
    char *bytes = read_program(&len);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0755), 0);
    free(bytes);
}

static void run_alone(const char *root, int out)
{
    char *const args[] = { (char[]){ "fa-worker" }, (char[]){ "--version" },
                           NULL };
    char *const none[] = { NULL };

    if (chroot(root) < 0 && (unshare(CLONE_NEWUSER) < 0 || chroot(root) < 0))
        _exit(NOT_PERMITTED);
    if (chdir("/") < 0 || dup2(out, 1) < 0)
        _exit(1);
    execve("/fa-worker", args, none);
    _exit(1);
}

static void it_runs_where_nothing_else_is(void **state)
{
    char root[] = "/tmp/fa-static-XXXXXX", text[64] = "";
    char *path;
    int out[2], status;
    pid_t pid;

    (void)state;
    assert_non_null(mkdtemp(root));
    path = mem_printf("%s/fa-worker", root);
    put_program(path);
    assert_int_equal(pipe(out), 0);
    pid = fork();
    if (pid == 0)
        run_alone(root, out[1]);
    close(out[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(read(out[0], text, sizeof(text) - 1) >= 0);
    close(out[0]);
    unlink(path);
    rmdir(root);
    free(path);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NOT_PERMITTED)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_string_equal(text, "fa-worker " FA_VERSION "\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_names_no_interpreter),
        cmocka_unit_test(it_runs_where_nothing_else_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
