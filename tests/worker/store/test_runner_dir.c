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

#include "worker/store/build_dir.h"
#include "worker/store/runner_dir.h"

static char dir[] = "/tmp/fa-test-runner-XXXXXX";
static struct runner_dir runner_dir;

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(runner_dir_open(dir, &runner_dir, NULL), 0);
    return 0;
}

static int tear_down(void **state)
{
    struct stat st;

    (void)state;
    runner_dir_close(&runner_dir);
    assert_int_equal(stat(runner_dir.path, &st), -1);
    assert_true(build_dir_remove_tree(dir));
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    return 0;
}

/* A file outside of the folder. */
static void put_file(const char *name, char path[PATH_MAX])
{
    FILE *file;

    snprintf(path, PATH_MAX, "%s/%s", dir, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(name, file);
    fclose(file);
}

static void assert_text(const char *path, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_non_null(fgets(found, sizeof(found), file));
    fclose(file);
    assert_string_equal(found, text);
}

static void a_file_is_there_under_its_name(void **state)
{
    char from[PATH_MAX], path[PATH_MAX], again[PATH_MAX], files[PATH_MAX];

    (void)state;
    put_file("artifact", from);
    assert_int_equal(runner_dir_put(&runner_dir, from, path, NULL), 0);
    assert_text(path, "artifact");
    runner_dir_path(&runner_dir, "files", files);
    assert_memory_equal(path, files, strlen(files));
    /* the reference may be the same */
    assert_int_equal(runner_dir_put(&runner_dir, from, again, NULL), 0);
    assert_string_equal(again, path);
    unlink(from); /* evicted from the cache */
    assert_text(path, "artifact");
}

static void a_file_of_another_file_system_is_copied(void **state)
{
    char path[PATH_MAX];

    (void)state;
    assert_int_equal(runner_dir_put(&runner_dir, "/proc/version", path, NULL),
                     0);
    assert_int_equal(access(path, R_OK), 0);
}

static void the_files_of_the_last_request_go(void **state)
{
    char from[PATH_MAX], path[PATH_MAX];

    (void)state;
    put_file("artifact", from);
    assert_int_equal(runner_dir_put(&runner_dir, from, path, NULL), 0);
    runner_dir_clear(&runner_dir);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(from, F_OK), 0);
}

static void a_file_that_is_missing_is_named(void **state)
{
    char path[PATH_MAX];
    struct err err;

    (void)state;
    assert_int_equal(runner_dir_put(&runner_dir, "/nowhere/a", path, &err),
                     ERR_SYSTEM);
    assert_string_equal(err.text, "'/nowhere/a': No such file or directory");
}

#define each(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        each(a_file_is_there_under_its_name),
        each(a_file_of_another_file_system_is_copied),
        each(the_files_of_the_last_request_go),
        each(a_file_that_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
