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
#include <sys/socket.h>
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

/* sendto() as in C, but that an error is a negative number, by a system call
 * after which the program is at confine_sent: there is no other with that
 * address.  Both are hidden: an object could ask for the address otherwise. */
#if defined(__x86_64__)
__asm__(".text\n"
        ".type confine_send, @function\n"
        "confine_send:\n"
        "    movq %rcx, %r10\n"
        "    movl $44, %eax\n"
        "    syscall\n"
        "confine_sent:\n"
        "    ret\n"
        ".size confine_send, .-confine_send\n");
_Static_assert(SYS_sendto == 44, "as in confine_send()");
#else
__asm__(".text\n"
        ".type confine_send, %function\n"
        "confine_send:\n"
        "    mov x8, #206\n"
        "    svc #0\n"
        "confine_sent:\n"
        "    ret\n"
        ".size confine_send, .-confine_send\n");
_Static_assert(SYS_sendto == 206, "as in confine_send()");
#endif
__attribute__((visibility("hidden"))) ssize_t
confine_send(long socket, const void *message, size_t len, long flags,
             const void *to, size_t to_len);
__attribute__((visibility("hidden"))) extern const char confine_sent[];

bool confine_say(const void *message, size_t len)
{
    ssize_t n;

    do
        n = confine_send(CONFINE_SOCKET, message, len, MSG_NOSIGNAL, NULL, 0);
    while (n == -EINTR);
    return n == (ssize_t)len;
}

struct filter {
    struct sock_filter code[FILTER_MAX];
    unsigned short n;
};

/* What an emulated kernel, the emulator and the C library need.  Everything
 * else is refused: most system calls reach another process, or leave something
 * for a later launch. */
static const long allowed[] = {
    SYS_brk,           SYS_mmap,
    SYS_munmap,        SYS_mremap,
    SYS_madvise,       SYS_mprotect,
    SYS_futex,         SYS_getrandom,
    SYS_clock_gettime, SYS_clock_getres,
    SYS_gettimeofday,  SYS_times,
    SYS_nanosleep,     SYS_clock_nanosleep,
    SYS_getrusage,     SYS_sched_yield,
    SYS_ppoll,         SYS_restart_syscall,
    SYS_exit,          SYS_exit_group,
    SYS_getpid,        SYS_getppid,
    SYS_gettid,        SYS_getuid,
    SYS_geteuid,       SYS_getgid,
    SYS_getegid,       SYS_getcpu,
    SYS_uname,         SYS_read,
    SYS_write,         SYS_writev,
    SYS_sendto,        SYS_recvfrom,
    SYS_lseek,         SYS_fstat,
    SYS_newfstatat,    SYS_close,
    SYS_rt_sigreturn,  SYS_rt_sigprocmask,
    SYS_sigaltstack,   SYS_kill,
    SYS_tkill,         SYS_tgkill,
    SYS_prlimit64,     SYS_sched_getaffinity,
#ifdef SYS_pause
    SYS_pause,         SYS_poll,
    SYS_time,
#endif
#ifdef SYS_rseq
    SYS_rseq,          SYS_set_robust_list,
#endif
};

/* To load an object, which may have others. */
static const long while_loading[] = {
    SYS_openat,     SYS_pread64,    SYS_faccessat,    SYS_readlinkat,
    SYS_getcwd,     SYS_getdents64, SYS_memfd_create, SYS_dup3,
#ifdef SYS_open
    SYS_open,       SYS_access,     SYS_readlink,     SYS_stat,
    SYS_lstat,      SYS_dup2,
#endif
#ifdef SYS_statx
    SYS_statx,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
};

/* To catch the faults of the kernel, and its time limit; and for filters. */
static const long until_armed[] = { SYS_rt_sigaction, SYS_setitimer,
                                    SYS_prctl };

static const long to_itself[] = { SYS_kill, SYS_tkill, SYS_tgkill };

/* What would write to the socket, or be another descriptor of it. */
static const long of_socket[] = {
    SYS_write,
    SYS_writev,
    SYS_dup3,
#ifdef SYS_dup2
    SYS_dup2,
#endif
};

/* What limits a process; 0 is the caller. */
static const long of_itself[] = { SYS_prlimit64 };

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

static void allow(struct filter *filter)
{
    add(filter, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

static void install(struct filter *filter)
{
    struct sock_fprog program = { .len = filter->n, .filter = filter->code };

    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void allow_calls(struct filter *filter, const long *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unless_call(filter, calls[i], 1);
        allow(filter);
    }
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

/* What to do with the calls that would reach the judge. */
static void keep_from_judge(struct filter *filter, uint32_t action)
{
    const uint64_t after = (uint64_t)(uintptr_t)confine_sent;
    const uint32_t low = offsetof(struct seccomp_data, instruction_pointer);

    unless_call(filter, SYS_sendto, 6);
    load(filter, low); /* little-endian */
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 2, (uint32_t)after);
    load(filter, low + 4);
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (uint32_t)(after >> 32));
    add(filter, BPF_RET | BPF_K, 0, 0, action);
    load(filter, (uint32_t)offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < COUNT(of_socket); i++) {
        unless_call(filter, of_socket[i], 4);
        load(filter, ARGUMENT(0));
        add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, CONFINE_SOCKET);
        add(filter, BPF_RET | BPF_K, 0, 0, action);
        load(filter, (uint32_t)offsetof(struct seccomp_data, nr));
    }
}

static void refuse_reach(void)
{
    struct filter filter;

    begin(&filter);
    keep_from_judge(&filter, SECCOMP_RET_ERRNO | EPERM);
    refuse_unless(&filter, to_itself, COUNT(to_itself), (uint32_t)getpid());
    refuse_unless(&filter, of_itself, COUNT(of_itself), 0);
    for (size_t i = 0; i < COUNT(opening); i++)
        refuse_bits(&filter, opening[i].call, opening[i].flags,
                    O_WRONLY | O_RDWR | O_CREAT | O_TRUNC);
    refuse_bits(&filter, SYS_mprotect, 2, PROT_WRITE);
    allow_calls(&filter, allowed, COUNT(allowed));
    allow_calls(&filter, while_loading, COUNT(while_loading));
    allow_calls(&filter, until_armed, COUNT(until_armed));
    refuse(&filter);
    install(&filter);
}

static void refuse_loading(void)
{
    struct filter filter;

    begin(&filter);
    refuse_calls(&filter, while_loading, COUNT(while_loading));
    allow(&filter);
    install(&filter);
}

static void refuse_arming(void)
{
    struct filter filter;

    begin(&filter);
    refuse_calls(&filter, until_armed, COUNT(until_armed));
    keep_from_judge(&filter, SECCOMP_RET_TRAP);
    allow(&filter);
    install(&filter);
}

#else

bool confine_say(const void *message, size_t len)
{
    ssize_t n;

    do
        n = send(CONFINE_SOCKET, message, len, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)len;
}

static void refuse_reach(void)
{
}

static void refuse_loading(void)
{
}

static void refuse_arming(void)
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
        refuse_loading();
}

void confine_armed(void)
{
    refuse_arming();
}
