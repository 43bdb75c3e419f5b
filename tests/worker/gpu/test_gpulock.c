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

#include "worker/gpu/gpulock.h"

#define UUID "GPU-0f1e2d3c-0000-1111-2222-333344445555"

static char parent[40], folder[64], file[128];

static int setup(void **state)
{
    (void)state;
    snprintf(parent, sizeof(parent), "/tmp/fa-gpulock-XXXXXX");
    assert_non_null(mkdtemp(parent));
    snprintf(folder, sizeof(folder), "%s/locks", parent);
    snprintf(file, sizeof(file), "%s/" UUID, folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(file);
    if (rmdir(folder) < 0)
        unlink(folder);
    return rmdir(parent);
}

static void a_held_gpu_names_its_holder(void **state)
{
    char expected[128];
    struct err err;
    int fd = gpulock_take(folder, UUID, &err);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(gpulock_take(folder, UUID, &err), ERR_DEVICE);
    snprintf(expected, sizeof(expected),
             "GPU " UUID " is in use by another worker, pid %d", (int)getpid());
    assert_string_equal(err.text, expected);
    close(fd);
    fd = gpulock_take(folder, UUID, &err);
    assert_true(fd >= 0);
    close(fd);
}

static void every_user_can_use_the_folder_and_the_file(void **state)
{
    mode_t old = umask(077);
    int fd = gpulock_take(folder, UUID, NULL);
    struct stat st;

    (void)state;
    umask(old);
    assert_int_equal(stat(folder, &st), 0);
    assert_int_equal(st.st_mode & 07777, 01777);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0666);
    close(fd);
}

static void a_link_in_place_of_the_folder_is_refused(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(symlink(parent, folder), 0);
    assert_int_equal(gpulock_take(folder, UUID, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, "mode 1777"));
}

static void a_link_in_place_of_the_file_is_refused(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(symlink("/etc/passwd", file), 0);
    assert_int_equal(gpulock_take(folder, UUID, &err), ERR_SYSTEM);
}

static void a_name_that_is_a_path_is_refused(void **state)
{
    static const char *const names[] = { "", ".", "..", "../x", "a/b", "a b" };
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(gpulock_take(folder, names[i], &err), ERR_INPUT);
}

#define placed(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        placed(a_held_gpu_names_its_holder),
        placed(every_user_can_use_the_folder_and_the_file),
        placed(a_link_in_place_of_the_folder_is_refused),
        placed(a_link_in_place_of_the_file_is_refused),
        placed(a_name_that_is_a_path_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
