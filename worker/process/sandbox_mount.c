#include "worker/process/sandbox_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker/process/sandbox.h"

/* mount_setattr(2), since Linux 5.12; C libraries have it later. */
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#define ATTR_RDONLY 1
#define WHOLE_TREE 0x8000 /* AT_RECURSIVE */

struct attributes {
    uint64_t set, clear, propagation, userns;
};

/* What a program writes to a hidden folder is in memory. */
#define EMPTY "mode=0700,size=256m,nr_inodes=64k"

/* In a user namespace a mount keeps the flags that it has. */
static unsigned long flags_of(const char *path)
{
    static const struct {
        unsigned long found, flag;
    } rows[] = {
        { 0x2, MS_NOSUID },       { 0x4, MS_NODEV },
        { 0x8, MS_NOEXEC },       { 0x400, MS_NOATIME },
        { 0x800, MS_NODIRATIME }, { 0x1000, MS_RELATIME },
    };
    unsigned long flags = 0;
    struct statfs st;

    if (statfs(path, &st) < 0)
        return 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if ((unsigned long)st.f_flags & rows[i].found)
            flags |= rows[i].flag;
    return flags;
}

static bool make_read_only(const char *path)
{
    const struct attributes read_only = { .set = ATTR_RDONLY };

    if (syscall(SYS_mount_setattr, AT_FDCWD, path, WHOLE_TREE, &read_only,
                sizeof(read_only)) == 0)
        return true;
    return mount(NULL, path, NULL,
                 MS_BIND | MS_REMOUNT | MS_RDONLY | flags_of(path), NULL) == 0;
}

/* What was removed since needs no cover. */
static bool hide(const char *path)
{
    struct stat st;
    int rc = lstat(path, &st);

    if (rc == 0 && S_ISDIR(st.st_mode))
        rc = mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, EMPTY);
    else if (rc == 0)
        rc = mount("/dev/null", path, NULL, MS_BIND, NULL);
    return rc == 0 || errno == ENOENT;
}

/* What it is mounted on, with the folders above, unless that is there. */
static bool make_place(const char *path, bool is_folder)
{
    char above[PATH_MAX];
    size_t len = strlen(path);
    struct stat st;
    int fd;

    if (lstat(path, &st) == 0)
        return true;
    if (len >= sizeof(above)) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(above, path, len + 1);
    for (char *at = above + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            (void)mkdir(above, 0700); /* the last step tells */
            *at = '/';
        }
    if (is_folder)
        return mkdir(path, 0700) == 0;
    fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* 'source' was opened before anything was covered. */
static bool show(const char *path, int source, enum sandbox_right right)
{
    char from[32];
    struct stat st;

    if (source == -ENOENT)
        return true; /* removed since */
    if (source < 0) {
        errno = -source;
        return false;
    }
    snprintf(from, sizeof(from), "/proc/self/fd/%d", source);
    return fstat(source, &st) == 0 && make_place(path, S_ISDIR(st.st_mode)) &&
           mount(from, path, NULL, MS_BIND | MS_REC, NULL) == 0 &&
           (right == SANDBOX_WRITE || make_read_only(path));
}

/* A descriptor, or -errno. */
static int open_source(const struct sandbox_entry *entry)
{
    int fd;

    if (entry->right == SANDBOX_HIDDEN)
        return -ENOENT;
    fd = open(entry->path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? -errno : fd;
}

bool sandbox_mount_enter(const struct sandbox *sandbox)
{
    int sources[SANDBOX_ENTRIES_MAX];
    bool done = true;

    for (size_t i = 0; i < sandbox->n; i++)
        sources[i] = open_source(&sandbox->entries[i]);
    /* folders come before what is in them */
    for (size_t i = 0; done && i < sandbox->n; i++) {
        const struct sandbox_entry *entry = &sandbox->entries[i];

        if (entry->right == sandbox_right_around(sandbox, i))
            continue;
        done = entry->right == SANDBOX_HIDDEN
                   ? hide(entry->path)
                   : show(entry->path, sources[i], entry->right);
    }
    for (size_t i = 0; i < sandbox->n; i++)
        if (sources[i] >= 0)
            close(sources[i]);
    return done;
}
