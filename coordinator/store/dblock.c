#include "coordinator/store/dblock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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
    char *path;
    int fd;
} kept = { NULL, -1 };

static int open_lock(const char *path, int flags)
{
    char *name = mem_printf("%s.lock", path);
    int fd = open(name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

    free(name);
    return fd;
}

static void read_holder(int fd, struct dblock_holder *out)
{
    char text[256];
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    long long pid, since;

    *out = (struct dblock_holder){ .machine = "" };
    text[n < 0 ? 0 : n] = '\0';
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
    int n;

    (void)gethostname(machine, sizeof(machine) - 1); /* stays "unknown" */
    n = snprintf(text, sizeof(text), "pid %lld\nmachine %s\nsince %lld\n",
                 (long long)getpid(), machine, (long long)clock_utc_ns());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
        return; /* the lock still holds, but the file names no process */
}

/* A descriptor, or ERR_STORE; '*others' says whether another one has it. */
static int take(const char *path, bool *others, struct err *err)
{
    int fd = open_lock(path, O_RDWR | O_CREAT);

    *others = false;
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
    write_holder(fd);
    return fd;
}

/* A copy of a descriptor holds the same lock: closing it does not release that
 * of the other one. */
int dblock_take(const char *path, struct err *err)
{
    bool others;
    int fd;

    if (!kept.path || strcmp(kept.path, path) != 0)
        return take(path, &others, err);
    fd = fcntl(kept.fd, F_DUPFD_CLOEXEC, 0);
    return fd < 0 ? not_locked(path, err) : fd;
}

int dblock_keep(const char *path, struct err *err)
{
    bool others;
    int fd;

    assert(!kept.path);
    fd = take(path, &others, err);
    if (fd < 0)
        return others ? fd : 0;
    kept.path = mem_strdup(path);
    kept.fd = fd;
    return 0;
}

void dblock_drop(void)
{
    dblock_release(kept.fd);
    free(kept.path);
    kept.path = NULL;
    kept.fd = -1;
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
