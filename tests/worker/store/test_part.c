#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/store/build_dir.h"
#include "worker/store/part.h"

#define HASH "00112233445566778899aabbccddeeff"

static char dir[] = "/tmp/fa-test-part-XXXXXX";
static char path[PATH_MAX];

static int set_up(void **state)
{
    char tmp[sizeof(dir) + 4];

    (void)state;
    memset(dir + strlen(dir) - 6, 'X', 6);
    assert_non_null(mkdtemp(dir));
    snprintf(tmp, sizeof(tmp), "%s/tmp", dir);
    assert_int_equal(mkdir(tmp, 0700), 0);
    assert_int_equal(part_path(dir, HASH, path, NULL), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_true(build_dir_remove_tree(dir));
    return 0;
}

static int add(int64_t offset, const char *text)
{
    return part_add(dir, HASH, offset, (struct bytes){ text, strlen(text) },
                    NULL);
}

static void assert_contents(const char *expected)
{
    char text[64] = "";
    FILE *file = fopen(path, "re");

    assert_non_null(file);
    (void)!fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    assert_string_equal(text, expected);
}

static void chunks_follow_each_other(void **state)
{
    (void)state;
    assert_int_equal(add(0, "one "), 0);
    assert_int_equal(add(4, "two "), 0);
    assert_int_equal(add(8, "three"), 0);
    assert_contents("one two three");
}

static void a_chunk_replaces_what_was_there_from_it_on(void **state)
{
    (void)state;
    assert_int_equal(add(0, "one two three"), 0);
    assert_int_equal(add(4, "2"), 0);
    assert_contents("one 2");
    assert_int_equal(add(0, "1"), 0);
    assert_contents("1");
}

static void it_is_the_owners_alone(void **state)
{
    struct stat stat;

    (void)state;
    assert_int_equal(add(0, "one"), 0);
    assert_int_equal(lstat(path, &stat), 0);
    assert_int_equal(stat.st_mode & 0777, 0600);
}

static void a_link_is_not_followed(void **state)
{
    char other[sizeof(dir) + 8];

    (void)state;
    snprintf(other, sizeof(other), "%s/other", dir);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(add(0, "one"), ERR_SYSTEM);
    assert_int_equal(access(other, F_OK), -1);
}

static void a_folder_that_is_gone_is_named(void **state)
{
    struct err err;

    (void)state;
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(part_add(dir, HASH, 0, (struct bytes){ "x", 1 }, &err),
                     ERR_SYSTEM);
    assert_non_null(strstr(err.text, "/tmp/part-" HASH "'"));
    part_remove(dir, HASH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(chunks_follow_each_other),
        TEST(a_chunk_replaces_what_was_there_from_it_on),
        TEST(it_is_the_owners_alone),
        TEST(a_link_is_not_followed),
        TEST(a_folder_that_is_gone_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
