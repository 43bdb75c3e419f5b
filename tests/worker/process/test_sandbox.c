/* What a program in a sandbox reaches.  The test is that program, too. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "worker/process/child.h"
#include "worker/process/sandbox_policy.h"

#define OPEN 0   /* exit status: it can */
#define SHUT 1   /* it cannot */
#define WRONG 99 /* no such deed */

#define LANDLOCK_CREATE 444 /* landlock_create_ruleset(2) */

/* ---- the program */

static int to_read(const char *path)
{
    char byte;
    int fd = open(path, O_RDONLY);

    return fd >= 0 && read(fd, &byte, 1) == 1 ? OPEN : SHUT;
}

static int to_write(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    return fd >= 0 && write(fd, "x", 1) == 1 ? OPEN : SHUT;
}

static int to_change(const char *path)
{
    int fd = open(path, O_WRONLY);

    return fd >= 0 && write(fd, "x", 1) == 1 ? OPEN : SHUT;
}

static int to_connect(const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    return connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0 ? OPEN : SHUT;
}

static int to_dial(const char *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)atoi(port)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    return connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0 ? OPEN : SHUT;
}

/* Uncover what a mount hides, with the rights that it has or can get. */
static int to_uncover(const char *path)
{
    if (umount2(path, MNT_DETACH) == 0)
        return OPEN;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
        umount2(path, MNT_DETACH) == 0)
        return OPEN;
    return SHUT;
}

static int to_trace(const char *pid)
{
    return ptrace(PTRACE_ATTACH, atoi(pid), NULL, NULL) == 0 ? OPEN : SHUT;
}

static int act(const char *deed, const char *on)
{
    static const struct {
        const char *deed;
        int (*act)(const char *on);
    } rows[] = {
        { "read", to_read },     { "write", to_write },
        { "change", to_change }, { "connect", to_connect },
        { "dial", to_dial },     { "uncover", to_uncover },
        { "trace", to_trace },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].deed, deed) == 0)
            return rows[i].act(on);
    return WRONG;
}

/* ---- a home folder */

static char top[40]; /* /tmp/... */
static enum sandbox_means means;
static bool cuts_network; /* these means do on this machine */

static char *at(const char *name)
{
    static char paths[8][200];
    static size_t next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
    return path;
}

static void put_folder(const char *name)
{
    assert_int_equal(mkdir(at(name), 0700), 0);
}

static void put_file(const char *name)
{
    FILE *file = fopen(at(name), "w");

    assert_non_null(file);
    fputs("text", file);
    fclose(file);
}

static int listen_at(const char *name)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(to.sun_path, sizeof(to.sun_path), "%s", at(name));
    assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(listen(fd, 8), 0);
    return fd;
}

static void make_home(void)
{
    static const char *const folders[] = {
        "home",      "home/.ssh",       "home/.cargo",   "home/tool",
        "home/work", "home/work/other", "home/work/own", "outside",
    };
    static const char *const files[] = {
        "home/notes",
        "home/.ssh/id",
        "home/tool/lib",
        "home/work/journal",
        "home/work/other/a",
        "home/work/own/a",
        "home/work/one",
        "outside/a",
        "outside/sweep.db",
        "outside/sweep.db-wal",
        "outside/sweep.fuzz.db",
    };

    snprintf(top, sizeof(top), "/tmp/fa-sandbox-XXXXXX");
    assert_non_null(mkdtemp(top));
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        put_folder(folders[i]);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        put_file(files[i]);
    put_file("home/.cargo/credentials.toml");
}

static int policy(const char *allow, struct sandbox **out, struct err *err)
{
    return sandbox_policy_new(
        &(struct sandbox_policy){ .dir = at("home/work"),
                                  .home = at("home"),
                                  .database = at("outside/sweep.db"),
                                  .allow = allow },
        out, err);
}

/* As for a build in 'own', which reads 'one'. */
static struct sandbox *box(void)
{
    struct sandbox *sandbox;
    struct err err;

    if (policy("~/tool:~/.cargo", &sandbox, &err) < 0)
        fail_msg("%s", err.text);
    sandbox->means = means;
    assert_true(sandbox_set(sandbox, at("home/work/own"), SANDBOX_WRITE));
    assert_true(sandbox_set(sandbox, at("home/work/one"), SANDBOX_READ));
    return sandbox;
}

/* ---- what it reaches */

static int run_in(const struct sandbox *sandbox, const char *deed,
                  const char *on)
{
    const char *env[] = { "PATH=/usr/bin:/bin", NULL };
    int64_t now_ns = clock_boot_ns(), until_ns = now_ns + 20 * NS_PER_S;
    char self[300];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    struct child *child;
    struct err err;
    int status;

    assert_true(len > 0);
    self[len] = '\0';
    if (child_start(
            &(struct child_spec){
                .argv = (const char *[]){ self, deed, on, NULL },
                .env = env,
                .folder = "/",
                .sandbox = sandbox,
            },
            now_ns, &child, &err) < 0)
        fail_msg("%s", err.text);
    while (child_step(child, now_ns) != CHILD_ENDED) {
        struct pollfd fds[CHILD_FDS_MAX];

        assert_true(now_ns < until_ns);
        poll(fds, (nfds_t)child_poll(child, fds, CHILD_FDS_MAX), 10);
        now_ns = clock_boot_ns();
    }
    status = child_end(child)->status;
    if (status != OPEN && status != SHUT) {
        struct buf said;

        buf_init(&said, 1 << 16);
        capture_text(child_stderr(child), &said);
        fail_msg("%s %s: status %d, %s", deed, on, status, buf_text(&said));
    }
    child_free(child);
    return status;
}

static void files_that_it_is_not_given_are_hidden(void **state)
{
    static const struct {
        const char *deed, *name;
        int status;
    } rows[] = {
        { "read", "home/notes", SHUT },
        { "read", "home/.ssh/id", SHUT },
        { "read", "home/.cargo/credentials.toml", SHUT },
        { "read", "home/work/journal", SHUT },
        { "change", "home/work/journal", SHUT },
        { "read", "home/work/other/a", SHUT },
        { "read", "outside/sweep.db", SHUT },
        { "read", "outside/sweep.db-wal", SHUT },
        { "read", "outside/sweep.fuzz.db", SHUT },
        { "read", "home/tool/lib", OPEN },
        { "write", "home/tool/lib", SHUT },
        { "write", "home/tool/new", SHUT },
        { "read", "home/work/one", OPEN },
        { "write", "home/work/one", SHUT },
        { "read", "home/work/own/a", OPEN },
        { "write", "home/work/own/new", OPEN },
        { "read", "outside/a", OPEN },
        { "write", "outside/new", OPEN },
    };
    struct sandbox *sandbox = box();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int status;

        if (means == SANDBOX_LANDLOCK &&
            strcmp(rows[i].name, "outside/new") == 0)
            continue; /* a folder with something hidden */
        status = run_in(sandbox, rows[i].deed, at(rows[i].name));
        if (status != rows[i].status)
            fail_msg("%s %s: %d", rows[i].deed, rows[i].name, status);
    }
    /* what it wrote is there; what it was refused is as it was */
    assert_int_equal(to_read(at("home/work/own/new")), OPEN);
    assert_int_equal(access(at("home/tool/new"), F_OK), -1);
    sandbox_free(sandbox);
}

static void without_a_sandbox_it_sees_everything(void **state)
{
    (void)state;
    assert_int_equal(run_in(NULL, "read", at("home/.ssh/id")), OPEN);
    assert_int_equal(run_in(NULL, "change", at("home/work/journal")), OPEN);
}

static void it_cannot_uncover_what_is_hidden(void **state)
{
    struct sandbox *sandbox = box();

    (void)state;
    assert_int_equal(run_in(sandbox, "uncover", at("home")), SHUT);
    assert_int_equal(run_in(sandbox, "uncover", at("home/work/one")), SHUT);
    sandbox_free(sandbox);
}

static void other_processes_cannot_be_traced(void **state)
{
    struct sandbox *sandbox = box();
    char pid[16];

    (void)state;
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    assert_int_equal(run_in(sandbox, "trace", pid), SHUT);
    assert_int_equal(run_in(sandbox, "trace", "1"), SHUT); /* its keeper */
    sandbox_free(sandbox);
}

static void a_socket_of_the_work_folder_is_out_of_reach(void **state)
{
    int listener = listen_at("home/work/control.sock");
    struct sandbox *sandbox = box();

    (void)state;
    assert_int_equal(run_in(NULL, "connect", at("home/work/control.sock")),
                     OPEN);
    /* Landlock does not know sockets: the warning says so */
    if (means == SANDBOX_MOUNTS)
        assert_int_equal(
            run_in(sandbox, "connect", at("home/work/control.sock")), SHUT);
    else
        assert_non_null(strstr(sandbox_policy_warning(sandbox), "sockets"));
    close(listener);
    unlink(at("home/work/control.sock"));
    sandbox_free(sandbox);
}

static void one_without_network_reaches_no_port(void **state)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sandbox *sandbox = box();
    socklen_t len = sizeof(to);
    char port[16];

    (void)state;
    assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&to, &len), 0);
    snprintf(port, sizeof(port), "%d", ntohs(to.sin_port));
    if (means == SANDBOX_MOUNTS)
        assert_int_equal(sandbox->offline, cuts_network);
    sandbox->offline = false;
    assert_int_equal(run_in(sandbox, "dial", port), OPEN);
    sandbox->offline = cuts_network;
    assert_int_equal(run_in(sandbox, "dial", port), cuts_network ? SHUT : OPEN);
    close(fd);
    sandbox_free(sandbox);
}

/* As of tmux, where a program could type commands. */
static void sockets_of_later_logins_are_hidden(void **state)
{
    char folder[] = "/tmp/fa-tmux-XXXXXX", path[40];
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sandbox *before = box(), *sandbox;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/default", folder);
    snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(listen(fd, 8), 0);
    sandbox = sandbox_policy_copy(before);
    assert_int_equal(sandbox_right(before, path), SANDBOX_WRITE);
    assert_int_equal(sandbox_right(sandbox, path), SANDBOX_HIDDEN);
    assert_int_equal(run_in(before, "connect", path), OPEN);
    if (means == SANDBOX_MOUNTS)
        assert_int_equal(run_in(sandbox, "connect", path), SHUT);
    /* the folder that the test is in stays */
    assert_int_equal(sandbox_right(sandbox, at("outside/a")), SANDBOX_WRITE);
    close(fd);
    unlink(path);
    rmdir(folder);
    sandbox_free(sandbox);
    sandbox_free(before);
}

/* ---- what can be allowed */

static void assert_refused(const char *allow, const char *why)
{
    struct sandbox *sandbox;
    struct err err;

    assert_int_equal(policy(allow, &sandbox, &err), ERR_INPUT);
    if (!strstr(err.text, why))
        fail_msg("%s", err.text);
}

static void secrets_and_the_work_folder_are_never_allowed(void **state)
{
    (void)state;
    assert_refused("~/tool:~/.ssh", ".ssh: keys, tokens and the work folder");
    assert_refused(at("home/.ssh/id"), "keys, tokens and the work folder");
    assert_refused("~/work", "keys, tokens and the work folder");
    assert_refused("~/work/own", "keys, tokens and the work folder");
    assert_refused("~/tool/../.ssh", "keys, tokens and the work folder");
    assert_refused(at("home"), "the whole home folder");
    assert_refused(top, "the whole home folder");
    assert_refused("/", "the whole home folder");
    assert_refused("~/nowhere", "there is no such folder");
}

static void a_link_does_not_lead_to_what_is_hidden(void **state)
{
    (void)state;
    assert_int_equal(symlink(at("home/.ssh"), at("home/link")), 0);
    assert_refused("~/link", "keys, tokens and the work folder");
    unlink(at("home/link"));
}

/* It is not opened for writing: it may be running. */
static void a_program_that_runs_can_be_shown(void **state)
{
    struct sandbox *sandbox = box();
    char self[300];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

    (void)state;
    assert_true(len > 0);
    self[len] = '\0';
    assert_true(sandbox_set(sandbox, self, SANDBOX_READ));
    assert_int_equal(run_in(sandbox, "read", self), OPEN);
    assert_int_equal(run_in(sandbox, "change", self), SHUT);
    sandbox_free(sandbox);
}

/* HOME of this test is another folder.  What the user has is tried. */
static void keys_of_the_user_are_hidden_whatever_HOME_says(void **state)
{
    static const char *const names[] = { ".ssh", ".gnupg", ".npmrc", ".docker",
                                         ".bash_history" };
    const struct passwd *user = getpwuid(geteuid());
    char keys[PATH_MAX], full[PATH_MAX];
    struct sandbox *sandbox;
    bool tried = false;

    (void)state;
    assert_int_equal(policy("", &sandbox, NULL), 0);
    for (size_t i = 0; user && i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(keys, sizeof(keys), "%s/%s", user->pw_dir, names[i]);
        if (!realpath(keys, full))
            continue;
        tried = true;
        assert_int_equal(sandbox_right(sandbox, full), SANDBOX_HIDDEN);
    }
    sandbox_free(sandbox);
    if (!tried)
        skip();
}

/* Those that this machine has. */
static void services_that_run_programs_are_hidden(void **state)
{
    static const char *const paths[] = { "/run/user", "/run/dbus",
                                         "/run/docker.sock", "/run/screen",
                                         "/run/systemd/private" };
    struct sandbox *sandbox;
    bool tried = false;

    (void)state;
    assert_int_equal(policy("", &sandbox, NULL), 0);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char full[PATH_MAX];

        if (!realpath(paths[i], full))
            continue;
        tried = true;
        assert_int_equal(sandbox_right(sandbox, full), SANDBOX_HIDDEN);
    }
    sandbox_free(sandbox);
    if (!tried)
        skip();
}

static void what_is_open_is_said(void **state)
{
    struct sandbox *sandbox = sandbox_new(SANDBOX_MOUNTS);

    (void)state;
    sandbox->offline = true;
    assert_string_equal(sandbox_policy_warning(sandbox), "");
    sandbox->offline = false;
    assert_non_null(strstr(sandbox_policy_warning(sandbox), "network"));
    sandbox->means = SANDBOX_LANDLOCK;
    assert_non_null(strstr(sandbox_policy_warning(sandbox), "sockets"));
    sandbox->means = SANDBOX_NOTHING;
    assert_non_null(strstr(sandbox_policy_warning(sandbox), "home folder"));
    sandbox_free(sandbox);
}

static void the_longest_path_decides(void **state)
{
    struct sandbox *sandbox = sandbox_new(SANDBOX_MOUNTS);

    (void)state;
    assert_true(sandbox_set(sandbox, at("home/work/own"), SANDBOX_WRITE));
    assert_true(sandbox_set(sandbox, at("home"), SANDBOX_HIDDEN));
    assert_true(sandbox_set(sandbox, at("home/work"), SANDBOX_READ));
    assert_true(sandbox_set(sandbox, at("home/work"), SANDBOX_HIDDEN));
    assert_false(sandbox_set(sandbox, "/", SANDBOX_HIDDEN));
    assert_false(sandbox_set(sandbox, at("nowhere"), SANDBOX_HIDDEN));
    assert_int_equal(sandbox->n, 3);
    assert_int_equal(sandbox_right(sandbox, at("home/a")), SANDBOX_HIDDEN);
    assert_int_equal(sandbox_right(sandbox, at("home/work/own/a")),
                     SANDBOX_WRITE);
    assert_int_equal(sandbox_right(sandbox, at("home/work/ownership")),
                     SANDBOX_HIDDEN);
    assert_int_equal(sandbox_right(sandbox, at("homestead")), SANDBOX_WRITE);
    assert_int_equal(sandbox_right_around(sandbox, 0), SANDBOX_WRITE);
    assert_int_equal(sandbox_right_around(sandbox, 1), SANDBOX_HIDDEN);
    assert_int_equal(sandbox_right_around(sandbox, 2), SANDBOX_HIDDEN);
    assert_true(sandbox_sees(NULL, at("home")));
    assert_false(sandbox_sees(sandbox, at("home/notes")));
    sandbox->means = SANDBOX_NOTHING; /* nothing can be hidden here */
    assert_true(sandbox_sees(sandbox, at("home/notes")));
    sandbox_free(sandbox);
}

static int set_up(void **state)
{
    (void)state;
    make_home();
    return 0;
}

static int tear_down(void **state)
{
    char *command[] = { "rm", "-rf", top, NULL };
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        execv("/bin/rm", command);
    waitpid(pid, NULL, 0);
    return 0;
}

static int run_with(enum sandbox_means with)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_that_it_is_not_given_are_hidden),
        cmocka_unit_test(without_a_sandbox_it_sees_everything),
        cmocka_unit_test(it_cannot_uncover_what_is_hidden),
        cmocka_unit_test(other_processes_cannot_be_traced),
        cmocka_unit_test(a_socket_of_the_work_folder_is_out_of_reach),
        cmocka_unit_test(one_without_network_reaches_no_port),
        cmocka_unit_test(sockets_of_later_logins_are_hidden),
        cmocka_unit_test(a_program_that_runs_can_be_shown),
    };

    means = with;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* With each means that this host has, as it is and without namespaces. */
static void databases_of_a_sweep_and_its_proof_are_hidden_together(void **state)
{
    (void)state;
    assert_true(sandbox_policy_hides_both("a/b.db", "a/b.db"));
    assert_true(sandbox_policy_hides_both("a/b.db", "a/b.fuzz.db"));
    assert_true(sandbox_policy_hides_both("a/b.fuzz.db", "a/b.db"));
    assert_true(sandbox_policy_hides_both("", ""));
    assert_true(sandbox_policy_hides_both("a/b", "a/b"));
    assert_false(sandbox_policy_hides_both("a/b.db", "a/c.fuzz.db"));
    assert_false(sandbox_policy_hides_both("a/b", "a/b.db"));
    assert_false(sandbox_policy_hides_both("a/b.db", "a/b"));
    assert_false(sandbox_policy_hides_both("", "a/b.db"));
}

int main(int argc, char *argv[])
{
    static const struct CMUnitTest rules[] = {
        cmocka_unit_test(
            databases_of_a_sweep_and_its_proof_are_hidden_together),
        cmocka_unit_test(secrets_and_the_work_folder_are_never_allowed),
        cmocka_unit_test(a_link_does_not_lead_to_what_is_hidden),
        cmocka_unit_test(keys_of_the_user_are_hidden_whatever_HOME_says),
        cmocka_unit_test(services_that_run_programs_are_hidden),
        cmocka_unit_test(what_is_open_is_said),
        cmocka_unit_test(the_longest_path_decides),
    };
    struct sandbox *best = sandbox_new(SANDBOX_NOTHING);
    enum sandbox_means found;
    int failed;

    if (argc == 3)
        _exit(act(argv[1], argv[2])); /* no leak checker: it traces */
    best->offline = true;
    child_choose_means(best);
    found = best->means;
    cuts_network = best->offline;
    failed = cmocka_run_group_tests(rules, set_up, tear_down);
    if (found == SANDBOX_MOUNTS)
        failed += run_with(SANDBOX_MOUNTS);
    child_setup_from(SUPERVISOR_SUBREAPER);
    child_choose_means(best);
    cuts_network = syscall(LANDLOCK_CREATE, NULL, 0, 1) >= 4; /* its version */
    if (best->means == SANDBOX_LANDLOCK)
        failed += run_with(SANDBOX_LANDLOCK);
    sandbox_free(best);
    return failed;
}
