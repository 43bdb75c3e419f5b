/* Reading a database beside a writer, after one, and where nothing can be
 * written: processes of their own, since SQLite's locks are a process's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/sql/sql.h"
#include "tests/coordinator/store/store_fixture.h"

#define NOBODY 65534

/* Another time of change in so many looks at a file. */
static int changes;
static const char *changing;

int stat(const char *path, struct stat *out)
{
    int rc = fstatat(AT_FDCWD, path, out, 0);

    if (changes > 0 && strcmp(path, changing) == 0)
        out->st_mtim.tv_nsec = changes--;
    return rc;
}

/* Nothing can be written, also for the superuser. */
static bool forbids;

int access(const char *path, int mode)
{
    if (forbids && mode == W_OK) {
        errno = EACCES;
        return -1;
    }
    return faccessat(AT_FDCWD, path, mode, 0);
}

/* ---- what is there */

static int64_t size_of(const char *path, const char *end)
{
    char *name = mem_printf("%s%s", path, end);
    struct stat st;
    int64_t size = stat(name, &st) == 0 ? st.st_size : -1;

    free(name);
    return size;
}

/* Its modification time, so that one sees whether it was written. */
static int64_t changed_at(const char *path, const char *end)
{
    char *name = mem_printf("%s%s", path, end);
    struct stat st;

    assert_int_equal(stat(name, &st), 0);
    free(name);
    return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

static void there_is_nothing_beside(const char *path)
{
    assert_int_equal(size_of(path, "-wal"), -1);
    assert_int_equal(size_of(path, "-shm"), -1);
}

/* ---- a writer that is another process */

struct writer {
    pid_t pid;
    int to, from;
};

static void put(struct store *store, int n)
{
    char *key = mem_printf("k%d", n);
    struct store_sweep sweep = fixture_sweep(key);
    struct err err;
    int64_t id;

    if (store_sweep_put(store, &sweep, &id, &err) < 0 ||
        store_commit(store, &err) < 0)
        _exit(9);
    free(key);
}

/* 'w' commits another row, 'c' closes the database, 'x' does not. */
static void write_on(const char *path, int in, int out)
{
    struct store *store;
    struct err err;
    char order = 'w';
    int n = 0;

    if (store_open(path, STORE_CREATE, &store, &err) < 0)
        _exit(8);
    while (order == 'w') {
        put(store, n++);
        if (write(out, "!", 1) != 1 || read(in, &order, 1) != 1)
            _exit(7);
    }
    if (order == 'c')
        store_close(store);
    _exit(0);
}

static struct writer start_writer(const char *path)
{
    struct writer writer;
    int to[2], from[2];
    char done;

    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    writer.pid = fork();
    if (writer.pid == 0)
        write_on(path, to[0], from[1]);
    close(to[0]);
    close(from[1]);
    writer.to = to[1];
    writer.from = from[0];
    assert_int_equal(read(writer.from, &done, 1), 1);
    return writer;
}

static void tell(struct writer *writer, char order)
{
    int status;
    char done;

    assert_int_equal(write(writer->to, &order, 1), 1);
    if (order == 'w') {
        assert_int_equal(read(writer->from, &done, 1), 1);
        return;
    }
    assert_int_equal(waitpid(writer->pid, &status, 0), writer->pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(writer->to);
    close(writer->from);
}

static void run_writer(const char *path, char end)
{
    struct writer writer = start_writer(path);

    tell(&writer, end);
}

/* ---- a reader */

#define FORBIDDEN (-2) /* SQLite must write to the folder */

/* Rows, or FORBIDDEN or -1, with the message on standard error. */
static int rows(const char *path)
{
    struct store *store;
    struct err err = { "" };
    int64_t n = -1;

    if (store_open(path, STORE_READ, &store, &err) < 0 ||
        sql_number(store_db(store), "SELECT count(*) FROM sweep", &n, &err,
                   "") < 0)
        fprintf(stderr, "%s\n", err.text);
    store_close(store);
    return strstr(err.text, "SQLite must write to the folder to read them; "
                            "copy both files")
               ? FORBIDDEN
               : (int)n;
}

static void mode_of(const char *path, const char *end, mode_t mode)
{
    char *name = mem_printf("%s%s", path, end);

    assert_int_equal(chmod(name, mode), 0);
    free(name);
}

static void folder_mode(const char *path, mode_t mode)
{
    char *folder = mem_dup(path, (size_t)(strrchr(path, '/') - path));

    assert_int_equal(chmod(folder, mode), 0);
    free(folder);
}

/* A process in whose folder nothing can be written, which the superuser always
 * can; as fork(). */
static pid_t fork_without_a_right_to_write(const char *path)
{
    static const char *const ends[] = { "", "-wal", "-shm" };
    pid_t pid;

    for (size_t i = 0; i < 3; i++)
        if (size_of(path, ends[i]) >= 0)
            mode_of(path, ends[i], 0444);
    folder_mode(path, 0555);
    pid = fork();
    if (pid == 0 && geteuid() == 0 &&
        (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
         setresuid(NOBODY, NOBODY, NOBODY) < 0))
        _exit(100);
    return pid;
}

static int rows_where_nothing_can_be_written(const char *path)
{
    pid_t pid = fork_without_a_right_to_write(path);
    int status;

    if (pid == 0)
        _exit(rows(path) & 0xff);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    folder_mode(path, 0700);
    assert_true(WIFEXITED(status));
    return (int8_t)WEXITSTATUS(status);
}

/* ---- */

static void reading_leaves_no_trace(void **state)
{
    int64_t at;

    run_writer(*state, 'c');
    there_is_nothing_beside(*state);
    at = changed_at(*state, "");
    assert_int_equal(rows(*state), 1);
    there_is_nothing_beside(*state);
    assert_true(changed_at(*state, "") == at);
}

static void what_an_earlier_reader_left_goes(void **state)
{
    char *wal = mem_printf("%s-wal", (char *)*state);

    run_writer(*state, 'c');
    close(open(wal, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(size_of(*state, "-wal"), 0);
    assert_int_equal(rows(*state), 1);
    there_is_nothing_beside(*state);
    free(wal);
}

static void a_reader_may_not_write(void **state)
{
    struct store *store;
    struct err err;

    run_writer(*state, 'c');
    store = fixture_open(*state, STORE_READ);
    assert_int_equal(sql_run(store_db(store), "DELETE FROM sweep", &err),
                     ERR_STORE);
    assert_non_null(strstr(err.text, "readonly"));
    store_close(store);
    assert_int_equal(rows(*state), 1);
}

static void a_reader_sees_what_a_writer_has_committed(void **state)
{
    struct writer writer = start_writer(*state);

    assert_int_equal(rows(*state), 1);
    tell(&writer, 'w');
    assert_int_equal(rows(*state), 2);
    assert_true(size_of(*state, "-wal") > 0);
    tell(&writer, 'w');
    tell(&writer, 'c');
    there_is_nothing_beside(*state);
    assert_int_equal(rows(*state), 3);
    there_is_nothing_beside(*state);
}

/* Who is the last cleans up. */
static void a_writer_that_ends_first_leaves_it_to_the_reader(void **state)
{
    struct writer writer = start_writer(*state);
    struct store *store = fixture_open(*state, STORE_READ);

    assert_int_equal(fixture_number(store, "SELECT count(*) FROM sweep"), 1);
    tell(&writer, 'c');
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM sweep"), 1);
    store_close(store);
    there_is_nothing_beside(*state);
    assert_int_equal(rows(*state), 1);
}

static void what_a_killed_writer_left_is_read_and_kept(void **state)
{
    int64_t file_at, wal_at;

    run_writer(*state, 'x');
    assert_true(size_of(*state, "-wal") > 0);
    file_at = changed_at(*state, "");
    wal_at = changed_at(*state, "-wal");
    for (int i = 0; i < 2; i++)
        assert_int_equal(rows(*state), 1);
    assert_true(changed_at(*state, "") == file_at);
    assert_true(changed_at(*state, "-wal") == wal_at);
    run_writer(*state, 'c'); /* the same row once more */
    there_is_nothing_beside(*state);
    assert_int_equal(rows(*state), 1);
}

/* Each may be the last to close it, and then takes the files away that another
 * one is about to use. */
static void readers_and_writers_come_and_go(void **state)
{
    pid_t readers[3];
    int status;

    run_writer(*state, 'c');
    for (int i = 0; i < 3; i++) {
        readers[i] = fork();
        for (int n = 0; readers[i] == 0 && n < 150; n++)
            if (rows(*state) != 1)
                _exit(1);
        if (readers[i] == 0)
            _exit(0);
    }
    for (int i = 0; i < 10; i++)
        run_writer(*state, 'c');
    for (int i = 0; i < 3; i++) {
        assert_int_equal(waitpid(readers[i], &status, 0), readers[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    there_is_nothing_beside(*state);
}

static void a_folder_that_cannot_be_written_is_read(void **state)
{
    run_writer(*state, 'c');
    assert_int_equal(rows_where_nothing_can_be_written(*state), 1);
    there_is_nothing_beside(*state);
}

static void a_file_that_cannot_be_written_is_read_beside_others(void **state)
{
    run_writer(*state, 'c');
    mode_of(*state, "", 0400);
    assert_int_equal(rows(*state), 1);
    there_is_nothing_beside(*state);
}

static void a_writer_is_read_from_where_one_cannot_write(void **state)
{
    struct writer writer = start_writer(*state);

    tell(&writer, 'w');
    assert_int_equal(rows_where_nothing_can_be_written(*state), 2);
    mode_of(*state, "-wal", 0600);
    mode_of(*state, "-shm", 0600);
    tell(&writer, 'w');
    assert_int_equal(rows_where_nothing_can_be_written(*state), 3);
    tell(&writer, 'c');
    there_is_nothing_beside(*state);
}

static void what_a_killed_writer_left_is_read_there_too(void **state)
{
    run_writer(*state, 'x');
    assert_int_equal(rows_where_nothing_can_be_written(*state), 1);
    assert_true(size_of(*state, "-wal") > 0);
}

/* A copy of file and WAL, as from a machine that is gone. */
static void without_an_index_it_is_said_what_to_do(void **state)
{
    char *shm = mem_printf("%s-shm", (char *)*state);

    run_writer(*state, 'x');
    assert_int_equal(unlink(shm), 0);
    assert_int_equal(rows_where_nothing_can_be_written(*state), FORBIDDEN);
    mode_of(*state, "", 0600);
    mode_of(*state, "-wal", 0600);
    assert_int_equal(rows(*state), 1);
    free(shm);
}

/* That is no matter of rights, and to copy it would not help. */
static void a_log_that_is_a_folder_is_not_called_forbidden(void **state)
{
    char *wal = mem_printf("%s-wal", (char *)*state);

    run_writer(*state, 'c');
    assert_int_equal(mkdir(wal, 0700), 0);
    assert_int_equal(rows(*state), -1);
    assert_int_equal(rmdir(wal), 0);
    free(wal);
}

/* Open it, say so, and count when told. */
static int count_later(const char *path, int in, int out)
{
    struct store *store = fixture_open(path, STORE_READ);
    char byte = 'o';

    if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
        return 101;
    return (int)fixture_number(store, "SELECT count(*) FROM sweep");
}

/* It has no lock that would keep a writer out. */
static void a_writer_that_comes_later_does_not_change_what_is_read(void **state)
{
    struct writer writer;
    int to[2], from[2], status;
    char byte = 0;
    pid_t pid;

    run_writer(*state, 'c');
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    pid = fork_without_a_right_to_write(*state);
    if (pid == 0)
        _exit(count_later(*state, to[0], from[1]));
    assert_int_equal(read(from[0], &byte, 1), 1);
    folder_mode(*state, 0700);
    mode_of(*state, "", 0600);
    writer = start_writer(*state);
    tell(&writer, 'w');
    tell(&writer, 'c');
    assert_int_equal(write(to[1], &byte, 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    for (int i = 0; i < 2; i++) {
        close(to[i]);
        close(from[i]);
    }
}

/* One look before it is opened, and two for each try. */
static void a_file_that_changes_is_read_in_three_tries(void **state)
{
    run_writer(*state, 'c');
    changing = *state;
    changes = 5;
    assert_int_equal(rows_where_nothing_can_be_written(*state), 1);
    changes = 7;
    assert_int_equal(rows_where_nothing_can_be_written(*state), -1);
    changes = 0;
}

/* Of each try, whether it is used or not. */
static void nothing_is_left_open_of_a_file_that_is_read_alone(void **state)
{
    int first = dup(STDERR_FILENO), last;

    close(first);
    run_writer(*state, 'c');
    forbids = true;
    assert_int_equal(rows(*state), 1);
    changing = *state;
    changes = 5;
    assert_int_equal(rows(*state), 1);
    changes = 7;
    assert_int_equal(rows(*state), -1);
    changes = 0;
    forbids = false;
    last = dup(STDERR_FILENO);
    close(last);
    assert_int_equal(last, first);
}

/* So that a writer who comes does not change it while it is read. */
static void a_file_that_is_read_alone_is_copied(void **state)
{
    struct store *store;

    run_writer(*state, 'c');
    forbids = true;
    store = fixture_open(*state, STORE_READ);
    forbids = false;
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM"
                                           " pragma_database_list"
                                           " WHERE file<>''"),
                     0);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM sweep"), 1);
    store_close(store);
}

/* The lock is descriptor 0, and a reader is there to the end. */
static void a_log_is_emptied_without_standard_input(void **state)
{
    char *wal = mem_printf("%s-wal", (char *)*state);
    int in = dup(STDIN_FILENO);
    struct store *writer, *reader;
    struct err err = { "" };
    struct stat st;

    close(STDIN_FILENO);
    writer = fixture_open(*state, STORE_CREATE);
    reader = fixture_open(*state, STORE_READ);
    fixture_run(writer, FIXTURE_EPOCH);
    assert_int_equal(store_commit(writer, &err), 0);
    assert_int_equal(stat(wal, &st), 0);
    assert_true(st.st_size > 0);
    store_close(writer);
    assert_int_equal(stat(wal, &st), 0);
    assert_int_equal(st.st_size, 0);
    store_close(reader);
    assert_int_equal(dup2(in, STDIN_FILENO), STDIN_FILENO);
    close(in);
    free(wal);
}

/* It may read for long, and what it reads stays in the log. */
static void a_reader_holds_up_the_end_for_a_second(void **state)
{
    struct store *writer = fixture_open(*state, STORE_CREATE);
    struct store *reader = fixture_open(*state, STORE_READ);
    struct err err = { "" };
    int64_t start_ns;

    fixture_run(writer, FIXTURE_EPOCH);
    assert_int_equal(store_commit(writer, &err), 0);
    assert_int_equal(sql_run(store_db(reader), "BEGIN", &err), 0);
    assert_int_equal(fixture_number(reader, "SELECT count(*) FROM run"), 1);
    fixture_run(writer, FIXTURE_EPOCH + 1);
    assert_int_equal(store_commit(writer, &err), 0);
    start_ns = clock_boot_ns();
    store_close(writer);
    assert_in_range(clock_boot_ns() - start_ns, 500 * NS_PER_MS, 4 * NS_PER_S);
    assert_int_equal(fixture_number(reader, "SELECT count(*) FROM run"), 1);
    store_close(reader);
}

/* SQLite takes the name as a URI, in which these characters mean something. */
static void a_name_is_read_as_it_stands(void **state)
{
    const char *end = strrchr(*state, '/');
    char *path = mem_printf("%.*s/a%%41?mode=memory#b",
                            (int)(end - (char *)*state), (char *)*state);
    struct store *store;

    free(*state);
    *state = path; /* removed at the end */
    store_close(fixture_open(path, STORE_CREATE));
    store = fixture_open(path, STORE_READ);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM run"), 0);
    store_close(store);
    assert_int_equal(rows_where_nothing_can_be_written(path), 0);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(reading_leaves_no_trace),
        TEST(a_name_is_read_as_it_stands),
        TEST(what_an_earlier_reader_left_goes),
        TEST(a_reader_may_not_write),
        TEST(a_reader_sees_what_a_writer_has_committed),
        TEST(a_writer_that_ends_first_leaves_it_to_the_reader),
        TEST(what_a_killed_writer_left_is_read_and_kept),
        TEST(readers_and_writers_come_and_go),
        TEST(a_folder_that_cannot_be_written_is_read),
        TEST(a_file_that_cannot_be_written_is_read_beside_others),
        TEST(a_writer_is_read_from_where_one_cannot_write),
        TEST(what_a_killed_writer_left_is_read_there_too),
        TEST(without_an_index_it_is_said_what_to_do),
        TEST(a_log_that_is_a_folder_is_not_called_forbidden),
        TEST(nothing_is_left_open_of_a_file_that_is_read_alone),
        TEST(a_file_that_is_read_alone_is_copied),
        TEST(a_log_is_emptied_without_standard_input),
        TEST(a_reader_holds_up_the_end_for_a_second),
        TEST(a_file_that_changes_is_read_in_three_tries),
        TEST(a_writer_that_comes_later_does_not_change_what_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
