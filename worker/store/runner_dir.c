#include "worker/store/runner_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/store/build_dir.h"
#include "worker/store/refusal.h"

#define NAME "/runner-XXXXXX"
#define LONGEST_NAME "/files"

void runner_dir_path(const struct runner_dir *runner_dir, const char *name,
                     char out[PATH_MAX])
{
    /* runner_dir_open() left room for it */
    snprintf(out, PATH_MAX, "%s/%s", runner_dir->path, name);
}

int runner_dir_open(const char *dir, struct runner_dir *runner_dir,
                    struct err *err)
{
    static const char *const folders[] = { "files", "tmp" };
    char path[PATH_MAX];
    int n = snprintf(runner_dir->path, sizeof(runner_dir->path), "%s/tmp", dir);

    if ((size_t)n + sizeof(NAME LONGEST_NAME) > sizeof(runner_dir->path)) {
        runner_dir->path[0] = '\0';
        return err_set(err, ERR_SYSTEM, "the path '%s' is too long", dir);
    }
    (void)mkdir(runner_dir->path, 0700); /* mkdtemp() tells */
    memcpy(runner_dir->path + n, NAME, sizeof(NAME));
    if (!mkdtemp(runner_dir->path)) {
        runner_dir->path[0] = '\0';
        return refusal_of(dir, err);
    }
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        runner_dir_path(runner_dir, folders[i], path);
        if (mkdir(path, 0700) < 0) {
            int rc = refusal_of(path, err);

            runner_dir_close(runner_dir);
            return rc;
        }
    }
    return 0;
}

void runner_dir_close(struct runner_dir *runner_dir)
{
    if (runner_dir->path[0])
        build_dir_remove_tree(runner_dir->path);
    runner_dir->path[0] = '\0';
}

static bool copy_bytes(int from, int to)
{
    char bytes[64 << 10];
    ssize_t n;

    while ((n = read(from, bytes, sizeof(bytes))) > 0)
        for (ssize_t at = 0; at < n;) {
            ssize_t done = write(to, bytes + at, (size_t)(n - at));

            if (done < 0)
                return false;
            at += done;
        }
    return n == 0;
}

static int copy(const char *from, const char *to, struct err *err)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out =
        in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int rc = 0;

    if (in < 0 || out < 0)
        rc = refusal_of(in < 0 ? from : to, err);
    else if (!copy_bytes(in, out))
        rc = refusal_of(to, err);
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) < 0 && rc == 0)
        rc = refusal_of(to, err);
    if (rc < 0)
        unlink(to);
    return rc;
}

int runner_dir_put(const struct runner_dir *runner_dir, const char *path,
                   char out[PATH_MAX], struct err *err)
{
    const char *name = strrchr(path, '/');

    if (snprintf(out, PATH_MAX, "%s/files/%s", runner_dir->path,
                 name ? name + 1 : path) >= PATH_MAX)
        return err_set(err, ERR_SYSTEM, "the path of '%s' is too long", path);
    if (link(path, out) == 0 || errno == EEXIST)
        return 0;
    if (errno == ENOENT)
        return refusal_of(path, err);
    return copy(path, out, err);
}

void runner_dir_clear(const struct runner_dir *runner_dir)
{
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *dir;

    runner_dir_path(runner_dir, "files", path);
    dir = opendir(path);
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
}
