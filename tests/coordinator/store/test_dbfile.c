#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/dbfile.h"
#include "tests/coordinator/store/store_fixture.h"

static void write_file(const char *path, const char *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, len, 0), (ssize_t)len);
    close(fd);
}

/* Opening it must be refused with this text, "PATH" standing for the path. */
static void refused(const char *path, enum store_mode mode, const char *text)
{
    const char *rest = strstr(text, "PATH") + 4;
    char *expected =
        mem_printf("%.*s%s%s", (int)(rest - 4 - text), text, path, rest);
    struct store *store;
    struct err err;

    assert_int_equal(store_open(path, mode, &store, &err), ERR_STORE);
    assert_null(store);
    assert_string_equal(err.text, expected);
    free(expected);
}

static void a_new_database_is_for_its_owner_alone(void **state)
{
    mode_t old = umask(0);
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct stat st;

    umask(old);
    assert_int_equal(stat(*state, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(fixture_number(store, "PRAGMA user_version"), 12);
    assert_int_equal(fixture_number(store, "PRAGMA synchronous"), 2);
    assert_int_equal(fixture_number(store, "PRAGMA trusted_schema"), 0);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM"
                                           " pragma_journal_mode"
                                           " WHERE journal_mode='wal'"),
                     1);
    store_close(store);
}

static void a_missing_database_is_made_only_when_asked(void **state)
{
    refused(*state, STORE_READ,
            "there is no database PATH; 'fa-coord sweep' creates it");
    refused(*state, STORE_WRITE,
            "there is no database PATH; 'fa-coord sweep' creates it");
}

static void an_empty_file_becomes_a_database_only_when_asked(void **state)
{
    write_file(*state, "", 0);
    refused(*state, STORE_READ,
            "PATH is an empty file; 'fa-coord sweep' makes a database of it");
    refused(*state, STORE_WRITE,
            "PATH is an empty file; 'fa-coord sweep' makes a database of it");
    store_close(fixture_open(*state, STORE_CREATE));
}

static void a_file_that_is_no_database_is_left_alone(void **state)
{
    static const char text[] = "dear diary, today I wrote a kernel that was "
                               "slower than the baseline";
    char back[sizeof(text)] = "";
    int fd;

    write_file(*state, text, sizeof(text));
    refused(*state, STORE_CREATE,
            "PATH is not a SQLite database; name another file with --db");
    refused(*state, STORE_READ,
            "PATH is not a SQLite database; name another file with --db");
    fd = open(*state, O_RDONLY);
    assert_int_equal(read(fd, back, sizeof(back)), sizeof(back));
    assert_string_equal(back, text);
    close(fd);
}

/* Each name would have a lock and a log of its own. */
static void a_file_with_two_names_is_read_but_not_written(void **state)
{
    char *other = mem_printf("%s.too", (const char *)*state);
    struct store *store;
    struct err err;

    store_close(fixture_open(*state, STORE_CREATE));
    assert_int_equal(link(*state, other), 0);
    assert_int_equal(store_open(other, STORE_WRITE, &store, &err), ERR_STORE);
    assert_non_null(strstr(err.text,
                           ".too has 2 names (hard links), and can be "
                           "written under one only: "));
    assert_int_equal(store_open(*state, STORE_CREATE, &store, &err), ERR_STORE);
    store_close(fixture_open(other, STORE_READ));
    assert_int_equal(unlink(other), 0);
    store_close(fixture_open(*state, STORE_WRITE));
    free(other);
}

static void a_folder_is_not_a_database(void **state)
{
    assert_int_equal(mkdir(*state, 0700), 0);
    refused(*state, STORE_READ, "PATH is not a file");
    assert_int_equal(rmdir(*state), 0);
}

static void a_pipe_is_not_a_database(void **state)
{
    assert_int_equal(mkfifo(*state, 0600), 0);
    refused(*state, STORE_WRITE, "PATH is not a file");
    refused(*state, STORE_READ, "PATH is not a file");
}

static void what_cannot_be_written_is_said_with_its_reason(void **state)
{
    char *path = mem_printf("%s/x.db", (char *)*state);
    char *said = mem_printf("'%s': '%s' is not a folder", path, (char *)*state);
    struct store *store = NULL;
    struct err err;

    write_file(*state, "", 0);
    assert_int_equal(store_open(path, STORE_CREATE, &store, &err), ERR_INPUT);
    assert_string_equal(err.text, said);
    free(said);
    free(path);
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    char *path = mem_printf("%s/x.db", (char *)*state);
    char *said = mem_printf("'%s': there is no folder '%s'; make it first "
                            "(mkdir -p), or name another place",
                            path, (char *)*state);
    struct err err;

    assert_int_equal(dbfile_check(path, true, &err), ERR_INPUT);
    assert_string_equal(err.text, said);
    free(said);
    free(path);
}

/* What there is not yet, or has no table yet. */
static void a_database_is_new_until_it_is_made(void **state)
{
    char *below = mem_printf("%s/x.db", (char *)*state);

    assert_true(dbfile_is_new(*state));
    write_file(*state, "", 0);
    errno = 0;
    assert_true(dbfile_is_new(*state));
    assert_false(dbfile_is_new(below)); /* that is no folder */
    store_close(fixture_open(*state, STORE_CREATE));
    assert_false(dbfile_is_new(*state));
    free(below);
}

static void what_is_no_database_is_no_new_one(void **state)
{
    write_file(*state, "dear diary", 10);
    assert_false(dbfile_is_new(*state));
}

/* Its folder is there, and it cannot be made. */
static void a_dangling_link_is_not_taken_for_a_new_database(void **state)
{
    assert_int_equal(symlink("/nonexistent/sweep.db", *state), 0);
    refused(*state, STORE_CREATE,
            "PATH cannot be written: No such file or directory");
    assert_int_equal(unlink(*state), 0);
}

static void a_check_of_the_file_leaves_no_descriptor_open(void **state)
{
    int first = dup(STDERR_FILENO);
    struct err err;

    close(first);
    assert_int_equal(dbfile_check(*state, true, &err), 0);
    assert_int_equal(dup(STDERR_FILENO), first);
    close(first);
}

static void change(const char *path, const char *sql)
{
    struct store *store = fixture_open(path, STORE_CREATE);
    struct err err = { "" };

    if (sql_run(store_db(store), sql, &err) < 0)
        fail_msg("%s", err.text);
    store_close(store);
}

static void a_database_of_another_program_is_refused(void **state)
{
    change(*state, "PRAGMA application_id=7");
    refused(*state, STORE_CREATE,
            "PATH is a database of another program; name another file with "
            "--db");
}

static void a_newer_format_is_refused(void **state)
{
    change(*state, "PRAGMA user_version=13");
    refused(*state, STORE_READ,
            "PATH has format 13, written by a newer fa-coord; this one knows "
            "formats up to 12: use the newer one");
}

static void a_torn_file_is_called_corrupt(void **state)
{
    char zeros[512] = "";
    struct err err;
    struct store *store;

    store_close(fixture_open(*state, STORE_CREATE));
    memset(zeros, 0x5a, sizeof(zeros));
    {
        int fd = open(*state, O_WRONLY);

        /* the b-tree header of page 1, behind the file header */
        assert_int_equal(pwrite(fd, zeros, sizeof(zeros), 100), 512);
        close(fd);
    }
    assert_int_equal(store_open(*state, STORE_READ, &store, &err), ERR_STORE);
    assert_non_null(strstr(err.text, "sweep.db is corrupt ("));
    assert_non_null(strstr(err.text, "'fa-coord recover' copies"));
    assert_int_equal(store_open(*state, STORE_DAMAGED, &store, &err),
                     ERR_STORE);
    assert_non_null(strstr(err.text, "nothing can be read; use a backup"));
}

/* What a reader who knows these steps sees. */
static void read_number(const char *path, struct dbfile_steps steps,
                        const char *sql, int64_t expected)
{
    struct sqlite3 *db;
    struct err err = { "" };
    int64_t number;

    if (dbfile_read(path, steps, NULL, &db, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(sql_number(db, sql, &number, &err, ""), 0);
    assert_int_equal(number, expected);
    dbfile_close(db);
}

static void steps_bring_an_old_format_up_to_date(void **state)
{
    static const char *const steps[] = {
        "CREATE TABLE a(x)", "ALTER TABLE a ADD COLUMN y DEFAULT 5"
    };
    struct sqlite3 *db;
    struct err err;
    int64_t y;

    assert_int_equal(dbfile_check(*state, true, &err), 0);
    assert_int_equal(
        dbfile_write(*state,
                     (struct dbfile_steps){ steps[0], steps, 1, 1, NULL }, true,
                     &db, &err),
        0);
    assert_int_equal(sql_run(db, "INSERT INTO a VALUES(1)", &err), 0);
    dbfile_close(db);
    read_number(*state, (struct dbfile_steps){ NULL, steps, 2, 2, NULL },
                "SELECT y FROM a", 5);
    read_number(
        *state,
        (struct dbfile_steps){ steps[0], steps, 1, 1, NULL }, /* still old */
        "PRAGMA user_version", 1);
    read_number(*state,
                (struct dbfile_steps){ NULL, steps, 2, 1, NULL }, /* as it is */
                "PRAGMA user_version", 1);
    assert_int_equal(
        dbfile_write(*state, (struct dbfile_steps){ NULL, steps, 2, 2, NULL },
                     false, &db, &err),
        0);
    assert_int_equal(sql_number(db, "SELECT y FROM a", &y, &err, ""), 0);
    assert_int_equal(y, 5);
    dbfile_close(db);
}

static void
what_an_old_format_cannot_be_read_for_is_said_of_its_path(void **state)
{
    static const char *const good[] = { "CREATE TABLE a(x)" };
    static const char *const bad[] = { "oops", "CREATE TABLE b(x)" };
    char *text = mem_printf("%s: near \"oops\": syntax error", (char *)*state);
    struct sqlite3 *db;
    struct buf lost;
    struct err err;

    buf_init(&lost, 100);
    assert_int_equal(dbfile_check(*state, true, &err), 0);
    assert_int_equal(
        dbfile_write(*state, (struct dbfile_steps){ good[0], good, 1, 1, NULL },
                     true, &db, &err),
        0);
    dbfile_close(db);
    assert_true(dbfile_read(*state,
                            (struct dbfile_steps){ NULL, bad, 2, 2, NULL },
                            &lost, &db, &err) < 0);
    assert_null(db);
    assert_string_equal(err.text, text);
    buf_fini(&lost);
    free(text);
}

static void a_schema_that_is_none_opens_nothing(void **state)
{
    struct sqlite3 *db;
    struct err err;

    (void)state;
    assert_true(dbfile_newest("CREATE TABLE a(x); oops", &db, &err) < 0);
    assert_null(db);
    assert_string_equal(err.text, "near \"oops\": syntax error");
}

/* 2 GiB and a page, most of which is a hole. */
static void what_is_old_and_too_large_for_memory_is_refused(void **state)
{
    static const unsigned char pages[] = { 0, 8, 0, 1 }; /* of 4096 bytes */
    static const unsigned char format[] = { 0, 0, 0, 3 };
    int fd;

    store_close(fixture_open(*state, STORE_CREATE));
    fd = open(*state, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, pages, 4, 28), 4);
    assert_int_equal(pwrite(fd, format, 4, 60), 4);
    assert_int_equal(ftruncate(fd, (INT64_C(524288) + 1) * 4096), 0);
    close(fd);
    refused(*state, STORE_READ,
            "PATH has format 3 of an older fa-coord and is too large to "
            "convert in memory; 'fa-coord resume' converts it to format 12");
}

static void up_to_2_gib_fit_into_memory(void **state)
{
    (void)state;
    assert_true(dbfile_fits_memory(0));
    assert_true(dbfile_fits_memory(INT64_C(2147483648)));
    assert_false(dbfile_fits_memory(INT64_C(2147483649)));
}

static void a_failed_step_leaves_the_old_format(void **state)
{
    static const char *const good[] = { "CREATE TABLE a(x)" };
    static const char *const bad[] = { "CREATE TABLE a(x)",
                                       "CREATE TABLE b(x); oops" };
    struct sqlite3 *db;
    struct err err;
    int64_t n;

    assert_int_equal(dbfile_check(*state, true, &err), 0);
    assert_int_equal(
        dbfile_write(*state, (struct dbfile_steps){ good[0], good, 1, 1, NULL },
                     true, &db, &err),
        0);
    dbfile_close(db);
    assert_int_equal(
        dbfile_write(*state, (struct dbfile_steps){ NULL, bad, 2, 2, NULL },
                     false, &db, &err),
        ERR_STORE);
    assert_int_equal(
        dbfile_read(*state, (struct dbfile_steps){ good[0], good, 1, 1, NULL },
                    NULL, &db, &err),
        0);
    assert_int_equal(
        sql_number(db, "SELECT count(*) FROM sqlite_schema", &n, &err, ""), 0);
    assert_int_equal(n, 1);
    dbfile_close(db);
}

static void a_new_database_without_room_says_only_that(void **state)
{
    static const char *const steps[] = {
        "PRAGMA max_page_count=2; CREATE TABLE a(x); CREATE TABLE b(x);"
        "CREATE TABLE c(x)"
    };
    char *text = mem_printf("%s: the disk is full; make room, and run the same "
                            "command again",
                            (char *)*state);
    struct sqlite3 *db;
    struct err err;

    assert_int_equal(dbfile_check(*state, true, &err), 0);
    assert_int_equal(
        dbfile_write(*state,
                     (struct dbfile_steps){ steps[0], steps, 1, 1, NULL }, true,
                     &db, &err),
        ERR_STORE);
    assert_string_equal(err.text, text);
    free(text);
}

/* A step that needs more pages than there may be. */
static void a_step_without_room_says_that_the_disk_is_full(void **state)
{
    static const char *const steps[] = {
        "CREATE TABLE a(x)", "PRAGMA max_page_count=2; CREATE TABLE b(x)"
    };
    char *text =
        mem_printf("%s: the disk is full; to bring a database up to date takes "
                   "as much room as it has; nothing was changed; make room, "
                   "and run the same command again",
                   (char *)*state);
    struct sqlite3 *db;
    struct err err;

    assert_int_equal(dbfile_check(*state, true, &err), 0);
    assert_int_equal(
        dbfile_write(*state,
                     (struct dbfile_steps){ steps[0], steps, 1, 1, NULL }, true,
                     &db, &err),
        0);
    dbfile_close(db);
    assert_int_equal(
        dbfile_write(*state, (struct dbfile_steps){ NULL, steps, 2, 2, NULL },
                     false, &db, &err),
        ERR_STORE);
    assert_string_equal(err.text, text);
    free(text);
}

/* A second of 1970, so that a write is seen whenever it is. */
static void opening_the_newest_format_writes_nothing(void **state)
{
    const struct timespec long_ago[] = { { 1, 0 }, { 1, 0 } };
    struct stat st;

    store_close(fixture_open(*state, STORE_CREATE));
    assert_int_equal(utimensat(AT_FDCWD, *state, long_ago, 0), 0);
    store_close(fixture_open(*state, STORE_WRITE));
    assert_int_equal(stat(*state, &st), 0);
    assert_int_equal(st.st_mtim.tv_sec, 1);
}

static void a_checksum_is_of_as_many_columns_as_a_row_may_have(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    char sql[256] = "SELECT length(checksum_row(1";
    struct err err = { "" };
    int64_t n;

    for (int i = 1; i < SQL_VALUES_MAX; i++)
        strcat(sql, ",1");
    strcat(sql, "))");
    assert_int_equal(fixture_number(store, sql), HASH_HEX - 1);
    strcpy(sql + strlen(sql) - 2, ",1))");
    assert_int_equal(sql_number(store_db(store), sql, &n, &err, ""), ERR_STORE);
    assert_string_equal(err.text, "too many columns");
    store_close(store);
}

static void a_database_is_opened_without_standard_input(void **state)
{
    int in = dup(STDIN_FILENO);
    struct store *store;

    close(STDIN_FILENO);
    store = fixture_open(*state, STORE_CREATE);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM run"), 0);
    store_close(store);
    (void)dup2(in, STDIN_FILENO);
    close(in);
}

/* Whatever SQL a command passes on, the file stays a database. */
static void the_schema_cannot_be_edited_by_hand(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct err err = { "" };

    assert_int_equal(sql_run(store_db(store),
                             "PRAGMA writable_schema=ON;"
                             "DELETE FROM sqlite_schema",
                             &err),
                     ERR_STORE);
    assert_string_equal(err.text, "table sqlite_master may not be modified");
    store_close(store);
}

/* A name in double quotes that is no column is an error, not a text. */
static void double_quotes_are_for_names_alone(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct err err = { "" };

    assert_int_equal(sql_run(store_db(store),
                             "DELETE FROM event WHERE name = \"HOST\"", &err),
                     ERR_STORE);
    assert_string_equal(err.text, "no such column: HOST");
    assert_int_equal(sql_run(store_db(store),
                             "CREATE TABLE a(x CHECK(x <> \"HOST\"))", &err),
                     ERR_STORE);
    assert_string_equal(err.text, "no such column: HOST");
    store_close(store);
}

static void network_file_systems_are_known_by_name(void **state)
{
    (void)state;
    assert_string_equal(dbfile_network(0x6969), "NFS");
    assert_string_equal(dbfile_network(0xffffffffff534d42), "CIFS");
    assert_null(dbfile_network(0xef53)); /* ext4 */
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_new_database_is_for_its_owner_alone),
        TEST(a_missing_database_is_made_only_when_asked),
        TEST(an_empty_file_becomes_a_database_only_when_asked),
        TEST(a_file_that_is_no_database_is_left_alone),
        TEST(a_file_with_two_names_is_read_but_not_written),
        TEST(a_folder_is_not_a_database),
        TEST(a_pipe_is_not_a_database),
        TEST(what_cannot_be_written_is_said_with_its_reason),
        TEST(a_folder_that_is_not_there_is_named),
        TEST(a_database_is_new_until_it_is_made),
        TEST(what_is_no_database_is_no_new_one),
        TEST(a_dangling_link_is_not_taken_for_a_new_database),
        TEST(a_check_of_the_file_leaves_no_descriptor_open),
        TEST(a_database_of_another_program_is_refused),
        TEST(a_newer_format_is_refused),
        TEST(a_torn_file_is_called_corrupt),
        TEST(steps_bring_an_old_format_up_to_date),
        TEST(what_an_old_format_cannot_be_read_for_is_said_of_its_path),
        cmocka_unit_test(a_schema_that_is_none_opens_nothing),
        TEST(what_is_old_and_too_large_for_memory_is_refused),
        cmocka_unit_test(up_to_2_gib_fit_into_memory),
        TEST(a_failed_step_leaves_the_old_format),
        TEST(a_new_database_without_room_says_only_that),
        TEST(a_step_without_room_says_that_the_disk_is_full),
        TEST(opening_the_newest_format_writes_nothing),
        TEST(a_checksum_is_of_as_many_columns_as_a_row_may_have),
        TEST(a_database_is_opened_without_standard_input),
        TEST(the_schema_cannot_be_edited_by_hand),
        TEST(double_quotes_are_for_names_alone),
        cmocka_unit_test(network_file_systems_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
