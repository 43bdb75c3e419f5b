#include "worker/gpu/gpulock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define UUID_MAX 96
#define FOLDER_MODE 01777
#define FILE_MODE 0666

static bool is_name(const char *uuid)
{
    size_t n =
        strspn(uuid, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxy"
                     "z0123456789-_.");

    return n > 0 && n <= UUID_MAX && uuid[n] == '\0' && uuid[0] != '.';
}

/* The folder's descriptor; the folder is made on first use.  Its maker's umask
 * must not lock other users out. */
static int open_folder(const char *folder, struct err *err)
{
    bool made = mkdir(folder, 0700) == 0;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && made)
        (void)fchmod(fd, FOLDER_MODE); /* else they get an error below */
    if (fd < 0)
        return err_set(
            err, ERR_SYSTEM,
            "%s: %s; it must be a folder that everyone can write (mode 1777)",
            folder, strerror(errno));
    return fd;
}

/* Try without O_CREAT first: with fs.protected_regular, O_CREAT is refused for
 * another user's file in a sticky folder. */
static int open_file(int folder, const char *uuid)
{
    int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    int fd = openat(folder, uuid, flags);

    if (fd < 0 && errno == ENOENT) {
        fd = openat(folder, uuid, flags | O_CREAT | O_EXCL, 0600);
        if (fd >= 0)
            (void)fchmod(fd, FILE_MODE); /* our own file: cannot be refused */
        else if (errno == EEXIST)
            fd = openat(folder, uuid, flags);
    }
    return fd;
}

static int held(int fd, const char *uuid, struct err *err)
{
    char pid[16] = "";
    ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);

    pid[n > 0 ? strspn(pid, "0123456789") : 0] = '\0';
    return err_set(err, ERR_DEVICE,
                   "GPU %s is in use by another worker, pid %s", uuid,
                   pid[0] ? pid : "unknown");
}

static int lock_file(int fd, const char *uuid, struct err *err)
{
    struct stat st;
    char pid[16];
    int n;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return err_set(err, ERR_SYSTEM, "the lock of GPU %s is not a file",
                       uuid);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK)
            return held(fd, uuid, err);
        return err_set(err, ERR_SYSTEM, "the lock of GPU %s: %s", uuid,
                       strerror(errno));
    }
    n = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
    /* only messages use it */
    (void)!ftruncate(fd, 0);
    (void)!pwrite(fd, pid, (size_t)n, 0);
    return 0;
}

int gpulock_take(const char *folder, const char *uuid, struct err *err)
{
    int at, fd, rc;

    if (!is_name(uuid))
        return err_set(err, ERR_INPUT, "'%s' is not the UUID of a GPU", uuid);
    at = open_folder(folder, err);
    if (at < 0)
        return at;
    fd = open_file(at, uuid);
    if (fd < 0)
        rc = err_set(err, ERR_SYSTEM, "%s/%s: %s", folder, uuid,
                     strerror(errno));
    else
        rc = lock_file(fd, uuid, err);
    close(at);
    if (rc < 0 && fd >= 0)
        close(fd);
    return rc < 0 ? rc : fd;
}
