#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/text/outfile.h"

#define CUT_EVERY 100
#define NEW_BYTES 3000

static char dir[] = "/tmp/fa-test-outfile-XXXXXX";
static char path[64], part[80], link_path[64];
static char new_text[NEW_BYTES + 1];
static const char old_text[] = "the old text\n";

static void save(const char *to, const char *text, bool force)
{
    struct err err;

    if (outfile_save(to, text, strlen(text), force, &err) < 0)
        fail_msg("%s", err.text);
}

static void refused(bool force, int code, const char *text)
{
    struct err err;

    assert_int_equal(outfile_save(path, "x", 1, force, &err), code);
    assert_non_null(strstr(err.text, text));
}

static void holds(const char *text)
{
    char got[NEW_BYTES + 100] = "";
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    got[fread(got, 1, sizeof(got) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(got, text);
}

static bool is_there(const char *name)
{
    struct stat st;

    return lstat(name, &st) == 0;
}

/* Save in a process that the system kills when a file would be longer. */
static void save_killed(size_t bytes, bool force)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct rlimit limit = { bytes, bytes }, none = { 0, 0 };
        struct err err;

        setrlimit(RLIMIT_CORE, &none);
        setrlimit(RLIMIT_FSIZE, &limit);
        outfile_save(path, new_text, NEW_BYTES, force, &err);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGXFSZ);
}

static void a_killed_one_leaves_the_old_file_or_none(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < NEW_BYTES; cut += CUT_EVERY) {
        save_killed(cut, false);
        assert_false(is_there(path));
        save(path, old_text, false);
        assert_false(is_there(part));
        save_killed(cut, true);
        holds(old_text);
        save(path, new_text, true);
        holds(new_text);
        assert_false(is_there(part));
        unlink(path);
    }
}

static void one_that_exists_is_replaced_only_if_asked(void **state)
{
    (void)state;
    save(path, old_text, false);
    refused(false, ERR_INPUT, "exists already; --force");
    holds(old_text);
    assert_false(is_there(part));
}

static void what_a_killed_one_left_goes_with_a_refusal_too(void **state)
{
    (void)state;
    save(path, old_text, false);
    save_killed(1, true);
    assert_true(is_there(part));
    refused(false, ERR_INPUT, "exists already; --force");
    assert_false(is_there(part));
}

static void a_database_is_never_replaced(void **state)
{
    static const char head[] = "SQLite format 3";
    struct err err;
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    (void)state;
    assert_int_equal(write(fd, head, sizeof(head)), sizeof(head));
    close(fd);
    refused(true, ERR_INPUT, "is a database, which nothing is written over");
    assert_int_equal(symlink(path, link_path), 0);
    assert_int_equal(outfile_save(link_path, "x", 1, true, &err), ERR_INPUT);
    assert_int_equal(outfile_spare(link_path, &err), ERR_INPUT);
    holds(head);
    unlink(path);
    assert_int_equal(outfile_spare(link_path, &err), 0);
}

static void a_replaced_file_keeps_its_mode_and_its_links(void **state)
{
    struct stat st;

    (void)state;
    save(path, old_text, false);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink(path, link_path), 0);
    save(link_path, new_text, true);
    holds(new_text);
    assert_int_equal(lstat(link_path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void a_device_is_written_to(void **state)
{
    struct stat st;

    (void)state;
    assert_int_equal(symlink("/dev/null", path), 0);
    save(path, new_text, true);
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void two_at_once_do_not_mix(void **state)
{
    int other = open(part, O_WRONLY | O_CREAT, 0600);

    (void)state;
    assert_int_equal(flock(other, LOCK_EX), 0);
    refused(false, ERR_SYSTEM, "another fa-coord is writing it");
    assert_true(is_there(part));
    close(other);
    save(path, new_text, false);
    holds(new_text);
}

static void what_cannot_be_written_is_named(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path, 0700), 0);
    refused(true, ERR_INPUT, "is a folder; name a file in it");
    refused(false, ERR_INPUT, "is a folder; name a file in it");
    assert_false(is_there(part));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkdir(part, 0700), 0);
    refused(false, ERR_SYSTEM, part);
    assert_int_equal(rmdir(part), 0);
}

static void a_folder_that_is_missing_is_named(void **state)
{
    char file[64], wanted[128];
    struct err err;

    (void)state;
    snprintf(file, sizeof(file), "%s/none/deep/out", dir);
    snprintf(wanted, sizeof(wanted),
             "'%s': there is no folder '%s/none/deep'; make it first", file,
             dir);
    assert_int_equal(outfile_folder(file, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, wanted));
    assert_int_equal(outfile_save(file, "x", 1, false, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, wanted));
    save(path, old_text, false);
    assert_int_equal(outfile_folder(path, &err), 0);
    assert_int_equal(outfile_folder("out", &err), 0); /* the current one */
    snprintf(file, sizeof(file), "%s/out", path);
    snprintf(wanted, sizeof(wanted), "'%s' is not a folder", path);
    assert_int_equal(outfile_folder(file, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, wanted));
    snprintf(file, sizeof(file), "%s/out/deep/er", path);
    assert_int_equal(outfile_folder(file, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "is not a folder"));
}

static int setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/out", dir);
    snprintf(part, sizeof(part), "%s" OUTFILE_PART, path);
    snprintf(link_path, sizeof(link_path), "%s/link", dir);
    memset(new_text, 'n', NEW_BYTES);
    return 0;
}

static int clean(void **state)
{
    (void)state;
    unlink(path);
    unlink(part);
    unlink(link_path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_killed_one_leaves_the_old_file_or_none,
                                  clean),
        cmocka_unit_test_teardown(one_that_exists_is_replaced_only_if_asked,
                                  clean),
        cmocka_unit_test_teardown(
            what_a_killed_one_left_goes_with_a_refusal_too, clean),
        cmocka_unit_test_teardown(a_database_is_never_replaced, clean),
        cmocka_unit_test_teardown(a_replaced_file_keeps_its_mode_and_its_links,
                                  clean),
        cmocka_unit_test_teardown(a_device_is_written_to, clean),
        cmocka_unit_test_teardown(two_at_once_do_not_mix, clean),
        cmocka_unit_test_teardown(what_cannot_be_written_is_named, clean),
        cmocka_unit_test_teardown(a_folder_that_is_missing_is_named, clean),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
