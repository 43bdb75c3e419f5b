#include "coordinator/cache/artifact_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

#define MADE_MOST 3 /* folders */

struct artifact_cache {
    char folder[PATH_MAX - NAME_MAX - 1];
    int64_t bytes, ceiling;
};

char *artifact_cache_folder(void)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (base && *base == '/')
        return mem_printf("%s/fa-coord/kept", base);
    return home && *home ? mem_printf("%s/.cache/fa-coord/kept", home) : NULL;
}

static int refuse(const char *path, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
}

/* .cache/fa-coord/kept, but no home folder: where that is missing, HOME is
 * wrong, and nobody would look for files below it. */
static int make_folders(const char *folder, struct err *err)
{
    char path[PATH_MAX], *from;
    int rc = 0;

    snprintf(path, sizeof(path), "%s", folder);
    from = path + strlen(path);
    for (int above = MADE_MOST; above > 0 && from > path + 1; from--)
        above -= from[-1] == '/';
    for (char *p = from + 1; rc == 0; p++) {
        char was = *p;

        if (was != '/' && was != '\0')
            continue;
        *p = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            rc = refuse(path, err);
        *p = was;
        if (was == '\0')
            break;
    }
    return rc;
}

struct held {
    char hash[HASH_HEX];
    int64_t bytes;
    struct timespec used;
};

static int by_age(const void *a, const void *b)
{
    const struct held *x = a, *y = b;

    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) -
           (x->used.tv_nsec < y->used.tv_nsec);
}

/* All artifacts, in no order; counts their bytes. */
static struct held *list(struct artifact_cache *cache, size_t *n)
{
    DIR *dir = opendir(cache->folder);
    struct held *all = NULL;
    size_t cap = 0;

    *n = 0;
    cache->bytes = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat stat;

        if (!hash_is_hex(entry->d_name) ||
            fstatat(dirfd(dir), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (*n == cap) {
            cap = cap ? 2 * cap : 64;
            all = mem_grow(all, cap, sizeof(*all));
        }
        memcpy(all[*n].hash, entry->d_name, HASH_HEX);
        all[*n].bytes = stat.st_size;
        all[*n].used = stat.st_mtim;
        cache->bytes += stat.st_size;
        ++*n;
    }
    if (dir)
        closedir(dir);
    return all;
}

static void path_of(const struct artifact_cache *cache, const char *name,
                    char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", cache->folder, name);
}

/* Down to nine tenths of the ceiling, so that this is not needed for every
 * file. */
static void evict(struct artifact_cache *cache)
{
    char path[PATH_MAX];
    struct held *all;
    size_t n;

    if (cache->bytes <= cache->ceiling)
        return;
    all = list(cache, &n);
    if (n > 0)
        qsort(all, n, sizeof(*all), by_age);
    for (size_t i = 0; i < n && cache->bytes > cache->ceiling / 10 * 9; i++) {
        path_of(cache, all[i].hash, path);
        if (unlink(path) == 0)
            cache->bytes -= all[i].bytes;
    }
    free(all);
}

int artifact_cache_open(const char *folder, int64_t ceiling_bytes,
                        struct artifact_cache **out, struct err *err)
{
    struct artifact_cache *cache;
    char inside[PATH_MAX];
    size_t n;
    int rc;

    if (strlen(folder) >= sizeof(cache->folder))
        return err_set(err, ERR_SYSTEM, "the path '%.80s...' is too long",
                       folder);
    rc = make_folders(folder, err);
    if (rc < 0)
        return rc;
    snprintf(inside, sizeof(inside), "%s/.", folder);
    if (access(inside, R_OK | W_OK | X_OK) < 0)
        return refuse(folder, err);
    cache = mem_new(1, sizeof(*cache));
    snprintf(cache->folder, sizeof(cache->folder), "%s", folder);
    cache->ceiling = ceiling_bytes;
    free(list(cache, &n));
    evict(cache);
    *out = cache;
    return 0;
}

void artifact_cache_close(struct artifact_cache *cache)
{
    free(cache);
}

bool artifact_cache_has(const struct artifact_cache *cache, const char *hash)
{
    char path[PATH_MAX];

    if (!cache || !hash_is_hex(hash))
        return false;
    path_of(cache, hash, path);
    return access(path, R_OK) == 0;
}

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);

        if (n < 0 && errno != EINTR)
            return false;
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

int artifact_cache_put(struct artifact_cache *cache, const char *hash,
                       const char *bytes, size_t len, struct err *err)
{
    char from[PATH_MAX], to[PATH_MAX];
    int fd, rc = 0;

    path_of(cache, ARTIFACT_CACHE_PUT "XXXXXX", from);
    path_of(cache, hash, to);
    fd = mkostemp(from, O_CLOEXEC);
    if (fd < 0)
        return refuse(from, err);
    if (!write_all(fd, bytes, len) || rename(from, to) < 0) {
        rc = refuse(to, err);
        unlink(from);
    }
    close(fd);
    if (rc < 0)
        return rc;
    cache->bytes += (int64_t)len;
    evict(cache);
    return 0;
}

/* Returns how many bytes came. */
static size_t read_all(int fd, char *bytes, size_t len)
{
    size_t at = 0;

    while (at < len) {
        ssize_t n = read(fd, bytes + at, len - at);

        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        at += n > 0 ? (size_t)n : 0;
    }
    return at;
}

/* NULL if it is not as it was put. */
static char *read_checked(int fd, const char *hash, size_t *len)
{
    char found[HASH_HEX];
    struct stat stat;
    char *bytes;

    if (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode) || stat.st_size < 1 ||
        stat.st_size > ARTIFACT_CACHE_FILE_MAX)
        return NULL;
    *len = (size_t)stat.st_size;
    bytes = mem_new(1, *len);
    if (read_all(fd, bytes, *len) == *len) {
        hash_of(bytes, *len, found);
        if (strcmp(found, hash) == 0)
            return bytes;
    }
    free(bytes);
    return NULL;
}

char *artifact_cache_get(struct artifact_cache *cache, const char *hash,
                         size_t *len)
{
    char path[PATH_MAX], *bytes;
    int fd;

    if (!cache || !hash_is_hex(hash))
        return NULL;
    path_of(cache, hash, path);
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    bytes = read_checked(fd, hash, len);
    close(fd);
    if (bytes)
        (void)utimensat(AT_FDCWD, path, NULL, 0); /* its age is a hint */
    else
        (void)unlink(path); /* it is put again, or not */
    return bytes;
}
