#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/store/dblock.h"
#include "coordinator/store/dbnew.h"
#include "tests/coordinator/store/store_fixture.h"

static bool is_there(const char *path, const char *end)
{
    char *name = mem_printf("%s%s", path, end);
    struct stat st;
    bool there = lstat(name, &st) == 0;

    free(name);
    return there;
}

static void nothing_is_left(const char *path)
{
    static const char *const ends[] = { DBNEW_PART, DBNEW_PART "-wal",
                                        DBNEW_PART "-shm", DBNEW_PART ".lock" };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        assert_false(is_there(path, ends[i]));
}

static struct dbnew *fill(const char *path)
{
    struct dbnew *dbnew;
    struct err err;

    if (dbnew_open(path, &dbnew, &err) < 0)
        fail_msg("%s", err.text);
    fixture_run(dbnew_store(dbnew), FIXTURE_EPOCH);
    assert_int_equal(store_commit(dbnew_store(dbnew), &err), 0);
    return dbnew;
}

static void make(const char *path)
{
    struct dbnew *dbnew = fill(path);
    struct store *store;
    struct err err;

    assert_false(is_there(path, ""));
    assert_int_equal(dbnew_close(dbnew, 0, &err), 0);
    store = fixture_open(path, STORE_READ);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM run"), 1);
    store_close(store);
    nothing_is_left(path);
}

static void it_has_its_name_when_it_is_whole(void **state)
{
    struct dbnew *dbnew;
    struct err err;

    make(*state);
    assert_int_equal(dbnew_open(*state, &dbnew, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "exists already"));
    assert_null(dbnew);
}

static void a_killed_one_leaves_none_and_the_next_one_works(void **state)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        fill(*state);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_true(is_there(*state, DBNEW_PART));
    assert_false(is_there(*state, ""));
    make(*state);
}

static void one_that_cannot_be_filled_is_removed(void **state)
{
    struct dbnew *dbnew = fill(*state);
    struct err err;

    err_set(&err, ERR_INPUT, "why");
    assert_int_equal(dbnew_close(dbnew, ERR_INPUT, &err), ERR_INPUT);
    assert_string_equal(err.text, "why");
    assert_false(is_there(*state, ""));
    nothing_is_left(*state);
    make(*state);
}

static void a_second_one_is_told_who_makes_it(void **state)
{
    struct dbnew *dbnew = fill(*state), *second;
    struct err err;

    assert_int_equal(dbnew_open(*state, &second, &err), ERR_STORE);
    assert_non_null(strstr(err.text, "in use by fa-coord with pid"));
    assert_int_equal(dbnew_close(dbnew, 0, &err), 0);
    assert_true(is_there(*state, ""));
}

/* A folder has the name that it is to have until it is whole. */
static void one_that_cannot_be_made_is_free_for_the_next_command(void **state)
{
    char *part = mem_printf("%s" DBNEW_PART, (char *)*state);
    struct dblock_holder holder;
    struct dbnew *dbnew;
    struct err err;

    assert_int_equal(mkdir(part, 0700), 0);
    assert_int_equal(dbnew_open(*state, &dbnew, &err), ERR_STORE);
    assert_null(dbnew);
    assert_false(dblock_is_held(*state, &holder));
    assert_int_equal(rmdir(part), 0);
    make(*state);
    free(part);
}

/* Its lock may be descriptor 0. */
static void one_is_made_without_standard_input(void **state)
{
    int in = dup(STDIN_FILENO);

    close(STDIN_FILENO);
    make(*state);
    assert_int_equal(dup2(in, STDIN_FILENO), STDIN_FILENO);
    close(in);
}

static void one_in_a_folder_that_is_not_there_is_refused(void **state)
{
    char *path = mem_printf("%s/x.db", (char *)*state);
    struct dbnew *dbnew;
    struct err err;

    assert_int_equal(dbnew_open(path, &dbnew, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "there is no folder '"));
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_has_its_name_when_it_is_whole,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(
            a_killed_one_leaves_none_and_the_next_one_works, fixture_setup,
            fixture_teardown),
        cmocka_unit_test_setup_teardown(one_that_cannot_be_filled_is_removed,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_second_one_is_told_who_makes_it,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(one_is_made_without_standard_input,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(
            one_in_a_folder_that_is_not_there_is_refused, fixture_setup,
            fixture_teardown),
        cmocka_unit_test_setup_teardown(
            one_that_cannot_be_made_is_free_for_the_next_command, fixture_setup,
            fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
