/* failing_calls.c - calls to the system that fail as asked, for LD_PRELOAD
 *
 *   FA_FAIL_COUNTS=FILE    uint64_t that all processes share: the calls of each
 *                          of 'kinds', in their order, the calls that failed,
 *                          and one that the test sets when all is well again
 *   FA_FAIL_PROGRAM=NAME   only processes of this name count, and fail
 *   FA_FAIL_PATH=TEXT      only calls on files whose path contains this;
 *                          memory has no path
 *   FA_FAIL=KIND ERRNO FROM TIMES
 *                          calls of this kind fail with this number, from the
 *                          FROM-th on (from 1), TIMES of them (0: for ever);
 *                          without it, calls are only counted; with the
 *                          number 0, the process is killed in the call
 *
 * A write that finds no room, or in which the process is killed, stores its
 * first half, as a disk does that fills, unless it is one byte.  What stdio
 * writes goes by unseen; only its open counts.
 */
#undef _FORTIFY_SOURCE /* its inline functions have the names of these */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
    OPEN,
    READ,
    WRITE,
    SYNC,
    TRUNCATE,
    MAP,
    MEMORY,
    KINDS
};

enum {
    FAILED = KINDS,
    HEALED,
    COUNTS
};

static const char *const kinds[KINDS] = { "open",     "read", "write", "sync",
                                          "truncate", "map",  "memory" };

#define PATH_BYTES 4096

static _Atomic uint64_t *counts; /* shared; NULL: not asked */
static const char *part;         /* of the paths that count; NULL: all */
static struct {
    enum kind kind; /* KINDS: none */
    int number;
    uint64_t from, times;
} fail = { .kind = KINDS };

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

/* ---- what is asked ---- */

static void read_order(const char *order)
{
    char kind[16];
    int number;
    unsigned long long from, times;

    if (!order ||
        sscanf(order, "%15s %d %llu %llu", kind, &number, &from, &times) != 4)
        return;
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i], kind) == 0)
            fail.kind = (enum kind)i;
    fail.number = number;
    fail.from = from;
    fail.times = times;
}

__attribute__((constructor)) static void begin(void)
{
    const char *file = getenv("FA_FAIL_COUNTS");
    const char *program = getenv("FA_FAIL_PROGRAM");
    size_t size = COUNTS * sizeof(uint64_t);
    void *shared;
    int fd;

    if (!file ||
        (program && strcmp(program, program_invocation_short_name) != 0))
        return;
    part = getenv("FA_FAIL_PATH");
    read_order(getenv("FA_FAIL"));
    fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    shared = (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                             MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (shared != MAP_FAILED)
        counts = shared;
}

/* ---- whether a call fails ---- */

static void die(void)
{
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
}

/* Count it, and say whether it fails; then errno is set. */
static bool fails(enum kind kind)
{
    uint64_t n = atomic_fetch_add(&counts[kind], 1) + 1;

    if (fail.kind != kind || n < fail.from ||
        (fail.times && n >= fail.from + fail.times) ||
        atomic_load(&counts[HEALED]))
        return false;
    atomic_fetch_add(&counts[FAILED], 1);
    errno = fail.number;
    if (fail.number == 0 && kind != WRITE)
        die();
    return true;
}

static bool path_fails(enum kind kind, const char *path)
{
    return counts && (!part || strstr(path, part)) && fails(kind);
}

static bool fd_fails(enum kind kind, int fd)
{
    char link[32], path[PATH_BYTES];
    int saved = errno;
    long n;

    if (!counts)
        return false;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = syscall(SYS_readlink, link, path, sizeof(path) - 1);
    errno = saved;
    if (n <= 0 || path[0] != '/') /* sockets and pipes are no files */
        return false;
    path[n] = '\0';
    return path_fails(kind, path);
}

/* ---- open ---- */

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    if (path_fails(OPEN, path))
        return -1;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

/* The mode is there only if a file may be made. */
#define MODE_OF(flags, mode)                 \
    do {                                     \
        va_list ap;                          \
                                             \
        va_start(ap, flags);                 \
        if ((flags) & (O_CREAT | O_TMPFILE)) \
            (mode) = va_arg(ap, mode_t);     \
        va_end(ap);                          \
    } while (0)

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;

    MODE_OF(flags, mode);
    return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    mode_t mode = 0;

    MODE_OF(flags, mode);
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    mode_t mode = 0;

    MODE_OF(flags, mode);
    return open_at(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
    mode_t mode = 0;

    MODE_OF(flags, mode);
    return open_at(folder, path, flags, mode);
}

int __open_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}

static FILE *open_stream(const char *name, const char *path, const char *mode)
{
    void *found = dlsym(RTLD_NEXT, name);
    FILE *(*next)(const char *, const char *);

    memcpy(&next, &found, sizeof(next)); /* ISO C has no such cast */
    if (path_fails(OPEN, path))
        return NULL;
    return next(path, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    return open_stream("fopen", path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return open_stream("fopen64", path, mode);
}

/* ---- read, write ---- */

ssize_t read(int fd, void *bytes, size_t len)
{
    return fd_fails(READ, fd) ? -1 : syscall(SYS_read, fd, bytes, len);
}

ssize_t pread(int fd, void *bytes, size_t len, off_t at)
{
    return fd_fails(READ, fd) ? -1 : syscall(SYS_pread64, fd, bytes, len, at);
}

ssize_t pread64(int fd, void *bytes, size_t len, off64_t at)
{
    return fd_fails(READ, fd) ? -1 : syscall(SYS_pread64, fd, bytes, len, at);
}

/* True if this much, and no more, is to be written; of 0 the call fails. */
static bool is_cut(int fd, size_t *len)
{
    bool is_half = fail.number == ENOSPC || fail.number == 0;

    if (!fd_fails(WRITE, fd))
        return false;
    *len = is_half ? *len / 2 : 0;
    return true;
}

static ssize_t written(bool cut, ssize_t n)
{
    if (cut && fail.number == 0)
        die();
    return n;
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    bool cut = is_cut(fd, &len);

    return written(cut,
                   cut && len == 0 ? -1 : syscall(SYS_write, fd, bytes, len));
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
    bool cut = is_cut(fd, &len);

    return written(
        cut, cut && len == 0 ? -1 : syscall(SYS_pwrite64, fd, bytes, len, at));
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
{
    return pwrite(fd, bytes, len, at);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
    bool cut = fd_fails(WRITE, fd);

    return written(cut, cut ? -1 : syscall(SYS_writev, fd, parts, n));
}

int fsync(int fd)
{
    return fd_fails(SYNC, fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return fd_fails(SYNC, fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int ftruncate(int fd, off_t size)
{
    return fd_fails(TRUNCATE, fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    return ftruncate(fd, size);
}

/* ---- memory ---- */

void *mmap(void *at, size_t len, int protection, int flags, int fd,
           off_t offset)
{
    if (fd >= 0 && fd_fails(MAP, fd))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, len, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t len, int protection, int flags, int fd,
             off64_t offset)
{
    return mmap(at, len, protection, flags, fd, offset);
}

void *malloc(size_t size)
{
    return counts && fails(MEMORY) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return counts && fails(MEMORY) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return counts && fails(MEMORY) ? NULL : __libc_realloc(old, size);
}
