#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "coordinator/prune/prune_cache.h"
#include "coordinator/prune/prune_list.h"

#define OLD "0123456789abcdef0123456789abcdef"
#define NEW "fedcba9876543210fedcba9876543210"
#define NOW_S 2000000000
#define WEEK_S 604800

static char folder[32];
static struct prune_list list;

static void make(const char *name, const char *text, int64_t age_s)
{
    const struct timespec used = { .tv_sec = NOW_S - age_s };
    const struct timespec times[2] = { used, used };
    char path[80];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool is_there(const char *name)
{
    char path[80];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/fa_prune_XXXXXX");
    assert_non_null(mkdtemp(folder));
    list = (struct prune_list){ .older_s = WEEK_S };
    make(OLD, "cubin", WEEK_S);
    make(NEW, "cubin", WEEK_S - 1);
    make("put-a1b2c3", "cu", WEEK_S);
    make("notes.txt", "mine", WEEK_S);
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = { OLD, NEW, "put-a1b2c3", "notes.txt" };
    char path[80];

    (void)state;
    prune_list_fini(&list);
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        (void)unlink(path); /* some were removed */
    }
    return rmdir(folder);
}

static void only_what_is_old_goes(void **state)
{
    size_t n;

    (void)state;
    prune_cache(folder, NOW_S, &list);
    assert_int_equal(prune_list_bytes(&list, false, &n), 7);
    assert_int_equal(n, 2);
    assert_false(is_there(OLD));
    assert_false(is_there("put-a1b2c3"));
    assert_true(is_there(NEW));
    assert_true(is_there("notes.txt"));
}

static void a_dry_run_removes_nothing(void **state)
{
    size_t n;

    (void)state;
    list.dry_run = true;
    prune_cache(folder, NOW_S, &list);
    assert_int_equal(prune_list_bytes(&list, false, &n), 7);
    assert_true(is_there(OLD));
    assert_true(is_there("put-a1b2c3"));
}

static void without_a_folder_there_is_nothing(void **state)
{
    (void)state;
    prune_cache("/nowhere/artifacts", NOW_S, &list);
    assert_int_equal(list.n, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(only_what_is_old_goes),
        CASE(a_dry_run_removes_nothing),
        CASE(without_a_folder_there_is_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
