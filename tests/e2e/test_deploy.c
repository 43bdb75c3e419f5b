#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/remote/deploy.h"
#include "coordinator/remote/remote.h"
#include "coordinator/remote/ssh.h"
#include "tests/e2e/sshd.h"

static struct sshd sshd;
static char dir[] = "/tmp/fa-test-deploy-XXXXXX";
static char workdir[300];

static struct remote *reach(bool local)
{
    static struct host box = { .name = "box", .address = "box" };
    static struct host here = { .name = "localhost", .local = true };
    struct remote_options options = { .config = sshd.config, .home = dir };
    struct remote *remote;
    struct err err;

    if (remote_open(local ? &here : &box, &options, &remote, &err) < 0)
        fail_msg("%s", err.text);
    return remote;
}

/* Run on this machine. */
static void sh(const char *command)
{
    struct remote *remote = reach(true);
    struct remote_io io = { .deadline_ns = clock_boot_ns() + 10 * NS_PER_S };
    int status = -1;

    assert_int_equal(remote_exec(remote, command, &io, &status, NULL), 0);
    assert_int_equal(status, 0);
    remote_close(remote);
}

/* A program of more than one packet that answers --version like a worker. */
static void load(const char *body, struct worker_binary *out)
{
    char path[300];
    struct err err;
    FILE *file;

    snprintf(path, sizeof(path), "%s/program", dir);
    file = fopen(path, "w");
    fprintf(file, "#!/bin/sh\n%s\nexit\n", body);
    for (int i = 0; i < 20000; i++)
        fprintf(file, "# padding %d\n", i);
    fclose(file);
    assert_int_equal(worker_binary_load(path, out, &err), 0);
}

static int deploy(bool local, const char *to,
                  const struct worker_binary *program, struct deployed *out,
                  struct err *err)
{
    struct remote *remote = reach(local);
    int rc = deploy_program(remote, to, program, NULL, out, err);

    remote_close(remote);
    return rc;
}

static void works(bool local)
{
    struct worker_binary program;
    struct deployed at;
    struct err err = { "" };
    char hash[HASH_HEX];
    struct stat st;

    load("echo fa-worker", &program);
    if (deploy(local, workdir, &program, &at, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(at.uploaded, 1);
    assert_int_equal(hash_file(at.program, hash, &err), 0);
    assert_string_equal(hash, program.hash);
    assert_int_equal(stat(at.workdir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(deploy(local, workdir, &program, &at, &err), 0);
    assert_int_equal(at.uploaded, 0);
    assert_int_equal(truncate(at.program, 4096), 0);
    assert_int_equal(deploy(local, workdir, &program, &at, &err), 0);
    assert_int_equal(at.uploaded, 1);
    worker_binary_fini(&program);
}

/* What an upload told. */
struct told {
    size_t found, sent;
};

static void note_found(void *self, size_t bytes)
{
    ((struct told *)self)->found = bytes;
}

static void note_sent(void *self, size_t bytes)
{
    ((struct told *)self)->sent = bytes;
}

/* The number of this machine in the names of uploads. */
static unsigned long machine(void)
{
    FILE *sum = popen("uname -n | cksum", "r");
    char line[40] = "";

    assert_non_null(sum);
    assert_non_null(fgets(line, sizeof(line), sum));
    pclose(sum);
    return strtoul(line, NULL, 10);
}

/* Deploy it, with so many bytes of 'from' left there by process 'pid'. */
static struct told go_on(bool local, const struct worker_binary *program,
                         const void *from, size_t len, int pid)
{
    struct told told = { SIZE_MAX, 0 };
    const struct deploy_watch watch = { note_found, note_sent, &told };
    struct remote *remote = reach(local);
    struct deployed at;
    struct err err;
    char path[400], hash[HASH_HEX];
    FILE *file;

    (void)mkdir(workdir, 0700);
    snprintf(path, sizeof(path), "%s/.fa-worker-%s.%lu.%d", workdir,
             program->hash, machine(), pid);
    file = fopen(path, "w");
    assert_int_equal(fwrite(from, 1, len, file), len);
    fclose(file);
    if (deploy_program(remote, workdir, program, &watch, &at, &err) < 0)
        fail_msg("%s", err.text);
    remote_close(remote);
    assert_int_equal(hash_file(at.program, hash, &err), 0);
    assert_string_equal(hash, program->hash);
    assert_int_equal(told.found < program->len ? told.sent : told.found,
                     program->len);
    assert_int_equal(unlink(at.program), 0);
    /* It belongs to a process that runs, or is gone. */
    assert_int_equal(unlink(path), pid == getpid() ? 0 : -1);
    return told;
}

/* No process has this number. */
#define NO_PID 999999999

static void an_upload_goes_on_where_it_stopped(void **state)
{
    struct worker_binary program;

    (void)state;
    load("echo begun", &program);
    for (int local = 0; local <= 1; local++) {
        struct told told =
            go_on(local, &program, program.bytes, 100001, NO_PID);

        assert_int_equal(told.found, 100001);
        told = go_on(local, &program, program.bytes, program.len, NO_PID);
        assert_int_equal(told.found, program.len);
    }
    worker_binary_fini(&program);
}

static void one_that_still_runs_keeps_its_file(void **state)
{
    struct worker_binary program;

    (void)state;
    load("echo shared", &program);
    assert_int_equal(go_on(true, &program, program.bytes, 5000, getpid()).found,
                     5000);
    worker_binary_fini(&program);
}

static void what_is_no_beginning_is_not_used(void **state)
{
    struct worker_binary program;
    char *other;

    (void)state;
    load("echo other", &program);
    other = malloc(program.len + 1);
    memcpy(other, program.bytes, program.len);
    other[program.len] = '\n';
    assert_int_equal(
        go_on(true, &program, other, program.len + 1, NO_PID).found, 0);
    other[99] ^= 1;
    assert_int_equal(go_on(true, &program, other, 100, NO_PID).found, 0);
    assert_int_equal(go_on(true, &program, other, 99, NO_PID).found, 99);
    assert_int_equal(go_on(true, &program, other, 0, NO_PID).found, 0);
    free(other);
    worker_binary_fini(&program);
}

static void what_other_programs_left_goes_after_a_day(void **state)
{
    struct worker_binary program;
    char command[800];

    (void)state;
    load("echo tidy", &program);
    snprintf(command, sizeof(command),
             "mkdir -p %s && cd %s && touch .fa-worker-new.7 && "
             "touch -d '3 days ago' .fa-worker-old.7",
             workdir, workdir);
    sh(command);
    go_on(true, &program, program.bytes, 1, NO_PID);
    snprintf(command, sizeof(command),
             "cd %s && test -e .fa-worker-new.7 && test ! -e .fa-worker-old.7",
             workdir);
    sh(command);
    worker_binary_fini(&program);
}

/* Two lines of the hosts file reach one machine at the same time. */
static void *deploy_beside(void *arg)
{
    struct deployed *at = arg;
    struct worker_binary program;
    struct err err = { "" };

    load("echo beside", &program);
    if (deploy(false, workdir, &program, at, &err) < 0)
        print_error("%s\n", err.text);
    worker_binary_fini(&program);
    return NULL;
}

static void another_upload_is_waited_for(void **state)
{
    struct worker_binary program;
    struct deployed at, other;
    struct err err = { "" };
    char command[900];
    pthread_t thread;

    (void)state;
    load("echo beside", &program);
    /* one that has begun, and goes on while its process lives */
    snprintf(command, sizeof(command),
             "mkdir -p %s && cd %s && m=$(uname -n | cksum) && m=${m%%%% *} && "
             "{ sleep 3 <&- >&- 2>&- & } && echo $! >.fa-upload-%s.$m",
             workdir, workdir, program.hash);
    sh(command);
    assert_int_equal(pthread_create(&thread, NULL, deploy_beside, &other), 0);
    assert_int_equal(deploy(false, workdir, &program, &at, &err), 0);
    pthread_join(thread, NULL);
    assert_int_equal(at.uploaded + other.uploaded, 1);
    snprintf(
        command, sizeof(command),
        "cd %s && test -x fa-worker-%s && test \"$(ls -A)\" = fa-worker-%s",
        workdir, program.hash, program.hash);
    sh(command);
    worker_binary_fini(&program);
}

static void refused(const char *to, const char *body, const char *part)
{
    struct worker_binary program;
    struct deployed at;
    struct err err = { "" };

    load(body, &program);
    assert_int_equal(deploy(true, to, &program, &at, &err), ERR_INPUT);
    if (!strstr(err.text, part))
        fail_msg("'%s' is not in: %s", part, err.text);
    worker_binary_fini(&program);
}

static void a_program_is_sent_once(void **state)
{
    (void)state;
    works(false);
}

static void this_machine_gets_it_as_well(void **state)
{
    (void)state;
    works(true);
}

static void the_home_folder_is_the_default(void **state)
{
    struct worker_binary program;
    struct deployed at;
    struct err err;
    char want[400];

    (void)state;
    load("echo default", &program);
    assert_int_equal(setenv("HOME", dir, 1), 0);
    assert_int_equal(deploy(true, "", &program, &at, &err), 0);
    snprintf(want, sizeof(want), "%s/.cache/fa-coord", dir);
    assert_string_equal(at.workdir, want);
    worker_binary_fini(&program);
}

/* Restart the server so that every command runs in this shell. */
static void without_a_home_folder_none_is_made(void **state)
{
    static const char *const homes[] = { "", "relative", "/nonexistent/fa" };
    struct worker_binary program;
    struct deployed at;
    struct err err;
    char said[100];

    (void)state;
    load("echo homeless", &program);
    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
        assert_int_equal(setenv("HOME", homes[i], 1), 0);
        assert_int_equal(deploy(true, "", &program, &at, &err), ERR_INPUT);
        snprintf(said, sizeof(said), "and HOME is '%s', which is no folder",
                 homes[i]);
        assert_non_null(strstr(err.text, said));
    }
    assert_int_equal(access("/nonexistent", F_OK), -1);
    assert_int_equal(access(".cache/fa-coord", F_OK), -1);
    assert_int_equal(deploy(true, workdir, &program, &at, &err), 0);
    assert_int_equal(setenv("HOME", dir, 1), 0);
    worker_binary_fini(&program);
}

static void set_shell(const char *shell)
{
    char option[300];

    sshd_stop(&sshd);
    snprintf(option, sizeof(option), "ForceCommand %s", shell);
    sshd_start(&sshd, dir, shell ? option : NULL);
}

static void with_shell(const char *shell)
{
    set_shell(shell);
    works(false);
    set_shell(NULL);
}

/* The worker cannot be sent through this shell, and this says why. */
static void refused_by_shell(const char *shell, const char *part)
{
    struct worker_binary program;
    struct deployed at;
    struct err err = { "" };

    load("echo fa-worker", &program);
    set_shell(shell);
    assert_int_equal(deploy(false, workdir, &program, &at, &err), ERR_INPUT);
    if (!strstr(err.text, part))
        fail_msg("'%s' is not in: %s", part, err.text);
    worker_binary_fini(&program);
    set_shell(NULL);
}

static void a_login_shell_may_print(void **state)
{
    (void)state;
    with_shell("echo welcome; echo fa-begin is a word; printf 'a\\0b\\n'; "
               "echo bye >&2; "
               "exec sh -c \"$SSH_ORIGINAL_COMMAND\"");
}

static void a_login_shell_may_print_a_lot_but_not_without_end(void **state)
{
    (void)state;
    with_shell("head -c 200000 /dev/zero | tr '\\0' x; "
               "exec sh -c \"$SSH_ORIGINAL_COMMAND\"");
    refused_by_shell("head -c 2000000 /dev/zero | tr '\\0' x; "
                     "exec sh -c \"$SSH_ORIGINAL_COMMAND\"",
                     "prints more than 256 KiB");
}

/* Images for rented machines do so for 'root'. */
static void what_a_login_says_in_place_of_a_shell_is_shown(void **state)
{
    (void)state;
    refused_by_shell("echo Please log in as ubuntu; echo bye; exit 142",
                     "(status 142, it said: Please log in as ubuntu; bye); ");
    refused_by_shell("exit 1", "(status 1, it said nothing); ");
}

static void a_login_shell_that_reads_is_named(void **state)
{
    (void)state;
    refused_by_shell("read answer; exec sh -c \"$SSH_ORIGINAL_COMMAND\"",
                     "reads the standard input");
    refused_by_shell("cat >/dev/null; exec sh -c \"$SSH_ORIGINAL_COMMAND\"",
                     "reads the standard input");
}

static void a_login_shell_may_be_csh(void **state)
{
    (void)state;
    if (access("/bin/csh", X_OK) != 0)
        skip();
    with_shell("exec /bin/csh -c \"$SSH_ORIGINAL_COMMAND\"");
}

static void a_box_may_lack_sha256sum(void **state)
{
    struct worker_binary program;
    char command[600];

    (void)state;
    snprintf(command, sizeof(command),
             "mkdir %s/bin && cd %s/bin && for t in sh cat cksum mkdir chmod "
             "mv rm uname; do ln -s $(command -v $t) $t; done",
             dir, dir);
    sh(command);
    snprintf(command, sizeof(command),
             "PATH=%s/bin; export PATH; exec sh -c \"$SSH_ORIGINAL_COMMAND\"",
             dir);
    with_shell(command);
    set_shell(command);
    load("echo cksum", &program);
    snprintf(command, sizeof(command),
             "cd %s/bin && for t in head wc; do ln -s $(command -v $t) $t; "
             "done",
             dir);
    sh(command);
    assert_int_equal(go_on(false, &program, program.bytes, 70000, NO_PID).found,
                     70000);
    worker_binary_fini(&program);
    set_shell(NULL);
}

static void a_folder_that_cannot_be_made_is_named(void **state)
{
    (void)state;
    refused("/proc/fa", "echo", "cannot be created or written (mkdir: ");
    refused("/proc/fa", "echo", "name another one with workdir=");
}

static void a_folder_without_programs_is_named(void **state)
{
    struct statvfs fs;

    (void)state;
    if (statvfs("/dev/shm", &fs) != 0 || !(fs.f_flag & ST_NOEXEC))
        skip();
    refused("/dev/shm/fa-test-noexec", "echo", "noexec");
    assert_int_equal(rmdir("/dev/shm/fa-test-noexec"), 0);
}

static void a_program_that_does_not_start_is_not_kept(void **state)
{
    char command[400];

    (void)state;
    refused(workdir, "echo GLIBC_2.99 not found >&2; exit 1",
            "does not start on the host (GLIBC_2.99 not found)");
    snprintf(command, sizeof(command),
             "! ls -A %s | grep -q '^[.]fa-worker' && ! grep -l GLIBC_2.99 "
             "%s/fa-worker-*",
             workdir, workdir);
    sh(command);
}

static void a_full_disk_is_named(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    struct worker_binary program;
    struct deployed at;
    struct err err;
    char command[600];

    load("echo full", &program);
    snprintf(command, sizeof(command),
             "mkdir -p %s/full/bin && cd %s/full/bin "
             "&& printf '#!/bin/sh\\nexec /bin/cat >/dev/full\\n' >cat && "
             "chmod 755 cat",
             dir, dir);
    sh(command);
    sshd_stop(&sshd);
    snprintf(command, sizeof(command),
             "ForceCommand PATH=%s/full/bin:$PATH; export PATH; exec sh -c "
             "\"$SSH_ORIGINAL_COMMAND\"",
             dir);
    sshd_start(&sshd, dir, command);
    assert_int_equal(deploy(false, workdir, &program, &at, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "No space left on device"));
    assert_non_null(strstr(err.text, "is the disk full?"));
    worker_binary_fini(&program);
    sshd_stop(&sshd);
    sshd_start(&sshd, dir, NULL);
}

static int clean(void **state)
{
    char command[700];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s %s/bin %s/full", workdir, dir,
             dir);
    sh(command);
    return 0;
}

static int setup(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(hash_setup(&err), 0);
    assert_int_equal(ssh_setup(&err), 0);
    assert_non_null(mkdtemp(dir));
    snprintf(workdir, sizeof(workdir), "%s/work", dir);
    sshd_start(&sshd, dir, NULL);
    return 0;
}

static int teardown(void **state)
{
    char command[300];

    (void)state;
    sshd_stop(&sshd);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    sh(command);
    ssh_cleanup();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_program_is_sent_once, clean),
        cmocka_unit_test_teardown(this_machine_gets_it_as_well, clean),
        cmocka_unit_test_teardown(the_home_folder_is_the_default, clean),
        cmocka_unit_test_teardown(without_a_home_folder_none_is_made, clean),
        cmocka_unit_test_teardown(another_upload_is_waited_for, clean),
        cmocka_unit_test_teardown(an_upload_goes_on_where_it_stopped, clean),
        cmocka_unit_test_teardown(one_that_still_runs_keeps_its_file, clean),
        cmocka_unit_test_teardown(what_is_no_beginning_is_not_used, clean),
        cmocka_unit_test_teardown(what_other_programs_left_goes_after_a_day,
                                  clean),
        cmocka_unit_test_teardown(a_login_shell_may_print, clean),
        cmocka_unit_test_teardown(
            a_login_shell_may_print_a_lot_but_not_without_end, clean),
        cmocka_unit_test_teardown(
            what_a_login_says_in_place_of_a_shell_is_shown, clean),
        cmocka_unit_test_teardown(a_login_shell_that_reads_is_named, clean),
        cmocka_unit_test_teardown(a_login_shell_may_be_csh, clean),
        cmocka_unit_test_teardown(a_box_may_lack_sha256sum, clean),
        cmocka_unit_test_teardown(a_folder_that_cannot_be_made_is_named, clean),
        cmocka_unit_test_teardown(a_folder_without_programs_is_named, clean),
        cmocka_unit_test_teardown(a_program_that_does_not_start_is_not_kept,
                                  clean),
        cmocka_unit_test_teardown(a_full_disk_is_named, clean),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
