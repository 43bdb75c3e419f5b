#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/inspect/recover.h"
#include "coordinator/inspect/verify.h"
#include "coordinator/result/report.h"
#include "coordinator/sql/sql.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/old_format.h"
#include "tests/coordinator/store/store_fixture.h"

#define RESULTS 3000 /* many pages */
#define PAGE_ROWS 14 /* of 'result', at most */
#define PAGE 4096
#define DAMAGES 40

static char *copy_path(const char *path)
{
    return mem_printf("%s.copy", path);
}

static void remove_copy(char *path)
{
    static const char *const ends[] = { "", "-wal", "-shm", ".lock" };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char *name = mem_printf("%s%s", path, ends[i]);

        (void)remove(name);
        free(name);
    }
}

/* Recover a file to a copy that is sound, whatever it is. */
static struct store *recovered(const char *path, char *to,
                               struct recover *recover)
{
    struct store *from, *copy;
    struct verify verify;
    struct err err;

    remove_copy(to);
    if (store_open(path, STORE_DAMAGED, &from, &err) < 0)
        return NULL;
    copy = fixture_open(to, STORE_CREATE);
    if (recover_run(from, copy, recover, &err) < 0)
        fail_msg("%s", err.text);
    store_close(from);
    verify_run(copy, &verify);
    if (verify.found)
        fail_msg("%s", verify.findings[0].text);
    verify_fini(&verify);
    assert_int_equal(
        fixture_number(copy, "SELECT count(*) FROM pragma_foreign_key_check"),
        0);
    return copy;
}

static void a_sound_database_is_copied_whole(void **state)
{
    struct store *store = report_fixture(*state);
    char *to = copy_path(*state);
    struct recover recover;

    store_close(store);
    store = recovered(*state, to, &recover);
    for (size_t i = 0; i < RECOVER_TABLES; i++) {
        const struct recover_table *table = &recover.tables[i];
        char *sql = mem_printf("SELECT count(*) FROM %s", table->name);

        assert_int_equal(table->dropped, 0);
        assert_false(table->damaged);
        assert_int_equal(fixture_number(store, sql), table->kept);
        free(sql);
    }
    assert_int_equal(recover.orphans, 0);
    assert_false(recover_is_hurt(&recover));
    assert_int_equal(recover.tables[0].kept, 1); /* whose it is */
    store_close(store);
    remove_copy(to);
    free(to);
}

static void
a_row_that_was_changed_is_dropped_with_what_rests_on_it(void **state)
{
    struct store *store = report_fixture(*state);
    char *to = copy_path(*state);
    struct recover recover;
    struct err err;
    int64_t outcomes = fixture_number(store, "SELECT count(*) FROM outcome"),
            results = fixture_number(store, "SELECT count(*) FROM result");

    assert_int_equal(sql_run(store_db(store),
                             "UPDATE result SET samples = '[0.0001]'"
                             " WHERE nonce = 'n1-0'",
                             &err),
                     0);
    store_close(store);
    store = recovered(*state, to, &recover);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result"),
                     results - 1);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM outcome"),
                     outcomes - 1);
    assert_int_equal(recover.orphans, 1);
    store_close(store);
    remove_copy(to);
    free(to);
}

static const struct recover_table *table_of(const struct recover *recover,
                                            const char *name)
{
    size_t i = 0;

    while (strcmp(recover->tables[i].name, name) != 0)
        i++;
    return &recover->tables[i];
}

/* A lost outcome is made again, and a lost result is said. */
static void deleted_rows_are_counted(void **state)
{
    struct store *store = report_fixture(*state);
    char *to = copy_path(*state);
    struct recover recover;
    struct err err;

    assert_int_equal(sql_run(store_db(store),
                             "DELETE FROM outcome WHERE nonce IN ('n1-0',"
                             " 'n3-0'); DELETE FROM result WHERE nonce ="
                             " 'n3-0'",
                             &err),
                     0);
    store_close(store);
    store = recovered(*state, to, &recover);
    assert_int_equal(table_of(&recover, "result")->missing, 1);
    assert_int_equal(table_of(&recover, "outcome")->missing, 2);
    assert_int_equal(table_of(&recover, "config")->missing, 0);
    assert_true(recover_is_hurt(&recover));
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM outcome WHERE"
                                           " nonce = 'n1-0'"),
                     1);
    store_close(store);
    remove_copy(to);
    free(to);
}

static void rows_that_were_never_written_are_counted(void **state)
{
    struct store *store = report_fixture(*state);
    char *to = copy_path(*state);
    struct recover recover;
    struct err err;

    assert_int_equal(sql_run(store_db(store),
                             "INSERT INTO event SELECT id + 900, at_utc, level,"
                             " name, text, checksum_short(id + 900, at_utc,"
                             " level, name, text) FROM event;"
                             "DELETE FROM tally WHERE name = 'run'",
                             &err),
                     0);
    store_close(store);
    store = recovered(*state, to, &recover);
    assert_true(recover.uncounted);
    assert_true(recover_is_hurt(&recover));
    store_close(store);
    remove_copy(to);
    free(to);
}

static void a_run_that_is_lost_is_made_again(void **state)
{
    struct store *store = report_fixture(*state);
    char *to = copy_path(*state);
    struct recover recover;
    struct err err;
    int64_t builds = fixture_number(store, "SELECT count(*) FROM build");

    assert_int_equal(sql_run(store_db(store),
                             "PRAGMA foreign_keys=OFF; DELETE FROM run", &err),
                     0);
    store_close(store);
    store = recovered(*state, to, &recover);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM build"),
                     builds);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM run WHERE"
                                           " machine = ''"),
                     1);
    store_close(store);
    remove_copy(to);
    free(to);
}

/* Everything else holds and is kept. */
static void a_sweep_that_is_lost_is_made_again(void **state)
{
    struct store *store = report_fixture(*state);
    char *to = copy_path(*state);
    struct recover recover;
    struct report *report;
    struct err err;

    assert_int_equal(
        sql_run(store_db(store), "UPDATE sweep SET name = 'x'", &err), 0);
    store_close(store);
    store = recovered(*state, to, &recover);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM config"), 5);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM outcome"), 8);
    assert_int_equal(recover.orphans, 0);
    assert_int_equal(report_load(store, &report, &err), ERR_STORE);
    assert_non_null(strstr(err.text, "what the sweep was is lost; 'fa-coord "
                                     "sweep' with its sweep file"));
    store_close(store);
    remove_copy(to);
    free(to);
}

/* As it was, from the results that hold. */
static void an_outcome_that_is_lost_is_made_again(void **state)
{
    static const char same[] =
        "SELECT count(*) FROM outcome WHERE nonce = 'n1-0' AND median_s ="
        " 0.0008 AND outcome = 'correct' AND reason = '' OR nonce = 'n3-1' AND"
        " median_s IS NULL AND outcome = 'correctness' AND reason LIKE"
        " 'relative%'";
    struct store *store = report_fixture(*state);
    char *to = copy_path(*state);
    struct recover recover;
    struct err err;

    assert_int_equal(fixture_number(store, same), 2);
    assert_int_equal(sql_run(store_db(store),
                             "UPDATE outcome SET reason = 'x', median_s = 1",
                             &err),
                     0);
    store_close(store);
    store = recovered(*state, to, &recover);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM outcome"), 8);
    assert_int_equal(fixture_number(store, same), 2);
    store_close(store);
    remove_copy(to);
    free(to);
}

/* A file with so many results that pages can be lost from it. */
static void fill(const char *path)
{
    struct store *store = fixture_open(path, STORE_CREATE);
    struct store_result row = fixture_result("", FIXTURE_KEY);
    char nonce[16];
    struct err err;

    fixture_owners(store, FIXTURE_KEY);
    row.nonce = nonce;
    for (int i = 0; i < RESULTS; i++) {
        snprintf(nonce, sizeof(nonce), "n%d", i);
        row.id.round = i;
        assert_int_equal(store_result_put(store, &row, &err), 1);
    }
    assert_int_equal(store_commit(store, &err), 0);
    store_close(store);
}

static void damage(const char *path, off_t at, size_t n)
{
    static const char zeros[PAGE];
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, zeros, n, at), n);
    close(fd);
}

static off_t size_of(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t size = lseek(fd, 0, SEEK_END);

    close(fd);
    return size;
}

/* The page in the middle is one of 'result', and so is that behind it. */
static void rows_before_and_behind_a_lost_page_are_kept(void **state)
{
    char *to = copy_path(*state);
    struct recover recover;
    struct store *store;
    off_t middle;

    fill(*state);
    middle = size_of(*state) / PAGE / 2;
    damage(*state, middle * PAGE, PAGE);
    damage(*state, (middle + 40) * PAGE, PAGE);
    store = recovered(*state, to, &recover);
    assert_non_null(store);
    assert_in_range(fixture_number(store, "SELECT count(*) FROM result"),
                    RESULTS - 2 * PAGE_ROWS, RESULTS - 2);
    assert_int_equal(fixture_number(store,
                                    "SELECT count(*) FROM result WHERE nonce IN"
                                    " ('n0', 'n2999')"),
                     2);
    store_close(store);
    remove_copy(to);
    free(to);
}

/* F10: anywhere in the file; the copy is sound, or there is none. */
static void any_damage_leaves_a_sound_copy(void **state)
{
    char *to = copy_path(*state), *hurt = mem_printf("%s.hurt", (char *)*state);
    struct recover recover;
    off_t size;
    int opened = 0;

    fill(*state);
    size = size_of(*state);
    for (int i = 0; i < DAMAGES; i++) {
        struct store *store;
        char *command = mem_printf("cp '%s' '%s'", (char *)*state, hurt);

        assert_int_equal(system(command), 0);
        free(command);
        damage(hurt, (size - 64) * i / (DAMAGES - 1), 64);
        store = recovered(hurt, to, &recover);
        opened += store != NULL;
        store_close(store);
    }
    assert_in_range(opened, DAMAGES - 6, DAMAGES); /* not its first pages */
    remove_copy(hurt);
    remove_copy(to);
    free(hurt);
    free(to);
}

/* The header still says how many pages there were. */
static void of_a_file_that_is_cut_off_what_is_there_is_kept(void **state)
{
    char *to = copy_path(*state);
    struct recover recover;
    struct store *store;
    struct err err;

    fill(*state);
    assert_int_equal(truncate(*state, size_of(*state) / PAGE / 2 * PAGE + 100),
                     0);
    assert_int_equal(store_open(*state, STORE_READ, &store, &err), ERR_STORE);
    assert_non_null(strstr(err.text, "; 'fa-coord recover' copies what can "));
    store = recovered(*state, to, &recover);
    assert_non_null(store);
    assert_in_range(fixture_number(store, "SELECT count(*) FROM result"),
                    RESULTS / 3, RESULTS);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM run"), 1);
    assert_true(recover_is_hurt(&recover));
    store_close(store);
    remove_copy(to);
    free(to);
}

/* The steps to the newest format would read all pages. */
static void an_older_format_is_read_around_its_damage(void **state)
{
    static const int formats[] = { 6, 7, 8, 9, 10, 11 };
    char *to = copy_path(*state);

    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct recover recover;
        struct store *store;
        int64_t results;

        remove_copy(*state);
        old_format_make(*state, formats[i]);
        store = recovered(*state, to, &recover);
        assert_non_null(store);
        results = fixture_number(store, "SELECT count(*) FROM result");
        assert_true(results > 0);
        assert_false(recover_is_hurt(&recover));
        store_close(store);
        damage(*state, (old_format_page(*state, "event") - 1) * PAGE, PAGE);
        store = recovered(*state, to, &recover);
        assert_non_null(store);
        assert_int_equal(fixture_number(store, "SELECT count(*) FROM result"),
                         results);
        assert_true(table_of(&recover, "event")->damaged);
        assert_false(recover_table_is_hurt(table_of(&recover, "result")));
        store_close(store);
    }
    remove_copy(to);
    free(to);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_sound_database_is_copied_whole),
        TEST(a_row_that_was_changed_is_dropped_with_what_rests_on_it),
        TEST(deleted_rows_are_counted),
        TEST(rows_that_were_never_written_are_counted),
        TEST(a_run_that_is_lost_is_made_again),
        TEST(a_sweep_that_is_lost_is_made_again),
        TEST(an_outcome_that_is_lost_is_made_again),
        TEST(rows_before_and_behind_a_lost_page_are_kept),
        TEST(any_damage_leaves_a_sound_copy),
        TEST(of_a_file_that_is_cut_off_what_is_there_is_kept),
        TEST(an_older_format_is_read_around_its_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
