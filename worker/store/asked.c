#include "worker/store/asked.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "worker/store/cache.h"

static bool path_of(const struct cache *cache, const char *hash,
                    char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/asked/%s", cache_home(cache), hash) <
           PATH_MAX;
}

/* A clock that was set back makes it younger than nothing. */
static bool is_stale(int fd)
{
    struct timespec now;
    struct stat stat;

    clock_gettime(CLOCK_REALTIME, &now);
    return fstat(fd, &stat) < 0 ||
           now.tv_sec - stat.st_mtim.tv_sec >= ASKED_S ||
           now.tv_sec < stat.st_mtim.tv_sec - 1;
}

/* By this worker before it was killed? */
static bool is_own(int fd, const char *dir)
{
    char by[PATH_MAX];
    ssize_t n = pread(fd, by, sizeof(by), 0);

    return n == (ssize_t)strlen(dir) && memcmp(by, dir, (size_t)n) == 0;
}

static bool is_free(const struct cache *cache, const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool free = fd < 0 || is_stale(fd) || is_own(fd, cache_dir(cache));

    if (fd >= 0)
        close(fd);
    return free;
}

/* Without the file, because the disk is full, all ask. */
bool asked_take(const struct cache *cache, const char *hash)
{
    const int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    char path[PATH_MAX], folder[PATH_MAX];
    const char *dir = cache_dir(cache);
    int fd;

    if (!path_of(cache, hash, path) || !path_of(cache, "", folder))
        return true;
    fd = open(path, how, 0600);
    if (fd < 0 && errno == ENOENT) {
        (void)mkdir(folder, 0700); /* or open() says why not */
        fd = open(path, how, 0600);
    }
    if (fd < 0 && errno == EEXIST && !is_free(cache, path))
        return false;
    if (fd >= 0) {
        ssize_t n = write(fd, dir, strlen(dir));

        (void)n; /* then it counts as another worker's for ASKED_S */
        close(fd);
    }
    asked_touch(cache, hash);
    return true;
}

void asked_touch(const struct cache *cache, const char *hash)
{
    char path[PATH_MAX];

    if (path_of(cache, hash, path))
        (void)utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

void asked_end(const struct cache *cache, const char *hash)
{
    char path[PATH_MAX];

    if (path_of(cache, hash, path))
        unlink(path);
}
