/* test_dblock.c - one coordinator a database, and who holds it */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/store/dbfile.h"
#include "coordinator/store/dblock.h"
#include "tests/coordinator/store/store_fixture.h"

#define NOBODY 65534

/* A second lock for an instant, as 'status' takes it: it is released in this
 * wait of those for it, if at all. */
static int waits, release_in, other_lock;

/* Not from poll.h: with _FORTIFY_SOURCE its poll() is inline. */
struct pollfd;
int poll(struct pollfd *fds, unsigned long n, int ms);

int poll(struct pollfd *fds, unsigned long n, int ms)
{
    assert_null(fds);
    assert_int_equal(n, 0);
    assert_int_equal(ms, 20);
    if (++waits == release_in)
        close(other_lock);
    return 0;
}

/* Why no lock is given, as on a file system that has none; 0: it is. */
static int no_locks;

/* The file that is removed as it is locked, so many times. */
static const char *removed;
static int removals;

int flock(int fd, int operation)
{
    if (removals > 0) {
        removals--;
        assert_int_equal(unlink(removed), 0);
    }
    if (no_locks) {
        errno = no_locks;
        return -1;
    }
    if (syscall(SYS_flock, fd, operation) < 0)
        return -1;
    errno = EWOULDBLOCK; /* it says nothing where nothing failed */
    return 0;
}

static int open_descriptors(void)
{
    int n = 0;

    for (int fd = 0; fd < 64; fd++)
        n += fcntl(fd, F_GETFD) != -1;
    return n;
}

static int take_beside_another(const char *path, int release)
{
    char *name = mem_printf("%s.lock", path);
    struct err err;
    int lock;

    waits = 0;
    release_in = release;
    other_lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    free(name);
    assert_int_equal(flock(other_lock, LOCK_SH), 0);
    lock = dblock_take(path, &err);
    if (lock < 0) {
        assert_non_null(strstr(err.text, " is in use by "));
        close(other_lock);
    }
    return lock;
}

static void a_lock_that_is_taken_is_tried_ten_times(void **state)
{
    dblock_release(take_beside_another(*state, 9));
    assert_int_equal(waits, 9);
    assert_int_equal(take_beside_another(*state, 0), ERR_STORE);
    assert_int_equal(waits, 9);
}

/* Waiting would not help. */
static void a_lock_that_cannot_be_had_is_tried_once(void **state)
{
    char *text = mem_printf("%s.lock: No locks available", (char *)*state);
    int before = open_descriptors();
    struct err err;

    waits = 0;
    no_locks = ENOLCK;
    assert_int_equal(dblock_take(*state, &err), ERR_STORE);
    no_locks = 0;
    assert_string_equal(err.text, text);
    assert_int_equal(waits, 0);
    assert_int_equal(open_descriptors(), before);
    free(text);
}

/* It may lead to a file of somebody else. */
static void a_lock_that_is_a_symbolic_link_is_not_followed(void **state)
{
    char *name = mem_printf("%s.lock", (char *)*state);
    char *text = mem_printf("%s: Too many levels of symbolic links", name);
    struct err err;

    assert_int_equal(symlink("/dev/null", name), 0);
    assert_int_equal(dblock_take(*state, &err), ERR_STORE);
    assert_string_equal(err.text, text);
    assert_int_equal(unlink(name), 0);
    free(text);
    free(name);
}

/* Nobody holds it, whatever an earlier call has met. */
static void a_lock_that_is_free_is_not_held(void **state)
{
    struct dblock_holder holder;
    struct err err;

    dblock_release(dblock_take(*state, &err));
    errno = EWOULDBLOCK;
    assert_false(dblock_is_held(*state, &holder));
}

static void a_second_coordinator_is_told_who_holds_it(void **state)
{
    struct store *first = fixture_open(*state, STORE_CREATE);
    struct dblock_holder holder;
    struct store *second;
    struct err err;
    char since[CLOCK_ISO_BYTES];
    char *pid = mem_printf("is in use by fa-coord with pid %d on ", getpid());

    assert_int_equal(store_open(*state, STORE_WRITE, &second, &err), ERR_STORE);
    assert_non_null(strstr(err.text, pid));
    assert_non_null(strstr(err.text, "'fa-coord status' shows what it does"));
    assert_true(dblock_is_held(*state, &holder));
    assert_int_equal(holder.pid, getpid());
    clock_iso(holder.since_utc, since);
    assert_non_null(strstr(err.text, since));
    store_close(fixture_open(*state, STORE_READ));
    store_close(first);
    assert_false(dblock_is_held(*state, &holder));
    free(pid);
}

/* Descriptor 0 is one like another. */
static void
a_lock_is_taken_seen_and_released_without_standard_input(void **state)
{
    char *name = mem_printf("%s.lock", (char *)*state);
    int in = dup(STDIN_FILENO), lock;
    struct dblock_holder holder;
    struct err err = { "" };

    close(STDIN_FILENO);
    lock = dblock_take(*state, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(lock, STDIN_FILENO);
    assert_true(dblock_is_held(*state, &holder));
    dblock_release(lock);
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    assert_false(dblock_is_held(*state, &holder));
    removed = name;
    removals = 1;
    lock = dblock_take(*state, &err);
    assert_int_equal(lock, STDIN_FILENO);
    assert_int_equal(access(name, F_OK), 0);
    dblock_release(lock);
    lock = dblock_take(*state, &err); /* it looks through descriptor 0 */
    assert_int_equal(dup2(lock, in), in);
    dblock_release(lock);
    assert_true(dblock_is_held(*state, &holder));
    assert_int_equal(holder.pid, getpid());
    close(in);
    assert_int_equal(open("/dev/null", O_RDONLY), STDIN_FILENO);
    free(name);
}

/* Another command has removed the file between open() and flock(). */
static void a_lock_file_removed_meanwhile_is_made_ten_times(void **state)
{
    char *name = mem_printf("%s.lock", (char *)*state);
    char *text = mem_printf("%s: it is removed again and again", name);
    int before = open_descriptors(), lock;
    struct err err = { "" };

    removed = name;
    removals = 9;
    lock = dblock_take(*state, &err);
    assert_true(lock >= 0);
    assert_int_equal(access(name, F_OK), 0);
    dblock_release(lock);
    removals = 10;
    assert_int_equal(dblock_take(*state, &err), ERR_STORE);
    assert_string_equal(err.text, text);
    assert_int_equal(removals, 0);
    assert_int_equal(open_descriptors(), before);
    free(text);
    free(name);
}

static void the_lock_of_a_dead_process_is_taken_over(void **state)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        (void)fixture_open(*state, STORE_CREATE);
        _exit(0); /* neither closed nor unlocked */
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    store_close(fixture_open(*state, STORE_WRITE));
}

static bool another_process_takes(const char *path)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        char *name = mem_printf("%s.lock", path);
        int lock = open(name, O_RDWR | O_CLOEXEC);

        _exit(flock(lock, LOCK_EX | LOCK_NB) < 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status == 0;
}

/* So the database is not free between two steps of a command. */
static void what_a_command_keeps_it_opens_as_often_as_it_likes(void **state)
{
    struct dblock_holder holder;
    struct err err;

    assert_int_equal(dblock_keep(*state, &err), 0);
    for (int i = 0; i < 2; i++) {
        store_close(fixture_open(*state, STORE_CREATE));
        assert_false(another_process_takes(*state));
    }
    assert_true(dblock_is_held(*state, &holder));
    assert_int_equal(holder.pid, getpid());
    dblock_drop();
    assert_true(another_process_takes(*state));
    dblock_drop();
}

static void what_another_has_cannot_be_kept(void **state)
{
    int lock;
    struct err err;

    lock = dblock_take(*state, &err);
    assert_int_equal(dblock_keep(*state, &err), ERR_STORE);
    assert_non_null(strstr(err.text, " is in use by fa-coord with pid "));
    dblock_release(lock);
    assert_int_equal(dblock_keep("/nonexistent/a.db", &err), 0);
    dblock_drop();
    store_close(fixture_open(*state, STORE_CREATE));
}

static void a_lock_is_kept_and_renewed_without_standard_input(void **state)
{
    char *name = mem_printf("%s.lock", (char *)*state);
    int before = open_descriptors(), in = dup(STDIN_FILENO), lock;
    struct err err = { "" };

    close(STDIN_FILENO);
    assert_int_equal(dblock_keep(*state, &err), 0);
    lock = dblock_take(*state, &err);
    assert_true(lock > STDIN_FILENO);
    dblock_drop();
    assert_int_equal(dup2(lock, STDIN_FILENO), STDIN_FILENO);
    dblock_release(lock);
    dblock_release(STDIN_FILENO);
    assert_int_equal(open("/dev/null", O_RDONLY), STDIN_FILENO);
    assert_int_equal(dblock_keep(*state, &err), 0);
    close(STDIN_FILENO);
    assert_int_equal(dblock_take(*state, &err), STDIN_FILENO);
    lock = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(dblock_renew(*state, &lock, &err), 0);
    dblock_release(lock);
    assert_false(another_process_takes(*state)); /* it is kept still */
    dblock_drop();
    lock = dblock_take(*state, &err);
    assert_int_equal(dup2(lock, 50), 50);
    dblock_release(lock);
    lock = 50;
    assert_int_equal(unlink(name), 0);
    assert_int_equal(dblock_renew(*state, &lock, &err), 0);
    assert_int_equal(lock, STDIN_FILENO);
    dblock_release(lock);
    assert_int_equal(dup2(in, STDIN_FILENO), STDIN_FILENO);
    close(in);
    assert_int_equal(open_descriptors(), before);
    free(name);
}

/* As in a command: kept before there is a database, by a path that is not
 * absolute. */
static void what_is_kept_is_opened_when_it_is_made(void **state)
{
    char *folder = mem_strdup(*state), *name = strrchr(folder, '/');
    char before[4096];
    struct err err;

    *name++ = '\0';
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(dblock_keep(name, &err), 0);
    store_close(fixture_open(name, STORE_CREATE));
    store_close(fixture_open(*state, STORE_WRITE));
    dblock_drop();
    assert_int_equal(chdir(before), 0);
    free(folder);
}

static void a_symbolic_link_leads_to_the_same_lock(void **state)
{
    char *link = mem_printf("%s.link", (char *)*state);
    struct store *first = fixture_open(*state, STORE_CREATE);
    struct dblock_holder holder;
    struct store *second;
    struct err err;

    assert_int_equal(symlink(*state, link), 0);
    assert_true(dblock_is_held(link, &holder));
    assert_int_equal(store_open(link, STORE_WRITE, &second, &err), ERR_STORE);
    assert_non_null(strstr(err.text, ".link is in use by fa-coord with pid "));
    store_close(first);
    store_close(fixture_open(link, STORE_WRITE));
    assert_int_equal(unlink(link), 0);
    free(link);
}

static void a_lock_file_that_was_removed_is_locked_again(void **state)
{
    char *name = mem_printf("%s.lock", (char *)*state);
    struct dblock_holder holder;
    struct err err;
    int before = open_descriptors(), fd = dblock_take(*state, &err), other;

    assert_int_equal(unlink(name), 0);
    assert_int_equal(dblock_renew(*state, &fd, &err), 0);
    assert_true(dblock_is_held(*state, &holder));
    assert_int_equal(holder.pid, getpid());
    assert_int_equal(unlink(name), 0);
    other = dblock_take(*state, &err);
    assert_true(other >= 0);
    assert_int_equal(dblock_renew(*state, &fd, &err), ERR_STORE);
    assert_non_null(strstr(err.text, " is in use by fa-coord with pid "));
    dblock_release(other);
    dblock_release(fd);
    assert_int_equal(open_descriptors(), before);
    free(name);
}

/* Another process has the database: what was put must not be committed. */
static void no_commit_without_the_lock(const char *path)
{
    char *name = mem_printf("%s.lock", path);
    struct store *store = fixture_open(path, STORE_CREATE);
    struct err err;
    int other;

    assert_int_equal(unlink(name), 0);
    other = dblock_take(path, &err);
    fixture_run(store, FIXTURE_EPOCH);
    assert_int_equal(store_commit(store, &err), ERR_STORE);
    assert_non_null(strstr(err.text, " is in use by fa-coord with pid "));
    dblock_release(other);
    store_close(store);
    free(name);
}

static void nothing_is_committed_without_the_lock(void **state)
{
    no_commit_without_the_lock(*state);
}

static void nothing_is_committed_without_a_lock_in_descriptor_0(void **state)
{
    int in = dup(STDIN_FILENO);

    close(STDIN_FILENO);
    no_commit_without_the_lock(*state);
    assert_int_equal(dup2(in, STDIN_FILENO), STDIN_FILENO);
    close(in);
}

/* In a process that is not the superuser. */
static int says_what_to_do(const char *path)
{
    struct err check = { "" }, lock = { "" };

    if (geteuid() == 0 &&
        (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
         setresuid(NOBODY, NOBODY, NOBODY) < 0))
        return 100;
    if (dbfile_check(path, true, &check) >= 0 || dblock_take(path, &lock) >= 0)
        return 101;
    if (!strstr(check.text, "sweep.db cannot be written: Permission denied; "
                            "name a database elsewhere with --db"))
        return 102;
    return strstr(lock.text, "sweep.db.lock: Permission denied; a database "
                             "needs a folder that can be written")
               ? 0
               : 103;
}

static void a_folder_that_takes_no_file_has_a_remedy(void **state)
{
    char *folder = mem_strdup(*state);
    int status;
    pid_t pid;

    *strrchr(folder, '/') = '\0';
    assert_int_equal(chmod(folder, 0555), 0);
    pid = fork();
    if (pid == 0)
        _exit(says_what_to_do(*state));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    free(folder);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_lock_that_is_taken_is_tried_ten_times),
        TEST(a_lock_that_cannot_be_had_is_tried_once),
        TEST(a_lock_that_is_a_symbolic_link_is_not_followed),
        TEST(a_lock_that_is_free_is_not_held),
        TEST(a_second_coordinator_is_told_who_holds_it),
        TEST(a_lock_is_taken_seen_and_released_without_standard_input),
        TEST(a_lock_file_removed_meanwhile_is_made_ten_times),
        TEST(the_lock_of_a_dead_process_is_taken_over),
        TEST(what_a_command_keeps_it_opens_as_often_as_it_likes),
        TEST(a_lock_is_kept_and_renewed_without_standard_input),
        TEST(what_another_has_cannot_be_kept),
        TEST(what_is_kept_is_opened_when_it_is_made),
        TEST(a_symbolic_link_leads_to_the_same_lock),
        TEST(a_lock_file_that_was_removed_is_locked_again),
        TEST(nothing_is_committed_without_the_lock),
        TEST(nothing_is_committed_without_a_lock_in_descriptor_0),
        TEST(a_folder_that_takes_no_file_has_a_remedy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
