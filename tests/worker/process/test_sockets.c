#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "worker/process/sockets.h"

static char top[40];
static char names[128]; /* of what was found, each with a blank before */

static void note(void *data, const char *name)
{
    size_t len = strlen(names);

    (void)data;
    snprintf(names + len, sizeof(names) - len, " %s", name);
}

static const char *find_at(int64_t now_ns, size_t *n_read)
{
    names[0] = '\0';
    *n_read = sockets_find(top, now_ns, note, NULL);
    return names;
}

/* Long after everything that the test makes. */
static const char *find(size_t *n_read)
{
    return find_at(clock_utc_ns() + 3600 * NS_PER_S, n_read);
}

static void make_folder(const char *name)
{
    char path[80];

    snprintf(path, sizeof(path), "%s/%s", top, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void make_socket(const char *name)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(to.sun_path, sizeof(to.sun_path), "%s/%s", top, name);
    assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    close(fd);
}

/* At another tick of the file system's clock than the folder was made. */
static void make_socket_later(const char *folder)
{
    char path[80], name[40];
    struct stat made, now;

    snprintf(path, sizeof(path), "%s/%s", top, folder);
    assert_int_equal(stat(path, &made), 0);
    for (int i = 0; i == 0 || now.st_ctim.tv_nsec == made.st_ctim.tv_nsec;
         i++) {
        snprintf(name, sizeof(name), "%s/%d", folder, i);
        make_socket(name);
        assert_int_equal(stat(path, &now), 0);
    }
}

static int begin(void **state)
{
    (void)state;
    snprintf(top, sizeof(top), "/tmp/fa-sockets-XXXXXX");
    return mkdtemp(top) ? 0 : -1;
}

static int end(void **state)
{
    char *command = NULL;
    int rc;

    (void)state;
    if (asprintf(&command, "rm -r %s", top) < 0)
        return -1;
    rc = system(command); /* NOLINT(cert-env33-c): a path of this test */
    free(command);
    return rc;
}

static void sockets_and_their_folders_are_found(void **state)
{
    size_t n_read;
    char path[80];

    (void)state;
    make_folder("plain");
    make_folder("tmux-0");
    make_folder(".X11-unix");
    make_socket("tmux-0/default");
    make_socket(".X11-unix/X0");
    make_socket("agent");
    snprintf(path, sizeof(path), "%s/file", top);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_true(*find(&n_read));
    assert_non_null(strstr(names, " tmux-0"));
    assert_non_null(strstr(names, " agent"));
    assert_int_equal(strlen(names), strlen(" tmux-0 agent"));
    assert_int_equal(n_read, 3);
}

static void a_folder_without_one_is_read_once(void **state)
{
    size_t n_read;

    (void)state;
    make_folder("a");
    make_folder("b");
    assert_string_equal(find(&n_read), "");
    assert_int_equal(n_read, 3);
    assert_string_equal(find(&n_read), "");
    assert_int_equal(n_read, 1);
}

static void a_folder_that_changed_is_read_again(void **state)
{
    size_t n_read;

    (void)state;
    make_folder("a");
    assert_string_equal(find(&n_read), "");
    make_socket_later("a");
    assert_string_equal(find(&n_read), " a");
    assert_string_equal(find(&n_read), " a");
    assert_int_equal(n_read, 2);
}

/* A socket could be made without a change of the time. */
static void a_folder_that_changed_just_now_is_not_remembered(void **state)
{
    size_t n_read;

    (void)state;
    make_folder("a");
    assert_string_equal(find_at(clock_utc_ns(), &n_read), "");
    assert_string_equal(find_at(clock_utc_ns(), &n_read), "");
    assert_int_equal(n_read, 2);
    make_socket("a/late");
    assert_string_equal(find_at(clock_utc_ns(), &n_read), " a");
}

static void what_cannot_be_read_has_none(void **state)
{
    (void)state;
    assert_int_equal(sockets_find("/nonexistent", 0, note, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sockets_and_their_folders_are_found,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_folder_without_one_is_read_once,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_folder_that_changed_is_read_again,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            a_folder_that_changed_just_now_is_not_remembered, begin, end),
        cmocka_unit_test(what_cannot_be_read_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
