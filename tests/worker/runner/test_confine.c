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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/runner/device/confine.h"

enum {
    FILES_END = 1000 /* no descriptor */
};

static char secret[] = "the reference";

static void say_signal(int signal)
{
    _exit(confine_say(&signal, sizeof(signal)) ? 0 : 1);
}

/* What 'attempt' returns in a confined process, or the signal that it gets. */
static int confined(int (*attempt)(void))
{
    int status = 0, fds[2], said = -1;
    pid_t pid;

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
    pid = fork();
    if (pid == 0) {
        confine_start(fds[1], 0);
        confine_loaded();
        signal(SIGSYS, say_signal);
        confine_armed();
        said = attempt();
        if (!confine_say(&said, sizeof(said)))
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

static int write_to_judge(void)
{
    return result_of(write(CONFINE_SOCKET, secret, 1));
}

static int send_to_judge(void)
{
    return result_of(send(CONFINE_SOCKET, secret, 1, MSG_NOSIGNAL));
}

static int vector_to_judge(void)
{
    const struct iovec part = { secret, 1 };

    return result_of(writev(CONFINE_SOCKET, &part, 1));
}

/* Of a descriptor that is closed, which the other calls would say. */
static int print(void)
{
    return result_of(write(FILES_END, secret, 1));
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

static int get_memory(void)
{
    int id = shmget(IPC_PRIVATE, 1, 0600);

    if (id >= 0)
        shmctl(id, IPC_RMID, NULL);
    return result_of(id);
}

static int get_key(void)
{
    return result_of(syscall(SYS_request_key, "user", "none", NULL, 0));
}

/* Without a filter: EEXIST, or another system's answer. */
static int make_folder(void)
{
    return result_of(mkdir("/", 0700));
}

static int make_ring(void)
{
    return result_of(syscall(SYS_io_uring_setup, 0, NULL));
}

/* Its mode, and its attributes, stay with a file that is open for reading. */
static int change_mode(void)
{
    return result_of(fchmod(0, 0600));
}

static int set_attribute(void)
{
    return result_of(fsetxattr(0, "user.fa", "1", 1, 0));
}

/* A pipe that is shared has its flags and its size in common. */
static int set_flags(void)
{
    return result_of(fcntl(2, F_SETFL, O_APPEND));
}

static int catch_fault(void)
{
    return signal(SIGSEGV, SIG_IGN) == SIG_ERR ? errno : 0;
}

/* Of memory that is shared with the judge. */
static int unseal_memory(void)
{
    void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return map == MAP_FAILED
               ? -1
               : result_of(mprotect(map, 4096, PROT_READ | PROT_WRITE));
}

static int limit_parent(void)
{
    struct rlimit limit;

    return result_of(prlimit(getppid(), RLIMIT_CPU, NULL, &limit));
}

static int find_files(void)
{
    int n = 0;

    for (int fd = 3; fd < 256; fd++)
        n += lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF;
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

static void nothing_is_left_for_a_later_launch(void **state)
{
    (void)state;
    if (!has_filter())
        skip();
    assert_int_equal(confined(get_memory), EPERM);
    assert_int_equal(confined(get_key), EPERM);
    assert_int_equal(confined(make_folder), EPERM);
    assert_int_equal(confined(make_ring), EPERM);
    assert_int_equal(confined(change_mode), EPERM);
    assert_int_equal(confined(set_attribute), EPERM);
    assert_int_equal(confined(set_flags), EPERM);
}

static void faults_stay_caught(void **state)
{
    (void)state;
    if (!has_filter())
        skip();
    assert_int_equal(confined(catch_fault), EPERM);
}

static void the_judge_keeps_its_limits(void **state)
{
    (void)state;
    if (!has_filter())
        skip();
    assert_int_equal(confined(limit_parent), EPERM);
}

static void sealed_memory_stays_sealed(void **state)
{
    (void)state;
    if (!has_filter())
        skip();
    assert_int_equal(confined(unseal_memory), EPERM);
}

static void the_emulator_alone_speaks_to_the_judge(void **state)
{
    (void)state;
    if (!has_filter())
        skip();
    assert_int_equal(confined(write_to_judge), SIGSYS);
    assert_int_equal(confined(send_to_judge), SIGSYS);
    assert_int_equal(confined(vector_to_judge), SIGSYS);
    assert_int_equal(confined(print), EBADF);
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
        cmocka_unit_test(nothing_is_left_for_a_later_launch),
        cmocka_unit_test(faults_stay_caught),
        cmocka_unit_test(the_judge_keeps_its_limits),
        cmocka_unit_test(sealed_memory_stays_sealed),
        cmocka_unit_test(the_emulator_alone_speaks_to_the_judge),
        cmocka_unit_test(files_are_not_opened),
        cmocka_unit_test(one_descriptor_is_kept),
        cmocka_unit_test(a_judge_hides_its_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
