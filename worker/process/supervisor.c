#include "worker/process/supervisor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/process/sandbox.h"
#include "worker/process/sandbox_landlock.h"
#include "worker/process/sandbox_mount.h"

enum {
    FD_GATE = 3,
    FD_REPORT = 4,
    FD_RULES = 5,
    FD_FREE = 6,
    FD_HIGH = 8,     /* above the descriptors used here */
    FD_LAST = 65536, /* where close_range() is missing */
    SIGNALS = 64,
    NOT_EXECUTED = 127,
};

static const int kind_flags[SUPERVISOR_KINDS] = {
    [SUPERVISOR_NAMESPACE] = CLONE_NEWPID | CLONE_NEWNS,
    [SUPERVISOR_USER_NAMESPACE] = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUSER,
    [SUPERVISOR_SUBREAPER] = 0,
};

/* What root keeps in a sandbox, about as in a container.  Without the others it
 * cannot undo mounts, make devices, read by handle, or trace the keeper. */
static const int kept_capabilities[] = {
    CAP_CHOWN,    CAP_DAC_OVERRIDE, CAP_FOWNER,       CAP_FSETID,
    CAP_KILL,     CAP_SETGID,       CAP_SETUID,       CAP_NET_BIND_SERVICE,
    CAP_SYS_NICE, CAP_IPC_LOCK,     CAP_SYS_RESOURCE,
};

static bool is_mounted(const struct sandbox *sandbox)
{
    return sandbox && sandbox->means == SANDBOX_MOUNTS;
}

static int clone_flags(enum supervisor_kind kind, const struct sandbox *sandbox)
{
    return kind_flags[kind] |
           (is_mounted(sandbox) && sandbox->offline ? CLONE_NEWNET : 0);
}

/* fork() with flags, and without the locks of glibc's fork(). */
static pid_t clone_process(int flags)
{
    return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
}

static bool write_file(const char *path, const char *text, size_t len)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, len) == (ssize_t)len;

    if (fd >= 0)
        close(fd);
    return done;
}

/* "ID ID 1": the same id inside, so the worker's files and devices work. */
static bool write_map(const char *path, unsigned long id)
{
    char digits[24], line[64];
    size_t n = 0, len = 0;

    do
        digits[n++] = (char)('0' + id % 10);
    while ((id /= 10) > 0);
    for (int twice = 0; twice < 2; twice++) {
        for (size_t i = n; i > 0; i--)
            line[len++] = digits[i - 1];
        line[len++] = ' ';
    }
    line[len++] = '1';
    return write_file(path, line, len);
}

static bool map_ids(uid_t uid, gid_t gid)
{
    return write_file("/proc/self/setgroups", "deny", 4) &&
           write_map("/proc/self/gid_map", gid) &&
           write_map("/proc/self/uid_map", uid);
}

/* A /proc with the new process numbers: CUDA reads /proc/PID of itself, and
 * fails if that is another process. */
static bool mount_proc(void)
{
    return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
           mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                 NULL) == 0;
}

static bool enter(enum supervisor_kind kind, const struct sandbox *sandbox,
                  uid_t uid, gid_t gid)
{
    if (kind == SUPERVISOR_USER_NAMESPACE && !map_ids(uid, gid))
        return false;
    if (kind != SUPERVISOR_SUBREAPER && !mount_proc())
        return false;
    return !is_mounted(sandbox) || sandbox_mount_enter(sandbox);
}

/* A capability that is not in the bounding set does not survive exec. */
static bool drop_capabilities(void)
{
    struct __user_cap_header_struct header = {
        .version = _LINUX_CAPABILITY_VERSION_3
    };
    struct __user_cap_data_struct now[_LINUX_CAPABILITY_U32S_3];
    uint64_t kept = 0;

    for (size_t i = 0; i < sizeof(kept_capabilities) / sizeof(int); i++)
        kept |= UINT64_C(1) << kept_capabilities[i];
    for (int i = 0; i <= CAP_LAST_CAP || prctl(PR_CAPBSET_READ, i) >= 0; i++)
        if (!(kept >> i & 1) && prctl(PR_CAPBSET_READ, i) == 1 &&
            prctl(PR_CAPBSET_DROP, i) < 0 && errno != EPERM)
            return false;
    if (syscall(SYS_capget, &header, now) < 0)
        return false;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        now[i].permitted &= (uint32_t)(kept >> 32 * i);
        now[i].effective &= now[i].permitted;
        now[i].inheritable = 0;
    }
    return syscall(SYS_capset, &header, now) == 0;
}

static bool shut_in(const struct supervisor_order *order)
{
    if (!order->sandbox)
        return true;
    if (!order->sandbox->trusted && !drop_capabilities())
        return false;
    return order->rules < 0 || sandbox_landlock_enter(FD_RULES);
}

static void close_from(int first)
{
    if (syscall(SYS_close_range, first, ~0u, 0) == 0)
        return;
    for (int fd = first; fd < FD_LAST; fd++)
        close(fd);
}

/* The program's descriptors become 0 to 2, the keeper's 3 to 5. All others are
 * closed: a lock or socket of the worker must not stay open in here. */
static bool arrange_fds(const struct supervisor_order *order)
{
    int from[FD_FREE] = { order->in,   order->out,    order->err,
                          order->gate, order->report, order->rules };
    int n = order->rules < 0 ? FD_RULES : FD_FREE;

    for (int i = 0; i < n; i++)
        if ((from[i] = fcntl(from[i], F_DUPFD, FD_HIGH)) < 0)
            return false;
    for (int i = 0; i < n; i++)
        if (dup2(from[i], i) < 0)
            return false;
    for (int i = FD_GATE; i < n; i++)
        fcntl(i, F_SETFD, FD_CLOEXEC);
    close_from(n);
    return true;
}

static void report(int exec_errno, int status)
{
    struct supervisor_report line = { exec_errno, status };

    /* To the worker, a missing report means a killed keeper. */
    (void)!write(FD_REPORT, &line, sizeof(line));
}

static void limit(int resource, uint64_t bytes)
{
    struct rlimit rlimit = { .rlim_cur = bytes, .rlim_max = bytes };

    setrlimit((__rlimit_resource_t)resource, &rlimit);
}

static _Noreturn void run_program(const struct supervisor_order *order,
                                  pid_t keeper)
{
    struct sigaction plain = { .sa_handler = SIG_DFL };
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        _exit(NOT_EXECUTED);
    setsid();
    for (int i = 1; i <= SIGNALS; i++)
        sigaction(i, &plain, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    limit(RLIMIT_CORE, 0);
    if (order->memory_bytes > 0)
        limit(RLIMIT_AS, order->memory_bytes);
    /* When memory runs out, the kernel kills this before the worker. */
    write_file("/proc/self/oom_score_adj", "500", 3);
    if (chdir(order->folder) == 0 && shut_in(order))
        execve(order->argv[0], (char *const *)order->argv,
               (char *const *)order->env);
    report(errno, NOT_EXECUTED << 8);
    _exit(NOT_EXECUTED);
}

static long parent_of(const char *pid)
{
    char path[32], text[512];
    char *at;
    ssize_t n;
    int fd;

    if (strlen(pid) > 10)
        return -1;
    snprintf(path, sizeof(path), "/proc/%s/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    at = strrchr(text, ')'); /* pid (name) state ppid */
    return at && strlen(at) > 4 ? strtol(at + 4, NULL, 10) : -1;
}

static bool is_mine(const char *name, bool (*spare)(pid_t pid), pid_t *pid)
{
    if (name[0] < '1' || name[0] > '9' || parent_of(name) != getpid())
        return false;
    *pid = (pid_t)strtol(name, NULL, 10);
    return !spare || !spare(*pid);
}

int supervisor_kill_children(bool (*spare)(pid_t pid))
{
    _Alignas(struct dirent64) char entries[8192];
    int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int killed = 0;
    long n;

    if (fd < 0)
        return 0;
    while ((n = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0) {
        for (long at = 0; at < n;) {
            struct dirent64 *entry = (struct dirent64 *)(entries + at);
            pid_t pid;

            if (is_mine(entry->d_name, spare, &pid) && kill(pid, SIGKILL) == 0)
                killed++;
            at += entry->d_reclen;
        }
    }
    close(fd);
    return killed;
}

/* Children of killed children become children of this one, which kills them. */
static void end_tree(pid_t program)
{
    pid_t pid = 0;
    int status;

    kill(-program, SIGKILL);
    kill(program, SIGKILL);
    while (supervisor_kill_children(NULL) > 0)
        do
            pid = waitpid(-1, &status, pid > 0 ? WNOHANG : 0);
        while (pid > 0);
}

static void signal_all(enum supervisor_kind kind, pid_t program, int signal)
{
    if (kind == SUPERVISOR_SUBREAPER)
        kill(-program, signal);
    else
        kill(-1, signal);
}

/* Reap until the program ends.  Returns its wait status, or -1 at
 * SUPERVISOR_END. */
static int watch(enum supervisor_kind kind, pid_t program,
                 const sigset_t *signals)
{
    for (;;) {
        int status, signal = sigwaitinfo(signals, NULL);
        pid_t pid;

        if (signal == SIGTERM)
            signal_all(kind, program, SIGTERM);
        if (signal == SUPERVISOR_PAUSE)
            signal_all(kind, program, SIGSTOP);
        if (signal == SUPERVISOR_GO)
            signal_all(kind, program, SIGCONT);
        if (signal == SUPERVISOR_END)
            return -1;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            if (pid == program)
                return status;
    }
}

static _Noreturn void keep(const struct supervisor_order *order)
{
    sigset_t signals;
    pid_t self = getpid(), program;
    int status;

    sigfillset(&signals);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    prctl(PR_SET_PDEATHSIG,
          order->kind == SUPERVISOR_SUBREAPER ? SUPERVISOR_END : SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!arrange_fds(order))
        _exit(NOT_EXECUTED);
    if (read(FD_GATE, &status, 1) != 1)
        _exit(NOT_EXECUTED); /* the worker died before PDEATHSIG was set */
    if (!enter(order->kind, order->sandbox, order->uid, order->gid)) {
        report(errno, NOT_EXECUTED << 8);
        _exit(NOT_EXECUTED);
    }
    setsid();
    program = clone_process(0);
    if (program == 0)
        run_program(order, self);
    if (program < 0) {
        report(errno, NOT_EXECUTED << 8);
        _exit(NOT_EXECUTED);
    }
    for (int fd = 0; fd <= FD_GATE; fd++)
        close(fd);
    close(FD_RULES);
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SUPERVISOR_END);
    sigaddset(&signals, SUPERVISOR_PAUSE);
    sigaddset(&signals, SUPERVISOR_GO);
    status = watch(order->kind, program, &signals);
    if (order->kind == SUPERVISOR_SUBREAPER)
        end_tree(program);
    report(0, status < 0 ? SIGKILL : status);
    _exit(0);
}

pid_t supervisor_start(const struct supervisor_order *order)
{
    pid_t pid = clone_process(clone_flags(order->kind, order->sandbox));

    if (pid == 0)
        keep(order);
    return pid;
}

bool supervisor_can(enum supervisor_kind kind, const struct sandbox *sandbox)
{
    uid_t uid = getuid();
    gid_t gid = getgid();
    pid_t pid = clone_process(clone_flags(kind, sandbox));
    int status;

    if (pid == 0)
        _exit(enter(kind, sandbox, uid, gid) && getuid() == uid ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}
