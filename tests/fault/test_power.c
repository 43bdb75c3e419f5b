/* test_power.c - the power fails while results are stored (F4)
 *
 * A database and a journal are written on a disk of power_disk.h.  Each image
 * must open and hold all that was acknowledged when it was drawn.  FA_CUTS is
 * how many images are looked at, of each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "common/buf.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/store/store_fixture.h"
#include "tests/fault/power_disk.h"
#include "worker/store/journal.h"

#define CUTS 40
#define FIXTURE_BYTES (1 << 16)
#define ROWS 60
#define ROWS_A_COMMIT 3
#define RECORDS 60
#define LOG_BYTES 40000 /* so that a rewrite of the journal comes soon */

struct place {
    char top[40], live[64], images[64], path[96];
    size_t cuts;
};

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    const char *cuts = getenv("FA_CUTS");
    struct err err;

    snprintf(place->top, sizeof(place->top), "/tmp/fa-power-XXXXXX");
    if (hash_setup(&err) < 0 || !mkdtemp(place->top))
        return -1;
    snprintf(place->live, sizeof(place->live), "%s/live", place->top);
    snprintf(place->images, sizeof(place->images), "%s/images", place->top);
    snprintf(place->path, sizeof(place->path), "%s/file", place->live);
    place->cuts = cuts ? strtoul(cuts, NULL, 10) : CUTS;
    *state = place;
    return mkdir(place->images, 0700);
}

static int tear_down(void **state)
{
    struct place *place = *state;
    int rc = rmdir(place->images) < 0 || rmdir(place->top) < 0 ? -1 : 0;

    free(place);
    return rc;
}

static void remove_live(const struct place *place)
{
    static const char *const ends[] = { "", "-wal", "-shm", ".lock", ".new" };
    char path[128];

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", place->path, ends[i]);
        (void)unlink(path); /* not every file is there */
    }
    assert_int_equal(rmdir(place->live), 0);
}

/* ---- the database ---- */

/* '*committed' is how many results were committed. */
static void store_results(const char *path, int *committed)
{
    struct store *store = fixture_open(path, STORE_CREATE);
    struct err err;

    /* checkpoints, which write the database itself, come often */
    assert_int_equal(sqlite3_exec(store_db(store),
                                  "PRAGMA wal_autocheckpoint=12", NULL, NULL,
                                  NULL),
                     SQLITE_OK);
    for (int i = 0; i < ROWS; i++) {
        char nonce[16];
        struct store_result result;

        snprintf(nonce, sizeof(nonce), "n%d", i);
        result = fixture_result(nonce, nonce);
        assert_int_equal(store_result_put(store, &result, &err), 1);
        if ((i + 1) % ROWS_A_COMMIT > 0)
            continue;
        assert_int_equal(store_commit(store, &err), 0);
        *committed = i + 1;
    }
    store_close(store);
}

static void check_database(size_t n)
{
    char folder[POWER_DISK_PATH], path[POWER_DISK_PATH + 8];
    int committed = power_disk_image(n, folder);
    struct store *store;
    int64_t rows;

    snprintf(path, sizeof(path), "%s/file", folder);
    store = fixture_open(path, STORE_WRITE);
    rows = fixture_number(store, "SELECT count(*) FROM result");
    assert_in_range(rows, committed, committed + ROWS_A_COMMIT);
    assert_int_equal(rows % ROWS_A_COMMIT, 0);
    assert_int_equal(
        fixture_number(store, "SELECT count(*) FROM pragma_integrity_check"
                              " WHERE integrity_check <> 'ok'"),
        0);
    assert_int_equal(fixture_number(store,
                                    "SELECT count(*) FROM result WHERE nonce <>"
                                    " 'n' || (rowid - 1)"),
                     0);
    store_close(store);
    power_disk_remove_image(n);
}

static void a_database_keeps_what_was_committed(void **state)
{
    struct place *place = *state;
    size_t seen = 0;

    for (uint64_t seed = 1; seen < place->cuts; seed++) {
        int committed = 0;
        size_t n;

        assert_int_equal(mkdir(place->live, 0700), 0);
        power_disk_watch(place->live, place->images, seed, 5, &committed);
        store_results(place->path, &committed);
        n = power_disk_end();
        assert_true(n > 0);
        for (size_t i = 0; i < n; i++)
            check_database(i);
        seen += n;
        remove_live(place);
    }
    printf("repetitions: %zu\n", seen);
}

/* ---- a database of an older format ---- */

static void make_format(const char *path, int format)
{
    char *name = mem_printf(
        FA_SOURCE_DIR "/tests/fixtures/databases/format_%d.sql", format);
    FILE *file = fopen(name, "r");
    char *text = mem_new(FIXTURE_BYTES, 1);
    struct sqlite3 *db;

    assert_non_null(file);
    assert_true(fread(text, 1, FIXTURE_BYTES - 1, file) > 0);
    fclose(file);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    free(text);
    free(name);
}

/* SQLite does not sync the folder after it has deleted its journal, which
 * would roll the last statement back. */
static void sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY);

    assert_true(fd >= 0);
    assert_int_equal(fsync(fd), 0);
    close(fd);
}

/* Whatever the older format had. */
static int64_t rows_of(struct store *store)
{
    return fixture_number(store, "SELECT (SELECT count(*) FROM result) +"
                                 " (SELECT count(*) FROM outcome) +"
                                 " (SELECT count(*) FROM lease) +"
                                 " (SELECT count(*) FROM config)");
}

static void check_migrated(size_t n, int64_t rows)
{
    char folder[POWER_DISK_PATH], path[POWER_DISK_PATH + 8];
    struct store *store;

    (void)power_disk_image(n, folder);
    snprintf(path, sizeof(path), "%s/file", folder);
    store = fixture_open(path, STORE_WRITE);
    assert_int_equal(rows_of(store), rows);
    assert_int_equal(
        fixture_number(store, "SELECT count(*) FROM pragma_integrity_check"
                              " WHERE integrity_check <> 'ok'"),
        0);
    store_close(store);
    power_disk_remove_image(n);
}

/* F2, F34: also killed between any two writes of the steps to the new format.
 */
static void a_database_is_brought_up_to_date_or_as_it_was(void **state)
{
    static const int formats[] = { 6, 7, 8 };
    struct place *place = *state;
    size_t seen = 0;

    for (uint64_t seed = 1; seen < place->cuts; seed++) {
        int made = 0;
        struct store *store;
        int64_t rows;
        size_t n;

        assert_int_equal(mkdir(place->live, 0700), 0);
        power_disk_watch(place->live, place->images, seed, 3, &made);
        make_format(place->path, formats[seed % 3]);
        sync_folder(place->live);
        made = 1;
        store = fixture_open(place->path, STORE_WRITE);
        rows = rows_of(store);
        store_close(store);
        n = power_disk_end();
        assert_true(rows > 0);
        for (size_t i = 0; i < n; i++)
            check_migrated(i, rows);
        seen += n;
        remove_live(place);
    }
    printf("repetitions: %zu\n", seen);
}

/* ---- the journal ---- */

/* One step is one call.  A record must be there from the step after the one
 * that added it, up to the step that acknowledges it. */
struct history {
    int step;
    int added[RECORDS], acknowledged[RECORDS];
};

static void nonce_of(int i, char out[HASH_HEX])
{
    snprintf(out, HASH_HEX, "%032d", i);
}

static void add(struct journal *journal, int i)
{
    char nonce[HASH_HEX], log[LOG_BYTES + 1];
    struct msg msg = { .type = MSG_BUILT, .epoch = 1 };
    struct journal_record record = { .utc_ns = 5 };
    struct buf bytes;

    nonce_of(i, nonce);
    nonce_of(0, record.owner);
    memset(log, 'x', LOG_BYTES);
    log[LOG_BYTES] = '\0';
    msg.built.result.nonce = nonce;
    msg.built.log = log;
    msg.built.work.id =
        (struct msg_identity){ "s", "c", "", "kernel", "build", 0, 1 };
    buf_init(&bytes, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&msg, &bytes, NULL), 0);
    record.message = bytes.bytes;
    record.len = bytes.len;
    assert_int_equal(journal_add(journal, &record, NULL), 0);
    buf_fini(&bytes);
}

/* All but each fifth are acknowledged two steps later. */
static void keep_a_journal(const char *path, struct history *history)
{
    struct journal_damage damage;
    struct journal *journal;
    char nonce[HASH_HEX];

    assert_int_equal(journal_open(path, &journal, &damage, NULL), 0);
    for (int i = 0; i < RECORDS; i++) {
        int old = i - 2;

        add(journal, i);
        history->added[i] = ++history->step;
        if (old < 0 || old % 5 == 0)
            continue;
        history->acknowledged[old] = history->step;
        nonce_of(old, nonce);
        assert_true(journal_ack(journal, nonce));
        history->step++;
    }
    journal_close(journal);
}

static bool has(struct journal *journal, int i)
{
    char nonce[HASH_HEX];
    size_t n;
    struct journal_entry *entries = journal_entries(journal, &n);

    nonce_of(i, nonce);
    for (size_t k = 0; k < n; k++)
        if (strcmp(entries[k].nonce, nonce) == 0)
            return true;
    return false;
}

static void check_journal(size_t n, const struct history *history)
{
    char folder[POWER_DISK_PATH], path[POWER_DISK_PATH + 8];
    int step = power_disk_image(n, folder);
    struct journal_damage damage;
    struct journal *journal;
    struct err err;

    snprintf(path, sizeof(path), "%s/file", folder);
    if (journal_open(path, &journal, &damage, &err) < 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < RECORDS; i++) {
        bool there = history->added[i] > 0 && history->added[i] <= step;
        bool gone =
            history->acknowledged[i] > 0 && history->acknowledged[i] <= step;

        if (there && !gone && !has(journal, i))
            fail_msg("image %zu of step %d has no record %d", n, step, i);
    }
    journal_close(journal);
    power_disk_remove_image(n);
}

static void a_journal_keeps_what_was_added(void **state)
{
    struct place *place = *state;
    size_t seen = 0;

    for (uint64_t seed = 1; seen < place->cuts; seed++) {
        struct history history = { 0 };
        size_t n;

        assert_int_equal(mkdir(place->live, 0700), 0);
        power_disk_watch(place->live, place->images, seed, 5, &history.step);
        keep_a_journal(place->path, &history);
        n = power_disk_end();
        assert_true(n > 0);
        for (size_t i = 0; i < n; i++)
            check_journal(i, &history);
        seen += n;
        remove_live(place);
    }
    printf("repetitions: %zu\n", seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_database_keeps_what_was_committed,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_database_is_brought_up_to_date_or_as_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_journal_keeps_what_was_added, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
