/* Which databases a run may write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/run.h"
#include "coordinator/tasks/run_store.h"
#include "tests/coordinator/store/store_fixture.h"

static void put_sweep(const char *path, const char *name, const char *device)
{
    struct store *store = fixture_open(path, STORE_CREATE);
    struct store_sweep sweep = fixture_sweep("k1");
    struct err err;
    int64_t id;

    sweep.name = name;
    sweep.device = device;
    if (store_sweep_put(store, &sweep, &id, &err) < 0 ||
        store_commit(store, &err) < 0)
        fail_msg("%s", err.text);
    store_close(store);
}

static int open_for(char *path, const char *name, const char *device,
                    struct err *err)
{
    struct spec spec = { .name = mem_strdup(name) };
    struct run run = { .set = RUN_SETTINGS, .db = path, .spec = &spec };
    struct store *store = NULL;
    int rc;

    run.set.device = device;
    err->text[0] = '\0';
    rc = run_store_open(&run, false, &store, err);
    if (rc == 0)
        store_close(store);
    free(spec.name);
    return rc;
}

static void the_same_sweep_goes_on(void **state)
{
    struct err err;

    put_sweep(*state, "gemm", "cuda");
    assert_int_equal(open_for(*state, "gemm", "cuda", &err), 0);
}

static void a_sweep_of_another_name_is_refused(void **state)
{
    struct err err;

    put_sweep(*state, "gemm", "cuda");
    assert_int_equal(open_for(*state, "softmax", "cuda", &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "holds the sweep 'gemm', not 'softmax'; "
                                     "name another database with --db"));
    assert_non_null(strstr(err.text, "--fresh"));
}

/* Its format stays, too: an older fa-coord can still read it. */
static void what_is_refused_is_not_changed(void **state)
{
    const char *path = *state;
    char *copied = mem_printf("cp %s/tests/fixtures/compare/base.db %s",
                              FA_SOURCE_DIR, path);
    char before[HASH_HEX], after[HASH_HEX];
    struct err err;

    assert_int_equal(system(copied), 0);
    free(copied);
    assert_int_equal(hash_file(path, before, &err), 0);
    assert_int_equal(open_for(*state, "another", "cuda", &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "holds the sweep '"));
    assert_int_equal(hash_file(path, after, &err), 0);
    assert_string_equal(after, before);
}

static void a_sweep_on_another_device_is_refused(void **state)
{
    struct err err;

    put_sweep(*state, "gemm", "cuda");
    assert_int_equal(open_for(*state, "gemm", "replay", &err), ERR_INPUT);
    assert_non_null(
        strstr(err.text, "holds results of device cuda, not replay; "));
}

/* First tried here, then on GPUs: docs/tutorial.md. */
static void a_sweep_follows_an_emulated_one(void **state)
{
    struct err err;

    put_sweep(*state, "gemm", "cpu");
    assert_int_equal(open_for(*state, "gemm", "cuda", &err), 0);
}

/* 'recover' does not know it where the row of the sweep is lost. */
static void a_sweep_without_a_name_goes_on(void **state)
{
    struct err err;

    put_sweep(*state, "", "cuda");
    assert_int_equal(open_for(*state, "gemm", "cpu", &err), 0);
}

static void a_record_cannot_take_the_results_of_its_replay(void **state)
{
    char *link_to = mem_printf("%s.link", (char *)*state);
    struct run run = { .set = RUN_SETTINGS, .db = *state };
    struct err err;

    run.set.record = link_to;
    put_sweep(*state, "gemm", "cuda");
    assert_int_equal(run_store_check_place(&run, &err), 0);
    assert_int_equal(symlink(*state, link_to), 0);
    assert_int_equal(run_store_check_place(&run, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "is the record that is replayed"));
    assert_int_equal(unlink(link_to), 0);
    free(link_to);
}

static void what_is_told_goes_into_no_database(void **state)
{
    struct run run = { .set = RUN_SETTINGS, .db = *state };
    char *other = mem_printf("%s.other", (char *)*state);
    struct err err;

    run.set.told.metrics = *state; /* neither is there yet */
    assert_int_equal(run_store_check_place(&run, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "--metrics="));
    run.set.told.metrics = NULL;
    put_sweep(*state, "gemm", "cuda");
    run.db = other;
    run.set.told.log = *state;
    assert_int_equal(run_store_check_place(&run, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "--log: '"));
    run.set.told.log = other; /* is not there */
    assert_int_equal(run_store_check_place(&run, &err), ERR_INPUT);
    run.db = *state;
    assert_int_equal(run_store_check_place(&run, &err), 0);
    free(other);
}

static void write_file(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs("mine\n", file);
    fclose(file);
}

static void refuse_log(const struct run *run, const char *is)
{
    char *wanted = mem_printf("--log=%s: this is the %s; name another file",
                              run->set.told.log, is);
    struct err err = { "" };

    assert_int_equal(run_store_check_place(run, &err), ERR_INPUT);
    assert_string_equal(err.text, wanted);
    free(wanted);
}

static void what_is_told_goes_into_no_file_that_the_run_reads(void **state)
{
    char *log = mem_printf("%s.file", (char *)*state);
    struct spec spec = { .file.path = log };
    struct run run = { .set = RUN_SETTINGS, .db = *state, .spec = &spec };
    struct err err;

    write_file(log);
    run.set.told.log = log;
    refuse_log(&run, "sweep file");
    run.spec = NULL;
    run.hosts_file = log;
    refuse_log(&run, "hosts file");
    run.hosts_file = NULL;
    run.set.record = log;
    refuse_log(&run, "record");
    run.set.record = NULL;
    assert_int_equal(run_store_check_place(&run, &err), 0);
    assert_int_equal(unlink(log), 0);
    free(log);
}

static void refuse_below_nothing(const struct run *run, const char *flag)
{
    char *wanted = mem_printf("--%s: '/nonexistent/fa/", flag);
    struct err err;

    assert_int_equal(run_store_check_place(run, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, wanted));
    assert_non_null(strstr(err.text, "there is no folder '/nonexistent/fa'"));
    free(wanted);
}

static void what_is_written_has_its_folder_before_the_work(void **state)
{
    struct run run = { .set = RUN_SETTINGS, .db = *state };
    char db[] = "/nonexistent/fa/a.db";
    struct store *store = NULL;
    struct err err;

    run.set.told.log = "/nonexistent/fa/log";
    refuse_below_nothing(&run, "log");
    run.set.told.log = NULL;
    run.set.told.metrics = "/nonexistent/fa/metrics";
    refuse_below_nothing(&run, "metrics");
    run.set.told.metrics = NULL;
    run.db = db;
    refuse_below_nothing(&run, "db");
    assert_int_equal(store_open(db, STORE_CREATE, &store, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "there is no folder '/nonexistent/fa'"));
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_same_sweep_goes_on),
        TEST(a_sweep_of_another_name_is_refused),
        TEST(what_is_refused_is_not_changed),
        TEST(a_sweep_on_another_device_is_refused),
        TEST(a_sweep_follows_an_emulated_one),
        TEST(a_sweep_without_a_name_goes_on),
        TEST(what_is_told_goes_into_no_database),
        TEST(what_is_told_goes_into_no_file_that_the_run_reads),
        TEST(what_is_written_has_its_folder_before_the_work),
        TEST(a_record_cannot_take_the_results_of_its_replay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
