#include "worker/process/sockets.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mem.h"

#define REMEMBERED 4096

/* Two changes within one tick of the file system's clock have the same time. */
#define SETTLED_NS NS_PER_S

/* A folder without sockets.  Another one in its place has another time. */
struct plain_folder {
    dev_t device;
    ino_t inode;
    int64_t changed_ns; /* 0: none */
};

/* For the whole process, as the folders are there for all of it. */
static struct plain_folder plain_folders[REMEMBERED];

static struct plain_folder *place_of(const struct stat *st)
{
    return &plain_folders[st->st_ino % REMEMBERED];
}

static int64_t changed_ns(const struct stat *st)
{
    return st->st_ctim.tv_sec * NS_PER_S + st->st_ctim.tv_nsec;
}

static bool is_known_plain(const struct stat *st)
{
    const struct plain_folder *known = place_of(st);

    return known->inode == st->st_ino && known->device == st->st_dev &&
           known->changed_ns == changed_ns(st);
}

/* Some file systems do not say what a name is. */
static bool is_socket(int parent, const struct dirent *entry)
{
    struct stat st;

    return entry->d_type == DT_SOCK ||
           (entry->d_type == DT_UNKNOWN &&
            fstatat(parent, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISSOCK(st.st_mode));
}

static bool has_socket(int parent, const char *name)
{
    int fd =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    bool found = false;

    if (fd >= 0)
        mem_check(dir);
    while (dir && !found && (entry = readdir(dir)))
        found = is_socket(fd, entry);
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return found;
}

/* 'st' is from before it is read: what comes later changes the time. */
static bool folder_has_socket(int parent, const char *name,
                              const struct stat *st, int64_t now_ns)
{
    if (has_socket(parent, name))
        return true;
    if (changed_ns(st) < now_ns - SETTLED_NS)
        *place_of(st) = (struct plain_folder){ .device = st->st_dev,
                                               .inode = st->st_ino,
                                               .changed_ns = changed_ns(st) };
    return false;
}

size_t sockets_find(const char *folder, int64_t now_ns, sockets_found *found,
                    void *data)
{
    DIR *dir = opendir(folder);
    size_t n_read = dir ? 1 : 0;
    struct dirent *entry;

    mem_check(dir);
    while (dir && (entry = readdir(dir))) {
        struct stat st;
        bool holds = false;

        if (entry->d_name[0] == '.' || entry->d_type == DT_REG ||
            entry->d_type == DT_LNK ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            st.st_uid != geteuid())
            continue;
        if (S_ISDIR(st.st_mode) && !is_known_plain(&st)) {
            n_read++;
            holds = folder_has_socket(dirfd(dir), entry->d_name, &st, now_ns);
        }
        if (holds || S_ISSOCK(st.st_mode))
            found(data, entry->d_name);
    }
    if (dir)
        closedir(dir);
    return n_read;
}
