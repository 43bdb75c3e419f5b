#include "worker/store/bundles.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/sources.h"
#include "worker/store/cache.h"

#define FOLDER "bundles"
#define FILE_MAX MSG_BYTES_MAX

static bool path_of(const struct cache *cache, const char *hash,
                    char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/" FOLDER "/%s", cache_home(cache),
                    hash) < PATH_MAX;
}

struct bundle_file {
    char hash[HASH_HEX];
    struct timespec used;
};

static int by_age(const void *a, const void *b)
{
    const struct bundle_file *x = a, *y = b;

    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) -
           (x->used.tv_nsec < y->used.tv_nsec);
}

static void evict(const char *folder)
{
    struct bundle_file *all = NULL;
    DIR *dir = opendir(folder);
    struct dirent *entry;
    struct stat stat;
    size_t n = 0;

    while (dir && (entry = readdir(dir))) {
        if (!hash_is_hex(entry->d_name) ||
            fstatat(dirfd(dir), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        all = mem_grow(all, n + 1, sizeof(*all));
        memcpy(all[n].hash, entry->d_name, HASH_HEX);
        all[n++].used = stat.st_mtim;
    }
    if (n > BUNDLES_MAX)
        qsort(all, n, sizeof(*all), by_age);
    for (size_t i = 0; i + BUNDLES_MAX < n; i++)
        unlinkat(dirfd(dir), all[i].hash, 0);
    if (dir)
        closedir(dir);
    free(all);
}

static bool write_all(int fd, const char *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = write(fd, bytes + at, len - at);

        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

/* No fsync: what a power loss damages is noticed by its hash. */
static bool put(const struct cache *cache, const char *hash,
                const struct buf *bytes)
{
    char folder[PATH_MAX], path[PATH_MAX], from[PATH_MAX];
    bool done;
    int fd;

    if (!path_of(cache, "", folder) || !path_of(cache, hash, path) ||
        snprintf(from, sizeof(from), "%s/tmp/put-XXXXXX", cache_dir(cache)) >=
            PATH_MAX)
        return false;
    (void)mkdir(folder, 0700); /* or mkostemp() and rename() say why not */
    fd = mkostemp(from, O_CLOEXEC);
    if (fd < 0)
        return false;
    done = write_all(fd, bytes->bytes, bytes->len);
    done = close(fd) == 0 && done && rename(from, path) == 0;
    if (!done)
        unlink(from);
    evict(folder);
    return done;
}

bool bundles_keep(const struct cache *cache, const struct msg *bundle)
{
    struct buf bytes;
    struct err err;
    bool done;

    buf_init(&bytes, FILE_MAX);
    done = msg_encode(bundle, &bytes, &err) == 0 && !bytes.truncated &&
           put(cache, bundle->bundle.hash, &bytes);
    buf_fini(&bytes);
    return done;
}

static bool read_file(const char *path, struct buf *out)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char chunk[16384];
    ssize_t n = -1;

    if (fd < 0)
        return false;
    while ((n = read(fd, chunk, sizeof(chunk))) > 0)
        buf_add(out, chunk, (size_t)n);
    close(fd);
    return n == 0;
}

static bool is_whole(const struct msg *msg, const char *hash)
{
    char found[HASH_HEX];

    if (msg->type != MSG_BUNDLE ||
        msg->bundle.names.n != msg->bundle.contents.n ||
        strcmp(msg->bundle.hash, hash) != 0)
        return false;
    sources_hash(&msg->bundle.names, &msg->bundle.contents, found);
    return strcmp(found, hash) == 0;
}

bool bundles_load(const struct cache *cache, const char *hash, struct msg *out)
{
    char path[PATH_MAX];
    struct buf bytes;
    struct err err;
    bool is_here;

    if (!hash_is_hex(hash) || !path_of(cache, hash, path) ||
        utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    buf_init(&bytes, FILE_MAX);
    *out = (struct msg){ .epoch = 0 };
    is_here = read_file(path, &bytes) && !bytes.truncated &&
              msg_decode(bytes.bytes, bytes.len, out, &err) == 0;
    if (is_here && !is_whole(out, hash)) {
        msg_fini(out);
        is_here = false;
    }
    if (!is_here)
        unlink(path);
    buf_fini(&bytes);
    return is_here;
}
