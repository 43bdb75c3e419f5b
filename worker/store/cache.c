#include "worker/store/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/mem.h"
#include "worker/store/build_dir.h"
#include "worker/store/refusal.h"

#define TMP "tmp"

enum {
    BUILD_LINES_MAX = 1024 /* bytes, of a remembered build's own lines */
};

/* Up to this size a file is hashed at each use, which takes some 30 ms at most.
 * Larger ones are files of arguments, and are hashed at their first use. */
#define HASHED_BYTES_MAX (INT64_C(32) << 20)

struct cache {
    char home[PATH_MAX], dir[PATH_MAX];
    int64_t bytes, ceiling;  /* of the artifacts */
    char (*whole)[HASH_HEX]; /* large ones, hashed before */
    size_t n_whole;
};

static int path_of(const struct cache *cache, const char *folder,
                   const char *name, char path[PATH_MAX], struct err *err)
{
    const char *top = strcmp(folder, TMP) == 0 ? cache->dir : cache->home;

    if (snprintf(path, PATH_MAX, "%s/%s/%s", top, folder, name) >= PATH_MAX)
        return err_set(err, ERR_SYSTEM, "the path '%s/%s/%s' is too long", top,
                       folder, name);
    return 0;
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

/* All artifacts, least recently used first. */
static struct held *list(const struct cache *cache, size_t *n)
{
    struct held *all = NULL;
    char path[PATH_MAX];
    DIR *dir;

    *n = 0;
    if (path_of(cache, "artifacts", "", path, NULL) < 0 ||
        !(dir = opendir(path)))
        return NULL;
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct stat stat;

        if (!hash_is_hex(entry->d_name) ||
            fstatat(dirfd(dir), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        all = mem_grow(all, *n + 1, sizeof(*all));
        memcpy(all[*n].hash, entry->d_name, HASH_HEX);
        all[*n].bytes = stat.st_size;
        all[*n].used = stat.st_mtim;
        ++*n;
    }
    closedir(dir);
    if (*n > 0)
        qsort(all, *n, sizeof(*all), by_age);
    return all;
}

/* Evict down to nine tenths of the ceiling, so that this is not needed for
 * every file.  'keep' stays. */
static void evict(struct cache *cache, const char *keep)
{
    struct held *all;
    char path[PATH_MAX];
    size_t n;

    if (cache->bytes <= cache->ceiling)
        return;
    all = list(cache, &n);
    cache->bytes = 0;
    for (size_t i = 0; i < n; i++)
        cache->bytes += all[i].bytes;
    for (size_t i = 0; i < n && cache->bytes > cache->ceiling / 10 * 9; i++)
        if (strcmp(all[i].hash, keep) != 0 &&
            path_of(cache, "artifacts", all[i].hash, path, NULL) == 0 &&
            unlink(path) == 0)
            cache->bytes -= all[i].bytes;
    free(all);
}

static int make_folder(const struct cache *cache, const char *name,
                       struct err *err)
{
    char path[PATH_MAX];
    int rc = path_of(cache, name, "", path, err);

    if (rc == 0 && mkdir(path, 0700) < 0 && errno != EEXIST)
        rc = refusal_of(path, err);
    return rc;
}

static int make_folders(const struct cache *cache, struct err *err)
{
    char path[PATH_MAX];
    int rc = path_of(cache, TMP, "", path, err);

    if (rc < 0)
        return rc;
    path[strlen(path) - 1] = '\0';
    if (!build_dir_remove_tree(path))
        return err_set(err, ERR_SYSTEM, "'%s' cannot be emptied: %s", path,
                       strerror(errno));
    rc = make_folder(cache, TMP, err);
    if (rc == 0)
        rc = make_folder(cache, "artifacts", err);
    return rc < 0 ? rc : make_folder(cache, "builds", err);
}

int cache_open(const char *home, const char *dir, int64_t ceiling_bytes,
               struct cache **out, struct err *err)
{
    struct cache *cache;
    struct held *all;
    size_t n;
    int rc;

    if (strlen(home) >= PATH_MAX || strlen(dir) >= PATH_MAX)
        return err_set(err, ERR_INPUT, "the work folder's path is too long");
    cache = mem_new(1, sizeof(*cache));
    memcpy(cache->home, home, strlen(home) + 1);
    memcpy(cache->dir, dir, strlen(dir) + 1);
    cache->ceiling = ceiling_bytes;
    rc = make_folders(cache, err);
    if (rc < 0) {
        free(cache);
        return rc;
    }
    all = list(cache, &n);
    for (size_t i = 0; i < n; i++)
        cache->bytes += all[i].bytes;
    free(all);
    evict(cache, "");
    *out = cache;
    return 0;
}

void cache_close(struct cache *cache)
{
    if (cache)
        free(cache->whole);
    free(cache);
}

const char *cache_home(const struct cache *cache)
{
    return cache->home;
}

const char *cache_dir(const struct cache *cache)
{
    return cache->dir;
}

bool cache_has(const struct cache *cache, const char *hash)
{
    char path[PATH_MAX];

    return hash_is_hex(hash) &&
           path_of(cache, "artifacts", hash, path, NULL) == 0 &&
           access(path, R_OK) == 0;
}

/* It is here, and now counts as used. */
static bool touch(const struct cache *cache, const char *hash,
                  char path[PATH_MAX])
{
    return hash_is_hex(hash) &&
           path_of(cache, "artifacts", hash, path, NULL) == 0 &&
           utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Was it hashed before?  Otherwise note that it is now. */
static bool was_whole(struct cache *cache, const char *hash)
{
    for (size_t i = 0; i < cache->n_whole; i++)
        if (strcmp(cache->whole[i], hash) == 0)
            return true;
    cache->whole =
        mem_grow(cache->whole, cache->n_whole + 1, sizeof(*cache->whole));
    memcpy(cache->whole[cache->n_whole++], hash, HASH_HEX);
    return false;
}

bool cache_path(struct cache *cache, const char *hash, char path[PATH_MAX])
{
    char found[HASH_HEX];
    struct stat stat;
    struct err err;

    if (!touch(cache, hash, path) || lstat(path, &stat) < 0)
        return false;
    if (stat.st_size > HASHED_BYTES_MAX && was_whole(cache, hash))
        return true;
    if (hash_file(path, found, &err) == 0) {
        if (strcmp(found, hash) == 0)
            return true;
        err_set(&err, 0, "its contents have the hash '%s'", found);
    }
    log_line(LOG_E, "ARTIFACT-DAMAGED", "file=%s %s", path, err.text);
    if (unlink(path) == 0)
        cache->bytes -= stat.st_size;
    return false;
}

void cache_artifacts(const struct cache *cache, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/artifacts", cache->home);
}

int64_t cache_read(struct cache *cache, const char *hash, int64_t offset,
                   void *bytes, size_t max, int64_t *total, struct err *err)
{
    char path[PATH_MAX];
    struct stat stat;
    ssize_t n = -1;
    int fd;

    if (!touch(cache, hash, path))
        return err_set(err, ERR_INPUT,
                       "artifact '%s' is not in the worker's cache", hash);
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &stat) == 0)
        n = pread(fd, bytes, max, offset);
    if (n < 0)
        refusal_of(path, err);
    else
        *total = stat.st_size;
    if (fd >= 0)
        close(fd);
    return n < 0 ? ERR_SYSTEM : n;
}

static int sync_path(const char *path, int flags, struct err *err)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags);
    bool failed = fd < 0 || fsync(fd) < 0;

    if (failed)
        refusal_of(path, err);
    if (fd >= 0)
        close(fd);
    return failed ? ERR_SYSTEM : 0;
}

/* Rename a finished file to its final name. */
static int publish(const struct cache *cache, const char *from,
                   const char *folder, const char *name, struct err *err)
{
    char path[PATH_MAX];
    int rc = sync_path(from, 0, err);

    if (rc == 0)
        rc = path_of(cache, folder, name, path, err);
    if (rc == 0 && rename(from, path) < 0)
        rc = refusal_of(path, err);
    if (rc == 0)
        rc = path_of(cache, folder, "", path, err);
    return rc < 0 ? rc : sync_path(path, O_DIRECTORY, err);
}

/* Make a finished file ready to be moved in. */
static int prepare(const char *from, bool executable, char hash[HASH_HEX],
                   int64_t *bytes, struct err *err)
{
    struct stat stat;

    if (lstat(from, &stat) < 0 || !S_ISREG(stat.st_mode) || stat.st_size == 0)
        return err_set(err, ERR_SYSTEM, "'%s' is not a file, or it is empty",
                       from);
    if (chmod(from, executable ? 0700 : 0600) < 0)
        return refusal_of(from, err);
    *bytes = stat.st_size;
    return hash_file(from, hash, err);
}

static int move_in(struct cache *cache, const char *from, const char *hash,
                   int64_t bytes, struct err *err)
{
    char path[PATH_MAX];
    int rc;

    if (cache_path(cache, hash, path))
        return 0;
    rc = publish(cache, from, "artifacts", hash, err);
    if (rc < 0)
        return rc;
    cache->bytes += bytes;
    evict(cache, hash);
    return 0;
}

int cache_take(struct cache *cache, const char *from, bool executable,
               char hash[HASH_HEX], int64_t *bytes, struct err *err)
{
    int rc = prepare(from, executable, hash, bytes, err);

    if (rc == 0)
        rc = move_in(cache, from, hash, *bytes, err);
    unlink(from);
    return rc;
}

int cache_put(struct cache *cache, const char *hash, const char *from,
              struct err *err)
{
    char found[HASH_HEX];
    int64_t bytes = 0;
    int rc = prepare(from, false, found, &bytes, err);

    if (rc == 0 && strcmp(found, hash) != 0)
        rc = err_set(
            err, ERR_PROTO,
            "artifact '%s' arrived damaged: its contents have the hash '%s'",
            hash, found);
    if (rc == 0)
        rc = move_in(cache, from, hash, bytes, err);
    unlink(from);
    return rc;
}

/* Make a new file DIR/tmp/put-XXXXXX with these bytes. */
static int write_temporary(const struct cache *cache, const void *bytes,
                           size_t len, char path[PATH_MAX], struct err *err)
{
    int rc = path_of(cache, TMP, "put-XXXXXX", path, err);
    bool failed;
    int fd;

    if (rc < 0)
        return rc;
    fd = mkostemp(path, O_CLOEXEC);
    failed = fd < 0;
    for (size_t at = 0; !failed && at < len;) {
        ssize_t n = write(fd, (const char *)bytes + at, len - at);

        failed = n < 0 && errno != EINTR;
        at += n > 0 ? (size_t)n : 0;
    }
    if (failed)
        refusal_of(path, err);
    if (failed && fd >= 0)
        unlink(path);
    if (fd >= 0)
        close(fd);
    return failed ? ERR_SYSTEM : 0;
}

/* Parse a file of 'builds': lines about the artifact, an empty line, and the
 * compiler's output.  False if it is malformed, or from another compiler. */
static bool read_build(const char *text, const char *toolkit,
                       struct cache_build *out, struct buf *log)
{
    const char *end = strstr(text, "\n\n");
    char by[64];

    if (!end ||
        sscanf(text,
               "fa-build 2\ntoolkit %63[^\n]\nartifact %32[0-9a-f]\nbytes "
               "%" SCNd64 "\nregisters %" SCNd64 "\nspill_bytes %" SCNd64
               "\nstatic_smem %" SCNd64,
               by, out->artifact, &out->bytes, &out->registers,
               &out->spill_bytes, &out->static_smem) != 6 ||
        strcmp(by, toolkit) != 0)
        return false;
    buf_add(log, end + 2, strlen(end + 2));
    return true;
}

/* False if it does not exist, or is too long for a file of the cache. */
static bool read_all(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "re");
    char chunk[4096];
    size_t n;

    if (!f)
        return false;
    while (!out->truncated && (n = fread(chunk, 1, sizeof(chunk), f)) > 0)
        buf_add(out, chunk, n);
    fclose(f);
    return !out->truncated;
}

bool cache_lookup(struct cache *cache, const char *key, const char *toolkit,
                  struct cache_build *out, struct buf *log)
{
    char path[PATH_MAX];
    struct buf text;
    bool found;

    if (!hash_is_hex(key) || path_of(cache, "builds", key, path, NULL) < 0)
        return false;
    buf_init(&text, BUILD_LINES_MAX + log->max);
    found = read_all(path, &text) &&
            read_build(buf_text(&text), toolkit, out, log) &&
            cache_path(cache, out->artifact, path);
    buf_fini(&text);
    return found;
}

int cache_remember(struct cache *cache, const char *key, const char *toolkit,
                   const struct cache_build *build, const char *log,
                   struct err *err)
{
    char path[PATH_MAX], *text;
    int rc;

    if (!hash_is_hex(key))
        return err_set(err, ERR_INPUT, "the build key '%s' is not a hash", key);
    text = mem_printf("fa-build 2\ntoolkit %s\nartifact %s\nbytes %" PRId64
                      "\nregisters %" PRId64 "\nspill_bytes %" PRId64
                      "\nstatic_smem %" PRId64 "\n\n%s",
                      toolkit, build->artifact, build->bytes, build->registers,
                      build->spill_bytes, build->static_smem, log);
    rc = write_temporary(cache, text, strlen(text), path, err);
    free(text);
    if (rc < 0)
        return rc;
    rc = publish(cache, path, "builds", key, err);
    if (rc < 0)
        unlink(path);
    return rc;
}
