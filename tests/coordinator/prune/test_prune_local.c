#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/prune/prune_list.h"
#include "coordinator/prune/prune_local.h"
#include "coordinator/store/dblock.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define DAY INT64_C(86400)

static int64_t now_s;
static char *found; /* "kind name" or "kept kind name", a line each */

/* 'db' ends in ".db"; 'end' replaces that, or follows it if it begins so. */
static char *beside(const char *db, const char *end)
{
    return mem_printf("%.*s%s", (int)strlen(db) - 3, db, end);
}

static void put(const char *db, const char *end, int64_t days)
{
    struct timespec times[2] = { { .tv_sec = now_s - days * DAY },
                                 { .tv_sec = now_s - days * DAY } };
    char *path = beside(db, end);
    FILE *file = fopen(path, "a");

    assert_non_null(file);
    fputs("text", file);
    fclose(file);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

static bool is_there(const char *db, const char *end)
{
    char *path = beside(db, end);
    bool is = access(path, F_OK) == 0;

    free(path);
    return is;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Prune, and put what came of it into 'found', sorted. */
static void prune(const char *db, bool dry_run, bool set_aside)
{
    struct prune_list list = { .dry_run = dry_run,
                               .older_s = 7 * DAY,
                               .set_aside = set_aside };
    size_t at = (size_t)(strrchr(db, '/') - db) + 1, len;
    char *lines[32];
    struct err err;
    FILE *to;

    if (prune_local(db, now_s, &list, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(list.n <= 32);
    for (size_t i = 0; i < list.n; i++)
        lines[i] = mem_printf("%s%s %s\n", list.entries[i].why ? "kept " : "",
                              list.entries[i].kind, list.entries[i].path + at);
    qsort(lines, list.n, sizeof(*lines), by_text);
    free(found);
    to = mem_stream(&found, &len);
    for (size_t i = 0; i < list.n; i++) {
        fputs(lines[i], to);
        free(lines[i]);
    }
    mem_stream_close(to, &found);
    prune_list_fini(&list);
}

static int setup(void **state)
{
    now_s = time(NULL);
    return fixture_setup(state);
}

static int teardown(void **state)
{
    char *folder = mem_printf(
        "%.*s", (int)(strrchr(*state, '/') - (char *)*state), (char *)*state);
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    free(folder);
    free(found);
    found = NULL;
    return fixture_teardown(state);
}

static void make_sweep(const char *db, const char *ending)
{
    struct store *store = report_fixture(db);
    struct err err;

    if (store_run_end(store, REPORT_FIXTURE_EPOCH, ending, 1, &err) < 0 ||
        store_commit(store, &err) < 0)
        fail_msg("%s", err.text);
    store_close(store);
}

static void what_is_old_and_not_needed_goes(void **state)
{
    const char *db = *state;
    char *expected;
    const char *name = strrchr(db, '/') + 1;

    make_sweep(db, "done");
    put(db, ".fuzz.db", 8);
    put(db, ".fuzz.db-wal", 8);
    put(db, ".db.fa-part", 8);
    put(db, ".html.fa-part", 8);
    put(db, ".json.fa-part", 1);
    put(db, ".db.1700000000", 8);
    put(db, ".db.170000", 8);
    put(db, ".notes", 100);
    expected =
        mem_printf("kept set aside %s.1700000000\n"
                   "log %.*s.fuzz.db-wal\n"
                   "part %s.fa-part\n"
                   "part %.*s.html.fa-part\n"
                   "proof %.*s.fuzz.db\n",
                   name, (int)strlen(name) - 3, name, name,
                   (int)strlen(name) - 3, name, (int)strlen(name) - 3, name);
    prune(db, true, false);
    assert_string_equal(found, expected);
    assert_true(is_there(db, ".fuzz.db"));
    assert_true(is_there(db, ".db.fa-part"));
    prune(db, false, false);
    assert_string_equal(found, expected);
    assert_false(is_there(db, ".fuzz.db"));
    assert_false(is_there(db, ".db.fa-part"));
    assert_false(is_there(db, ".html.fa-part"));
    assert_true(is_there(db, ".db"));
    assert_true(is_there(db, ".json.fa-part"));
    assert_true(is_there(db, ".db.1700000000"));
    assert_true(is_there(db, ".db.170000"));
    assert_true(is_there(db, ".notes"));
    free(expected);
}

static void what_was_set_aside_goes_if_it_is_asked_for(void **state)
{
    const char *db = *state;

    make_sweep(db, "done");
    put(db, ".db.1700000000", 8);
    prune(db, false, true);
    assert_false(is_there(db, ".db.1700000000"));
    assert_true(is_there(db, ".db"));
}

static void the_proof_of_a_sweep_that_goes_on_stays(void **state)
{
    const char *db = *state;

    make_sweep(db, "interrupted");
    put(db, ".fuzz.db", 8);
    put(db, ".fuzz.db-wal", 8);
    prune(db, false, false);
    assert_non_null(strstr(found, "kept proof "));
    assert_true(is_there(db, ".fuzz.db"));
    assert_true(is_there(db, ".fuzz.db-wal"));
}

static void a_log_goes_only_without_its_database(void **state)
{
    const char *db = *state;

    make_sweep(db, "done");
    put(db, ".db-wal", 8);
    prune(db, false, false);
    assert_string_equal(found, "");
    assert_true(is_there(db, ".db-wal"));
    assert_int_equal(unlink(db), 0);
    prune(db, false, false);
    assert_false(is_there(db, ".db-wal"));
}

static void what_a_coordinator_uses_stays(void **state)
{
    const char *db = *state;
    struct err err;
    int lock;

    make_sweep(db, "done");
    put(db, ".fuzz.db", 8);
    put(db, ".db.fa-part", 8);
    lock = dblock_take(db, &err);
    assert_true(lock >= 0);
    prune(db, true, false);
    assert_null(strstr(found, "\nproof"));
    assert_non_null(strstr(found, "kept proof"));
    prune(db, false, false);
    assert_non_null(strstr(found, "kept proof"));
    assert_non_null(strstr(found, "kept part"));
    assert_true(is_there(db, ".fuzz.db"));
    assert_true(is_there(db, ".db.fa-part"));
    dblock_release(lock);
}

/* The lock lies beside the database, not beside the link. */
static void what_is_used_behind_a_symbolic_link_stays(void **state)
{
    char *link = mem_printf("%s.link.db", (const char *)*state);
    struct err err;
    int lock;

    make_sweep(*state, "done");
    assert_int_equal(symlink(*state, link), 0);
    put(link, ".db.1600000000", 90);
    lock = dblock_take(*state, &err);
    assert_true(lock >= 0);
    prune(link, false, true);
    dblock_release(lock);
    assert_true(is_there(link, ".db.1600000000"));
    assert_int_equal(unlink(link), 0);
    free(link);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_old_and_not_needed_goes),
        TEST(what_was_set_aside_goes_if_it_is_asked_for),
        TEST(the_proof_of_a_sweep_that_goes_on_stays),
        TEST(a_log_goes_only_without_its_database),
        TEST(what_a_coordinator_uses_stays),
        TEST(what_is_used_behind_a_symbolic_link_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
