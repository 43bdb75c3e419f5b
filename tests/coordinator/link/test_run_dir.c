#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/link/run_dir.h"

static char base[] = "/tmp/fa-rundir-XXXXXX";

static int make_base(void **state)
{
    (void)state;
    return mkdtemp(base) ? setenv("XDG_RUNTIME_DIR", base, 1) : -1;
}

static int remove_base(void **state)
{
    (void)state;
    return rmdir(base); /* fails when something was left in it */
}

static void it_is_private_and_removed_with_its_files(void **state)
{
    struct run_dir run_dir = { 0 };
    char path[RUN_DIR_PATH_BYTES];
    struct stat st;
    FILE *f;

    (void)state;
    assert_int_equal(run_dir_open(&run_dir, NULL), 0);
    assert_int_equal(stat(run_dir.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    run_dir_file(&run_dir, "router", path);
    f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    run_dir_close(&run_dir);
    assert_int_equal(access(path, F_OK), -1);
}

static void what_a_killed_one_left_is_removed_by_the_next(void **state)
{
    struct run_dir run_dir = { 0 };
    char stale[128], living[128];
    pid_t child = fork();

    (void)state;
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    snprintf(stale, sizeof(stale), "%s/fa-coord-%u-%d", base,
             (unsigned)geteuid(), (int)child);
    snprintf(living, sizeof(living), "%s/fa-coord-%u-%d", base,
             (unsigned)geteuid(), (int)getppid());
    assert_int_equal(mkdir(stale, 0700), 0);
    assert_int_equal(mkdir(living, 0700), 0);
    assert_int_equal(run_dir_open(&run_dir, NULL), 0);
    assert_int_equal(access(stale, F_OK), -1);
    assert_int_equal(access(living, F_OK), 0);
    run_dir_close(&run_dir);
    assert_int_equal(rmdir(living), 0);
}

static void a_base_too_long_for_a_socket_names_the_remedy(void **state)
{
    struct run_dir run_dir = { 0 };
    char deep[128];
    struct err err;

    (void)state;
    snprintf(deep, sizeof(deep), "%s/%080d", base, 0);
    assert_int_equal(mkdir(deep, 0700), 0);
    setenv("XDG_RUNTIME_DIR", deep, 1);
    assert_int_equal(run_dir_open(&run_dir, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, "set XDG_RUNTIME_DIR to a shorter"));
    setenv("XDG_RUNTIME_DIR", base, 1);
    assert_int_equal(rmdir(deep), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_private_and_removed_with_its_files),
        cmocka_unit_test(what_a_killed_one_left_is_removed_by_the_next),
        cmocka_unit_test(a_base_too_long_for_a_socket_names_the_remedy),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
