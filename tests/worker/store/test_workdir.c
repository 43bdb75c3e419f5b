#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/store/build_dir.h"
#include "worker/store/workdir.h"

#define ANOTHER 12345 /* a user; only root can give away a link */

static char top[] = "/tmp/fa-workdir-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(top) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return build_dir_remove_tree(top) ? 0 : -1;
}

static const char *at(const char *name)
{
    static char paths[4][128];
    static size_t next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
    return path;
}

static void it_is_made_and_private(void **state)
{
    char out[WORKDIR_BYTES];
    struct stat st;

    (void)state;
    assert_int_equal(workdir_open(at("a/b"), out, NULL), 0);
    assert_string_equal(out, at("a/b"));
    assert_int_equal(stat(out, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

static void a_link_of_this_user_is_followed(void **state)
{
    char out[WORKDIR_BYTES];

    (void)state;
    assert_int_equal(mkdir(at("disk"), 0700), 0);
    assert_int_equal(symlink("disk", at("short")), 0);
    assert_int_equal(symlink(at("short"), at("long")), 0);
    assert_int_equal(workdir_open(at("long/work"), out, NULL), 0);
    assert_string_equal(out, at("disk/work"));
}

static void assert_refused(const char *path, const char *link)
{
    char out[WORKDIR_BYTES];
    struct err err;

    assert_int_equal(workdir_open(path, out, &err), ERR_INPUT);
    assert_memory_equal(err.text, link, strlen(link));
    assert_string_equal(err.text + strlen(link),
                        ": is a link that another user made; choose another "
                        "folder with workdir= in the hosts file or --workdir");
}

static void a_link_of_another_user_is_refused(void **state)
{
    struct stat st;

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(mkdir(at("mine"), 0755), 0);
    assert_int_equal(symlink("mine", at("theirs")), 0);
    assert_int_equal(lchown(at("theirs"), ANOTHER, ANOTHER), 0);
    assert_refused(at("theirs"), at("theirs"));
    assert_refused(at("theirs/below"), at("theirs"));
    assert_int_equal(symlink("theirs/below", at("over")), 0);
    assert_refused(at("over"), at("theirs"));
    assert_int_equal(stat(at("mine"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0755); /* nothing was done to it */
}

static void a_folder_of_another_user_is_refused(void **state)
{
    char out[WORKDIR_BYTES];
    struct err err;

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(mkdir(at("their_folder"), 0777), 0);
    assert_int_equal(chown(at("their_folder"), ANOTHER, ANOTHER), 0);
    assert_int_equal(workdir_open(at("their_folder"), out, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "must be a folder that this user owns"));
}

/* A file of this age. */
static void make_file(const char *name, int64_t age_s)
{
    const struct timespec then = { .tv_sec = time(NULL) - age_s };
    const struct timespec times[] = { then, then };
    FILE *file = fopen(at(name), "w");

    assert_non_null(file);
    fclose(file);
    assert_int_equal(utimensat(AT_FDCWD, at(name), times, 0), 0);
}

#define HASH "0123456789abcdef0123456789abcdef"

static void what_cut_uploads_left_is_removed(void **state)
{
    static const struct {
        const char *name;
        int64_t age_s;
        bool stays;
    } rows[] = {
        { ".fa-worker-" HASH ".8.4711", WORKDIR_UPLOAD_S + 60, false },
        { ".fa-worker-" HASH ".8.12", WORKDIR_UPLOAD_S - 60, true },
        { ".fa-worker-" HASH ".8.13", -3600, true }, /* another clock */
        { "fa-worker-" HASH, 100 * WORKDIR_UPLOAD_S, true },
        { ".fa-worker-" HASH, 100 * WORKDIR_UPLOAD_S, true },
        { ".fa-worker-" HASH ".", 100 * WORKDIR_UPLOAD_S, true },
        { ".fa-worker-" HASH ".12", 100 * WORKDIR_UPLOAD_S, true },
        { ".fa-worker-" HASH ".8.12.bak", 100 * WORKDIR_UPLOAD_S, true },
        { ".fa-worker-0123.8.12", 100 * WORKDIR_UPLOAD_S, true },
        { ".fa-worker-0123456789ABCDEF0123456789ABCDEF.8.1",
          100 * WORKDIR_UPLOAD_S, true },
    };
    const char *folder = ".fa-worker-" HASH ".8.5",
               *link = ".fa-worker-" HASH ".8.6";
    struct stat st;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        make_file(rows[i].name, rows[i].age_s);
    assert_int_equal(mkdir(at(folder), 0700), 0);
    assert_int_equal(symlink("anywhere", at(link)), 0);
    workdir_tidy(top);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if ((access(at(rows[i].name), F_OK) == 0) != rows[i].stays)
            fail_msg("%s", rows[i].name);
    assert_int_equal(stat(at(folder), &st), 0);
    assert_int_equal(lstat(at(link), &st), 0);
}

static void that_of_another_user_stays(void **state)
{
    const char *name = ".fa-worker-" HASH ".8.7";

    (void)state;
    if (geteuid() != 0)
        skip();
    make_file(name, 2 * WORKDIR_UPLOAD_S);
    assert_int_equal(chown(at(name), ANOTHER, ANOTHER), 0);
    workdir_tidy(top);
    assert_int_equal(access(at(name), F_OK), 0);
}

static void a_home_folder_that_is_missing_is_not_made(void **state)
{
    char out[WORKDIR_BYTES];
    struct err err;

    (void)state;
    assert_int_equal(setenv("HOME", "/nonexistent/fa", 1), 0);
    assert_int_equal(workdir_open(NULL, out, &err), ERR_INPUT);
    assert_string_equal(err.text,
                        "HOME is /nonexistent/fa, which is no folder; "
                        "name the work folder with --workdir");
    assert_int_equal(access("/nonexistent", F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_made_and_private),
        cmocka_unit_test(a_link_of_this_user_is_followed),
        cmocka_unit_test(a_link_of_another_user_is_refused),
        cmocka_unit_test(a_folder_of_another_user_is_refused),
        cmocka_unit_test(a_home_folder_that_is_missing_is_not_made),
        cmocka_unit_test(what_cut_uploads_left_is_removed),
        cmocka_unit_test(that_of_another_user_stays),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
