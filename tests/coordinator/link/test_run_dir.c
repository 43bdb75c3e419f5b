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
    snprintf(stale, sizeof(stale), "%s/fa-coord-%u-%d-aB3dE6", base,
             (unsigned)geteuid(), (int)child);
    snprintf(living, sizeof(living), "%s/fa-coord-%u-%d-aB3dE6", base,
             (unsigned)geteuid(), (int)getppid());
    assert_int_equal(mkdir(stale, 0700), 0);
    assert_int_equal(mkdir(living, 0700), 0);
    assert_int_equal(run_dir_open(&run_dir, NULL), 0);
    assert_int_equal(access(stale, F_OK), -1);
    assert_int_equal(access(living, F_OK), 0);
    run_dir_close(&run_dir);
    assert_int_equal(rmdir(living), 0);
}

/* What only looks like one, and what lies beside it. */
static void what_is_not_of_this_program_stays(void **state)
{
    static const char *const tails[] = { "", "-12345", "-123456.old" };
    struct run_dir run_dir = { 0 };
    char path[4][128];
    pid_t child = fork();

    (void)state;
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    for (size_t i = 0; i < 3; i++)
        snprintf(path[i], sizeof(path[i]), "%s/fa-coord-%u-%d%s", base,
                 (unsigned)geteuid(), (int)child, tails[i]);
    snprintf(path[3], sizeof(path[3]), "%s/fa-coord-%u-%d-aB3dE6", base,
             (unsigned)geteuid() + 1, (int)child); /* another user's */
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(mkdir(path[i], 0700), 0);
    assert_int_equal(run_dir_open(&run_dir, NULL), 0);
    run_dir_close(&run_dir);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(rmdir(path[i]), 0);
}

/* As another user could do in /tmp, who knows user and process. */
static void a_name_that_is_taken_stops_nobody(void **state)
{
    struct run_dir first = { 0 }, second = { 0 };
    char taken[128];

    (void)state;
    snprintf(taken, sizeof(taken), "%s/fa-coord-%u-%d", base,
             (unsigned)geteuid(), (int)getpid());
    assert_int_equal(mkdir(taken, 0700), 0);
    assert_int_equal(run_dir_open(&first, NULL), 0);
    assert_int_equal(run_dir_open(&second, NULL), 0);
    assert_string_not_equal(first.path, second.path);
    run_dir_close(&second);
    assert_int_equal(access(first.path, F_OK), 0);
    run_dir_close(&first);
    assert_int_equal(rmdir(taken), 0);
}

/* The longest that fits, and one byte more. */
static void its_path_may_have_91_bytes(void **state)
{
    struct run_dir run_dir = { 0 };
    char deep[128], name[64];
    struct err err;

    (void)state;
    snprintf(name, sizeof(name), "/fa-coord-%u-%d-XXXXXX", (unsigned)geteuid(),
             (int)getpid());
    for (size_t len = 91; len <= 92; len++) {
        snprintf(deep, sizeof(deep), "%s/%0*d", base,
                 (int)(len - strlen(name) - strlen(base) - 1), 0);
        assert_int_equal(mkdir(deep, 0700), 0);
        setenv("XDG_RUNTIME_DIR", deep, 1);
        assert_int_equal(run_dir_open(&run_dir, &err),
                         len == 91 ? 0 : ERR_SYSTEM);
        assert_int_equal(strlen(run_dir.path), len == 91 ? 91 : 0);
        run_dir_close(&run_dir);
        assert_int_equal(rmdir(deep), 0);
    }
    setenv("XDG_RUNTIME_DIR", base, 1);
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
        cmocka_unit_test(what_is_not_of_this_program_stays),
        cmocka_unit_test(a_name_that_is_taken_stops_nobody),
        cmocka_unit_test(its_path_may_have_91_bytes),
        cmocka_unit_test(a_base_too_long_for_a_socket_names_the_remedy),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
