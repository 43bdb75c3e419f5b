#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/store/build_dir.h"
#include "worker/store/instance.h"

static char home[40];

static int setup(void **state)
{
    (void)state;
    snprintf(home, sizeof(home), "/tmp/fa-instance-XXXXXX");
    return mkdtemp(home) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return build_dir_remove_tree(home) ? 0 : -1;
}

static struct instance of(const char *gpus)
{
    struct instance instance;
    struct err err;

    assert_int_equal(instance_open(home, gpus, &instance, &err), 0);
    return instance;
}

static void assert_below_home(const char *path, const char *expected)
{
    assert_memory_equal(path, home, strlen(home));
    assert_string_equal(path + strlen(home), expected);
}

static void a_folder_that_was_removed_is_gone(void **state)
{
    struct instance all = of("all"), pair = of("0,1");
    struct instance_lock lock_all, lock_pair;
    char moved[60];
    struct err err;

    (void)state;
    assert_int_equal(instance_lock(&all, &lock_all, &err), 0);
    assert_int_equal(instance_lock(&pair, &lock_pair, &err), 0);
    assert_false(instance_is_gone(&all, &lock_all));
    assert_false(instance_is_gone(&pair, &lock_pair));
    snprintf(moved, sizeof(moved), "%s.moved", home);
    assert_int_equal(rename(home, moved), 0);
    assert_true(instance_is_gone(&all, &lock_all));
    assert_int_equal(rename(moved, home), 0);
    assert_false(instance_is_gone(&pair, &lock_pair));
    assert_true(build_dir_remove_tree(home));
    assert_true(instance_is_gone(&all, &lock_all));
    assert_int_equal(mkdir(home, 0700), 0); /* by the next worker */
    pair = of("0,1");
    assert_true(instance_is_gone(&all, &lock_all));
    assert_true(instance_is_gone(&pair, &lock_pair));
    instance_unlock(&lock_all);
    instance_unlock(&lock_pair);
}

static void that_of_all_is_the_folder_itself(void **state)
{
    struct instance all = of("all"), none = of("none");

    (void)state;
    assert_string_equal(all.dir, home);
    assert_below_home(all.socket, "/control.sock");
    assert_string_equal(none.socket, all.socket);
}

static void a_set_has_a_folder_and_a_socket(void **state)
{
    char many[] = "0,1,2,3,4,5,6,7";
    struct instance pair = of("0,1"), eight = of(many), other;

    (void)state;
    assert_below_home(pair.dir, "/gpus-0,1");
    assert_below_home(pair.socket, "/gpus-0,1.sock");
    assert_int_equal(access(pair.dir, W_OK), 0);
    many[14] = '8';
    other = of(many);
    assert_string_not_equal(other.socket, eight.socket);
    /* not longer than what WORKDIR_BYTES allows for */
    assert_int_equal(strlen(eight.socket) - strlen(home),
                     strlen("/relay-4194304.sock"));
}

static void each_is_locked_for_itself(void **state)
{
    struct instance all = of("all"), zero = of("0"), one = of("1");
    struct instance_lock first, second, third;
    struct err err;

    (void)state;
    assert_int_equal(instance_count(home), 0);
    assert_int_equal(instance_lock(&all, &first, &err), 0);
    assert_int_equal(instance_lock(&zero, &second, &err), 0);
    assert_int_equal(instance_count(home), 2);
    assert_int_equal(instance_lock(&zero, &third, &err), ERR_DEVICE);
    instance_unlock(&third); /* holds nothing */
    assert_int_equal(instance_lock(&one, &third, &err), 0);
    assert_int_equal(instance_count(home), 3);
    instance_unlock(&second);
    assert_int_equal(instance_count(home), 2);
    instance_unlock(&first);
    instance_unlock(&third);
    assert_int_equal(instance_count(home), 0);
}

/* They lock DIR/lock alone. */
static void older_versions_and_this_one_exclude_each_other(void **state)
{
    struct instance zero = of("0");
    struct instance_lock lock;
    char path[64];
    struct err err;
    int old;

    (void)state;
    snprintf(path, sizeof(path), "%s/lock", home);
    old = workdir_lock(path, LOCK_EX, &err);
    assert_true(old >= 0);
    assert_int_equal(instance_lock(&zero, &lock, &err), INSTANCE_ALONE);
    assert_non_null(strstr(err.text, "another worker (pid "));
    close(old);
    assert_int_equal(instance_lock(&zero, &lock, &err), 0);
    assert_int_equal(workdir_lock(path, LOCK_EX, &err), ERR_DEVICE);
    instance_unlock(&lock);
}

static void note(void *data, const struct instance *instance)
{
    char *names = data;

    snprintf(names + strlen(names), 64 - strlen(names), "[%s]", instance->name);
}

static void those_that_were_are_found(void **state)
{
    const char *const others[] = { "gpus-.lock", "gpus-012345678.lock",
                                   "worker.log", "lock" };
    struct instance pair = of("0,1");
    char names[64] = "", path[96];
    struct instance_lock lock;
    struct err err;

    (void)state;
    instance_each(home, note, names);
    assert_string_equal(names, "[]");
    assert_int_equal(instance_lock(&pair, &lock, &err), 0);
    instance_unlock(&lock);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", home, others[i]);
        fclose(fopen(path, "w"));
    }
    instance_each(home, note, names);
    assert_string_equal(names, "[][][0,1]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_folder_that_was_removed_is_gone,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(that_of_all_is_the_folder_itself, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_set_has_a_folder_and_a_socket, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(each_is_locked_for_itself, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            older_versions_and_this_one_exclude_each_other, setup, teardown),
        cmocka_unit_test_setup_teardown(those_that_were_are_found, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
