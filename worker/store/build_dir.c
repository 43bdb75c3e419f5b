#include "worker/store/build_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/store/refusal.h"

enum {
    NAME_BYTES_MAX = 255,
    TREE_FDS = 16
};

static bool is_word(const char *word, size_t len)
{
    static const char fine[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz0123456789_.+-";

    return len > 0 && word[0] != '-' && word[0] != '.' &&
           strspn(word, fine) >= len;
}

bool build_dir_is_name(const char *name)
{
    if (strlen(name) > NAME_BYTES_MAX)
        return false;
    for (;;) {
        size_t len = strcspn(name, "/");

        if (!is_word(name, len))
            return false;
        if (!name[len])
            return true;
        name += len + 1;
    }
}

int build_dir_path(const struct build_dir *build_dir, const char *name,
                   char out[PATH_MAX], struct err *err)
{
    if (snprintf(out, PATH_MAX, "%s/%s", build_dir->path, name) >= PATH_MAX)
        return err_set(err, ERR_SYSTEM, "the path '%s/%s' is too long",
                       build_dir->path, name);
    return 0;
}

int build_dir_open(const char *dir, struct build_dir *build_dir,
                   struct err *err)
{
    static const char *const folders[] = { "src", "gen", "tmp", "out" };
    char path[PATH_MAX];

    if (snprintf(build_dir->path, sizeof(build_dir->path),
                 "%s/tmp/build-XXXXXX", dir) >= (int)sizeof(build_dir->path)) {
        build_dir->path[0] = '\0';
        return err_set(err, ERR_SYSTEM, "the path '%s' is too long", dir);
    }
    if (!mkdtemp(build_dir->path)) {
        build_dir->path[0] = '\0';
        return refusal_of(dir, err);
    }
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        int rc = build_dir_path(build_dir, folders[i], path, err);

        if (rc == 0 && mkdir(path, 0700) < 0)
            rc = refusal_of(path, err);
        if (rc < 0) {
            build_dir_close(build_dir);
            return rc;
        }
    }
    return 0;
}

void build_dir_close(struct build_dir *build_dir)
{
    if (build_dir->path[0])
        build_dir_remove_tree(build_dir->path);
    build_dir->path[0] = '\0';
}

static int make_folders(char *path, size_t from, struct err *err)
{
    for (char *at = strchr(path + from, '/'); at; at = strchr(at + 1, '/')) {
        bool failed;

        *at = '\0';
        failed = mkdir(path, 0700) < 0 && errno != EEXIST;
        if (failed)
            return refusal_of(path, err);
        *at = '/';
    }
    return 0;
}

static int write_new(const char *path, const char *bytes, size_t len,
                     struct err *err)
{
    int fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool failed = fd < 0;

    for (size_t at = 0; !failed && at < len;) {
        ssize_t n = write(fd, bytes + at, len - at);

        failed = n < 0 && errno != EINTR;
        at += n > 0 ? (size_t)n : 0;
    }
    if (failed)
        refusal_of(path, err);
    if (fd >= 0)
        close(fd);
    return failed ? ERR_SYSTEM : 0;
}

int build_dir_write(const struct build_dir *build_dir, const char *folder,
                    const char *name, const void *bytes, size_t len,
                    struct err *err)
{
    char path[PATH_MAX];
    size_t base = strlen(build_dir->path) + 1 + strlen(folder) + 1;
    int rc;

    if (!build_dir_is_name(name))
        return err_set(err, ERR_INPUT,
                       "the file name '%s' is not of letters, digits and "
                       "_.+- in folders below the source",
                       name);
    if (snprintf(path, sizeof(path), "%s/%s/%s", build_dir->path, folder,
                 name) >= (int)sizeof(path))
        return err_set(err, ERR_SYSTEM, "the path of '%s' is too long", name);
    rc = make_folders(path, base, err);
    return rc < 0 ? rc : write_new(path, bytes, len, err);
}

/* A folder may have been made unreadable: change its mode first. */
static int open_up(const char *path, const struct stat *stat, int type,
                   struct FTW *ftw)
{
    (void)stat;
    (void)ftw;
    if (type == FTW_D || type == FTW_DNR)
        (void)chmod(path, 0700); /* if it does not help, remove() fails */
    return 0;
}

static int remove_one(const char *path, const struct stat *stat, int type,
                      struct FTW *ftw)
{
    (void)stat;
    (void)type;
    (void)ftw;
    (void)remove(path); /* if it fails, so does removing the folder above */
    return 0;
}

bool build_dir_remove_tree(const char *path)
{
    struct stat gone;

    nftw(path, remove_one, TREE_FDS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    if (lstat(path, &gone) == 0) {
        nftw(path, open_up, TREE_FDS, FTW_PHYS | FTW_MOUNT);
        nftw(path, remove_one, TREE_FDS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    }
    return lstat(path, &gone) < 0 && errno == ENOENT;
}
