#include "coordinator/text/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"

#define MODE_BITS 07777
#define DATABASE_MAGIC "SQLite format 3" /* and a NUL: all of it counts */

static int write_all(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t n = write(fd, text, len);

        if (n < 0 && errno != EINTR)
            return -1;
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int refused(const char *path, int why, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "'%s': %s", path, strerror(why));
}

/* A pipe or a terminal: nothing of it can be replaced. */
static int write_through(const char *path, const char *text, size_t len,
                         struct err *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC), failed = 0;

    if (fd < 0)
        return refused(path, errno, err);
    if (write_all(fd, text, len) < 0)
        failed = errno;
    if (close(fd) < 0 && !failed)
        failed = errno;
    return failed ? refused(path, failed, err) : 0;
}

/* A killed command may have left this file, so it is not exclusive; the lock
 * keeps two commands apart.  Between open() and flock() another command may
 * have renamed it to the user's file. */
static int open_part(const char *path, const char *part, struct err *err)
{
    int fd = open(
        part, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    struct stat opened, named;

    if (fd < 0)
        return refused(errno == EISDIR || errno == ELOOP ? part : path, errno,
                       err);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &opened) == 0 &&
        lstat(part, &named) == 0 && opened.st_ino == named.st_ino &&
        opened.st_dev == named.st_dev)
        return fd;
    close(fd);
    return err_set(err, ERR_SYSTEM, "'%s': another fa-coord is writing it",
                   part);
}

/* 'old': the file that will be replaced, or NULL.  Returns 0 or an errno. */
static int fill(int fd, const char *text, size_t len, const struct stat *old)
{
    if (ftruncate(fd, 0) < 0 || write_all(fd, text, len) < 0 ||
        (old && fchmod(fd, old->st_mode & MODE_BITS) < 0) || fsync(fd) < 0)
        return errno;
    return 0;
}

/* 'target' is 'path' with the symbolic links resolved. */
static int replace(const char *path, const char *target, const char *text,
                   size_t len, bool force, struct err *err)
{
    char *part = mem_printf("%s" OUTFILE_PART, target);
    int fd = open_part(path, part, err), rc = fd < 0 ? fd : 0, failed;
    struct stat old;
    bool exists;

    if (rc < 0)
        goto out;
    exists = lstat(target, &old) == 0;
    if (exists && !force) {
        rc = err_set(err, ERR_INPUT,
                     "'%s' exists already; --force overwrites it", path);
        goto out;
    }
    failed = fill(fd, text, len, exists && S_ISREG(old.st_mode) ? &old : NULL);
    if (!failed && rename(part, target) < 0)
        failed = errno;
    if (failed)
        rc = refused(path, failed, err);
out:
    if (fd >= 0 && rc < 0)
        unlink(part); /* while it is locked: it is this command's */
    if (fd >= 0)
        close(fd); /* synced: it has no more to say */
    free(part);
    return rc;
}

int outfile_folder(const char *path, struct err *err)
{
    char *copy = mem_strdup(path);
    const char *folder = dirname(copy);
    struct stat st;
    int why = stat(folder, &st) < 0 ? errno : 0, rc = 0;

    if (why == ENOENT)
        rc = err_set(err, ERR_INPUT,
                     "'%s': there is no folder '%s'; make it first (mkdir -p), "
                     "or name another place",
                     path, folder);
    else if (why == ENOTDIR || (!why && !S_ISDIR(st.st_mode)))
        rc =
            err_set(err, ERR_INPUT, "'%s': '%s' is not a folder", path, folder);
    free(copy);
    return rc;
}

int outfile_spare(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char head[sizeof(DATABASE_MAGIC)] = "";
    bool is_database =
        fd >= 0 && pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
        memcmp(head, DATABASE_MAGIC, sizeof(head)) == 0;

    if (fd >= 0)
        close(fd);
    if (!is_database)
        return 0;
    return err_set(err, ERR_INPUT,
                   "'%s' is a database, which nothing is written over; name "
                   "another file",
                   path);
}

int outfile_save(const char *path, const char *text, size_t len, bool force,
                 struct err *err)
{
    struct stat st;
    bool exists = stat(path, &st) == 0;
    char *target;
    int rc;

    if (exists && S_ISDIR(st.st_mode))
        return err_set(err, ERR_INPUT, "'%s' is a folder; name a file in it",
                       path);
    if (exists && force && !S_ISREG(st.st_mode))
        return write_through(path, text, len, err);
    if (outfile_spare(path, err) < 0 || outfile_folder(path, err) < 0)
        return ERR_INPUT;
    target = exists && force ? realpath(path, NULL) : NULL;
    rc = replace(path, target ? target : path, text, len, force, err);
    free(target);
    return rc;
}
