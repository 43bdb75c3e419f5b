/* What the process of a kernel is refused. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/runner/device/confine.h"

static char secret[] = "the reference";

/* What 'attempt' returns in a confined process. */
static int confined(int (*attempt)(void))
{
    int status = 0, fds[2], said = -1;
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    if (pid == 0) {
        confine_start(fds[1], 0);
        confine_loaded();
        said = attempt();
        if (write(CONFINE_SOCKET, &said, sizeof(said)) != sizeof(said))
            _exit(1);
        _exit(0);
    }
    close(fds[1]);
    assert_int_equal(read(fds[0], &said, sizeof(said)), sizeof(said));
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return said;
}

static int result_of(long rc)
{
    return rc < 0 ? errno : 0;
}

static int signal_parent(void)
{
    return result_of(kill(getppid(), 0));
}

static int signal_itself(void)
{
    return result_of(kill(getpid(), 0));
}

static int trace_parent(void)
{
    return result_of(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
}

static int read_parent(void)
{
    char copy[sizeof(secret)];
    struct iovec to = { copy, sizeof(copy) }, from = { secret, sizeof(secret) };

    return result_of(process_vm_readv(getppid(), &to, 1, &from, 1, 0));
}

static int write_file(void)
{
    return result_of(open("/dev/null", O_WRONLY));
}

static int open_file(void)
{
    return result_of(open("/dev/null", O_RDONLY));
}

static int fork_one(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    return result_of(pid);
}

static int open_socket(void)
{
    return result_of(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int find_files(void)
{
    int n = 0;

    for (int fd = 3; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static bool has_filter(void)
{
    return confined(signal_parent) == EPERM;
}

static void other_processes_are_out_of_reach(void **state)
{
    (void)state;
    if (!has_filter())
        skip();
    assert_int_equal(confined(signal_parent), EPERM);
    assert_int_equal(confined(trace_parent), EPERM);
    assert_int_equal(confined(read_parent), EPERM);
    assert_int_equal(confined(fork_one), EPERM);
    assert_int_equal(confined(open_socket), EPERM);
    assert_int_equal(confined(signal_itself), 0);
}

static void files_are_not_opened(void **state)
{
    (void)state;
    if (!has_filter())
        skip();
    assert_int_equal(confined(write_file), EPERM);
#ifndef __SANITIZE_ADDRESS__
    assert_int_equal(confined(open_file), EPERM);
#else
    assert_int_equal(confined(open_file), 0); /* the sanitizer opens some */
#endif
}

static void one_descriptor_is_kept(void **state)
{
    int file = open("/dev/null", O_RDONLY), copy = fcntl(file, F_DUPFD, 100);

    (void)state;
    assert_int_equal(confined(find_files), 1);
    close(copy);
    close(file);
}

static void a_judge_hides_its_memory(void **state)
{
    pid_t pid = fork();
    int status;

    (void)state;
    if (pid == 0) {
        confine_hide();
        _exit(prctl(PR_GET_DUMPABLE));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
#ifndef __SANITIZE_ADDRESS__
    assert_int_equal(status, 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_processes_are_out_of_reach),
        cmocka_unit_test(files_are_not_opened),
        cmocka_unit_test(one_descriptor_is_kept),
        cmocka_unit_test(a_judge_hides_its_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
