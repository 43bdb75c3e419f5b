#include "worker/runner/device/confine.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#if defined(__SANITIZE_ADDRESS__)
/* It opens a file at a switch of stacks, and looks for leaks by ptrace. */
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

enum {
    FILES_MAX = 1024, /* closed one by one where close_range() is missing */
    FILTER_MAX = 256
};

void confine_hide(void)
{
    if (!SANITIZED)
        prctl(PR_SET_DUMPABLE, 0);
}

static void keep_two(int socket, int object)
{
    /* away from the numbers that they are to have */
    socket = fcntl(socket, F_DUPFD, CONFINE_OBJECT + 1);
    object = fcntl(object, F_DUPFD, CONFINE_OBJECT + 1);
    dup2(socket, CONFINE_SOCKET);
    dup2(object, CONFINE_OBJECT);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, CONFINE_OBJECT + 1, ~0u, 0) == 0)
        return;
#endif
    for (int fd = CONFINE_OBJECT + 1; fd < FILES_MAX; fd++)
        close(fd);
}

static void drop_capabilities(void)
{
    struct __user_cap_header_struct header = {
        .version = _LINUX_CAPABILITY_VERSION_3
    };
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];

    memset(none, 0, sizeof(none));
    syscall(SYS_capset, &header, none);
}

#ifdef ARCHITECTURE

struct filter {
    struct sock_filter code[FILTER_MAX];
    unsigned short n;
};

static const long never[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_clone,
#ifdef SYS_clone3
    SYS_clone3,
#endif
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
    SYS_execve,
    SYS_execveat,
    SYS_socket,
    SYS_connect,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
#ifdef SYS_pidfd_send_signal
    SYS_pidfd_send_signal,
#endif
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
    SYS_bpf,
    SYS_perf_event_open,
    SYS_setns,
    SYS_mount,
    SYS_unlinkat,
    SYS_renameat2,
    SYS_truncate,
#ifdef SYS_unlink
    SYS_unlink,
    SYS_rename,
    SYS_creat,
#endif
#ifdef SYS_openat2
    SYS_openat2, /* its flags are behind a pointer */
#endif
    SYS_open_by_handle_at,
#ifdef SYS_pkey_mprotect
    SYS_pkey_mprotect,
#endif
};

/* What one launch could leave for another: memory, messages and keys of the
 * system, names and attributes of files, priorities. */
static const long lasting[] = {
    SYS_shmget,         SYS_shmat,       SYS_semget,     SYS_msgget,
    SYS_mq_open,        SYS_add_key,     SYS_keyctl,     SYS_request_key,
    SYS_mkdirat,        SYS_mknodat,     SYS_linkat,     SYS_symlinkat,
    SYS_renameat,       SYS_fchmodat,    SYS_fchownat,   SYS_utimensat,
    SYS_setxattr,       SYS_lsetxattr,   SYS_umount2,    SYS_unshare,
    SYS_sethostname,    SYS_setpriority, SYS_ioprio_set,
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup, /* makes any call */
#endif
#ifdef SYS_mkdir
    SYS_mkdir,          SYS_rmdir,       SYS_mknod,      SYS_link,
    SYS_symlink,        SYS_chmod,       SYS_chown,      SYS_lchown,
    SYS_utime,          SYS_utimes,      SYS_futimesat,
#endif
};

static const long to_itself[] = { SYS_kill, SYS_tkill, SYS_tgkill };

/* What limits a process or slows it down; 0 is the caller. */
static const long of_itself[] = {
    SYS_prlimit64,      SYS_sched_setaffinity,
    SYS_sched_setparam, SYS_sched_setscheduler,
#ifdef SYS_sched_setattr
    SYS_sched_setattr,
#endif
};

/* Calls that open a file, and where their flags are. */
static const struct {
    long call;
    unsigned flags;
} opening[] = {
#ifdef SYS_open
    { SYS_open, 1 },
#endif
    { SYS_openat, 2 },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ARGUMENT(i) ((uint32_t)offsetof(struct seccomp_data, args[(i)]))

static void add(struct filter *filter, uint16_t code, uint8_t yes, uint8_t no,
                uint32_t operand)
{
    assert(filter->n < FILTER_MAX);
    filter->code[filter->n++] = (struct sock_filter){ code, yes, no, operand };
}

static void load(struct filter *filter, uint32_t at)
{
    add(filter, BPF_LD | BPF_W | BPF_ABS, 0, 0, at);
}

static void refuse(struct filter *filter)
{
    add(filter, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM);
}

/* Skip the next 'n' instructions unless the call has this number. */
static void unless_call(struct filter *filter, long call, uint8_t n)
{
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, n, (uint32_t)call);
}

static void begin(struct filter *filter)
{
    filter->n = 0;
    load(filter, (uint32_t)offsetof(struct seccomp_data, arch));
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCHITECTURE);
    refuse(filter);
    load(filter, (uint32_t)offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    add(filter, BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000u); /* x32 */
    refuse(filter);
#endif
}

static void install(struct filter *filter)
{
    struct sock_fprog program = { .filter = filter->code };

    add(filter, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
    program.len = filter->n;
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void refuse_calls(struct filter *filter, const long *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unless_call(filter, calls[i], 1);
        refuse(filter);
    }
}

/* Refuse a call with any of these bits in an argument. */
static void refuse_bits(struct filter *filter, long call, unsigned argument,
                        uint32_t bits)
{
    unless_call(filter, call, 4);
    load(filter, ARGUMENT(argument));
    add(filter, BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
    refuse(filter);
    load(filter, (uint32_t)offsetof(struct seccomp_data, nr));
}

/* Refuse a call with another first argument. */
static void refuse_unless(struct filter *filter, const long *calls, size_t n,
                          uint32_t first)
{
    for (size_t i = 0; i < n; i++) {
        unless_call(filter, calls[i], 4);
        load(filter, ARGUMENT(0));
        add(filter, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, first);
        refuse(filter);
        load(filter, (uint32_t)offsetof(struct seccomp_data, nr));
    }
}

static void refuse_reach(void)
{
    struct filter filter;

    begin(&filter);
    refuse_calls(&filter, never, COUNT(never));
    refuse_calls(&filter, lasting, COUNT(lasting));
    refuse_unless(&filter, to_itself, COUNT(to_itself), (uint32_t)getpid());
    refuse_unless(&filter, of_itself, COUNT(of_itself), 0);
    for (size_t i = 0; i < COUNT(opening); i++)
        refuse_bits(&filter, opening[i].call, opening[i].flags,
                    O_WRONLY | O_RDWR | O_CREAT | O_TRUNC);
    refuse_bits(&filter, SYS_mprotect, 2, PROT_WRITE);
    install(&filter);
}

static void refuse_files(void)
{
    struct filter filter;

    begin(&filter);
    for (size_t i = 0; i < COUNT(opening); i++) {
        unless_call(&filter, opening[i].call, 1);
        refuse(&filter);
    }
    install(&filter);
}

#else

static void refuse_reach(void)
{
}

static void refuse_files(void)
{
}

#endif

void confine_start(int socket, int object)
{
    keep_two(socket, object);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 1); /* for a debugger */
    drop_capabilities();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    refuse_reach();
}

void confine_loaded(void)
{
    close(CONFINE_OBJECT);
    if (!SANITIZED)
        refuse_files();
}
