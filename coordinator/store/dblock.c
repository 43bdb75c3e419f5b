#include "coordinator/store/dblock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"

/* 'status' takes the lock for an instant to see whether it is free.  A
 * coordinator that starts in that instant tries again. */
#define TAKE_TRIES 10
#define TAKE_WAIT_MS 20

/* What dblock_keep() has locked. */
static struct {
    char *name; /* NULL: nothing */
    int fd;
} kept = { NULL, -1 };

char *dblock_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *real = realpath(path, NULL), *name;
    char *folder = mem_printf("%.*s", slash ? (int)(slash - path) + 1 : 1,
                              slash ? path : ".");

    if (real) {
        name = mem_printf("%s.lock", real);
    } else {
        real = realpath(folder, NULL);
        name = mem_printf("%s/%s.lock", real ? real : folder, base);
    }
    free(folder);
    free(real);
    return name;
}

static bool is_kept(const char *path)
{
    char *name = kept.name ? dblock_name(path) : NULL;
    bool same = name && strcmp(kept.name, name) == 0;

    free(name);
    return same;
}

static int open_lock(const char *path, int flags)
{
    char *name = dblock_name(path);
    int fd = open(name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

    free(name);
    return fd;
}

/* Would others lock the same file?  It may have been removed. */
static bool is_lock_of(const char *path, int fd)
{
    char *name = dblock_name(path);
    struct stat mine, theirs;
    bool same = fstat(fd, &mine) == 0 && lstat(name, &theirs) == 0 &&
                mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino;

    free(name);
    return same;
}

static void read_holder(int fd, struct dblock_holder *out)
{
    char text[256];
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    long long pid, since;

    *out = (struct dblock_holder){ .machine = "" };
    text[n == -1 ? 0 : n] = '\0';
    if (sscanf(text, "pid %lld machine %79s since %lld", &pid, out->machine,
               &since) == 3) {
        out->pid = pid;
        out->since_utc = since;
    }
}

static int in_use(const char *path, int fd, struct err *err)
{
    struct dblock_holder holder;
    char since[CLOCK_ISO_BYTES];

    read_holder(fd, &holder);
    if (holder.pid == 0)
        return err_set(err, ERR_STORE,
                       "%s is in use by another fa-coord that is just starting",
                       path);
    clock_iso(holder.since_utc, since);
    return err_set(err, ERR_STORE,
                   "%s is in use by fa-coord with pid %lld on %s since %s; "
                   "'fa-coord status' shows what it does",
                   path, (long long)holder.pid, holder.machine, since);
}

static int not_locked(const char *path, struct err *err)
{
    return err_set(err, ERR_STORE, "%s.lock: %s", path, strerror(errno));
}

static void write_holder(int fd)
{
    char machine[80] = "unknown", text[256];
    ssize_t written;
    int n;

    (void)gethostname(machine, sizeof(machine) - 1); /* stays "unknown" */
    n = snprintf(text, sizeof(text), "pid %lld\nmachine %s\nsince %lld\n",
                 (long long)getpid(), machine, (long long)clock_utc_ns());
    written = ftruncate(fd, 0) < 0 ? -1 : pwrite(fd, text, (size_t)n, 0);
    (void)written; /* the lock holds even if the file names no process */
}

/* A descriptor, or ERR_STORE; '*others' says whether another one has it. */
static int lock_once(const char *path, bool *others, struct err *err)
{
    int fd = open_lock(path, O_RDWR | O_CREAT);

    *others = false;
    if (fd == -1 && (errno == EROFS || errno == EACCES || errno == EPERM))
        return err_set(err, ERR_STORE,
                       "%s.lock: %s; a database needs a folder that can be "
                       "written",
                       path, strerror(errno));
    if (fd < 0)
        return not_locked(path, err);
    for (int tries = 1; flock(fd, LOCK_EX | LOCK_NB) < 0; tries++) {
        *others = errno == EWOULDBLOCK;
        if (!*others || tries == TAKE_TRIES) {
            int rc = *others ? in_use(path, fd, err) : not_locked(path, err);

            close(fd);
            return rc;
        }
        (void)poll(NULL, 0, TAKE_WAIT_MS);
    }
    return fd;
}

/* The same, of the file that has the name now. */
static int take(const char *path, bool *others, struct err *err)
{
    int fd = lock_once(path, others, err);

    for (int tries = 1; fd >= 0 && !is_lock_of(path, fd); tries++) {
        close(fd);
        fd = tries < TAKE_TRIES ? lock_once(path, others, err)
                                : err_set(err, ERR_STORE,
                                          "%s.lock: it is removed again and "
                                          "again",
                                          path);
    }
    if (fd >= 0)
        write_holder(fd);
    return fd;
}

/* A copy of a descriptor holds the same lock: closing it does not release that
 * of the other one. */
static int copy_kept(const char *path, struct err *err)
{
    int fd = fcntl(kept.fd, F_DUPFD_CLOEXEC, 0);

    return fd < 0 ? not_locked(path, err) : fd;
}

int dblock_take(const char *path, struct err *err)
{
    bool others;

    return is_kept(path) ? copy_kept(path, err) : take(path, &others, err);
}

int dblock_keep(const char *path, struct err *err)
{
    bool others;
    int fd;

    assert(!kept.name);
    fd = take(path, &others, err);
    if (fd < 0)
        return others ? fd : 0;
    kept.name = dblock_name(path);
    kept.fd = fd;
    return 0;
}

void dblock_drop(void)
{
    dblock_release(kept.fd);
    free(kept.name);
    kept.name = NULL;
    kept.fd = -1;
}

/* What the command keeps is renewed first, so that its copies are of one lock.
 */
static int renew_kept(const char *path, struct err *err)
{
    bool others;
    int fd;

    if (is_lock_of(path, kept.fd))
        return copy_kept(path, err);
    fd = take(path, &others, err);
    if (fd < 0)
        return fd;
    close(kept.fd);
    kept.fd = fd;
    return copy_kept(path, err);
}

int dblock_renew(const char *path, int *fd, struct err *err)
{
    bool others;
    int other;

    if (is_lock_of(path, *fd))
        return 0;
    other = is_kept(path) ? renew_kept(path, err) : take(path, &others, err);
    if (other < 0)
        return other;
    close(*fd);
    *fd = other;
    return 0;
}

void dblock_release(int fd)
{
    if (fd >= 0)
        close(fd);
}

bool dblock_is_held(const char *path, struct dblock_holder *out)
{
    int fd = open_lock(path, O_RDONLY);
    bool held;

    *out = (struct dblock_holder){ .machine = "" };
    if (fd < 0)
        return false;
    held = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (held)
        read_holder(fd, out);
    close(fd);
    return held;
}
