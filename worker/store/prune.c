#include "worker/store/prune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/mem.h"
#include "worker/store/build_dir.h"
#include "worker/store/instance.h"
#include "worker/store/journal_record.h"
#include "worker/store/workdir.h"

#define PROGRAM "fa-worker-"
#define JOURNAL_BYTES                                      \
    (INT64_C(256) << 20) /* more than a worker ever writes \
                          */
#define BUILD_BYTES 4096 /* the first lines of a build */
#define UNSENT "it has results that no coordinator has fetched yet"

struct pruning {
    const char *home;
    const struct prune_ask *ask;
    prune_seen *seen;
    void *data;
};

/* A file or folder of the work folder. */
struct found {
    char name[PATH_MAX]; /* below it */
    char path[PATH_MAX];
    struct stat stat;
};

/* 'folder' is below the work folder, "" for itself.  False if the entry is not
 * there, or does not fit. */
static bool find(const struct pruning *p, const char *folder, const char *entry,
                 struct found *out)
{
    int n = snprintf(out->name, sizeof(out->name), "%s%s%s", folder,
                     *folder ? "/" : "", entry),
        whole = snprintf(out->path, sizeof(out->path), "%s/%s%s%s", p->home,
                         folder, *folder ? "/" : "", entry);

    return n < (int)sizeof(out->name) && whole < (int)sizeof(out->path) &&
           lstat(out->path, &out->stat) == 0 && out->stat.st_uid == geteuid() &&
           (S_ISREG(out->stat.st_mode) || S_ISDIR(out->stat.st_mode));
}

static int64_t age_of(const struct pruning *p, const struct stat *stat)
{
    return p->ask->now_s - stat->st_mtim.tv_sec;
}

static bool is_old(const struct pruning *p, const struct found *found)
{
    return age_of(p, &found->stat) >= p->ask->older_s;
}

/* Bytes of the files in a folder, at any depth; links count nothing. */
static int64_t bytes_below(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    struct stat stat;
    int64_t sum = 0;

    if (!dir && fd >= 0)
        close(fd);
    while (dir && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (fstatat(dirfd(dir), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        sum += S_ISREG(stat.st_mode) ? stat.st_size : 0;
        if (S_ISDIR(stat.st_mode))
            sum += bytes_below(dirfd(dir), entry->d_name);
    }
    if (dir)
        closedir(dir);
    return sum;
}

static bool remove_it(const struct found *found)
{
    return S_ISDIR(found->stat.st_mode) ? build_dir_remove_tree(found->path)
                                        : unlink(found->path) == 0;
}

/* 'why' NULL: it goes. */
static void take(struct pruning *p, const char *kind, const struct found *found,
                 const char *why)
{
    struct prune_item item = {
        .kind = kind,
        .path = found->name,
        .bytes = S_ISDIR(found->stat.st_mode)
                     ? bytes_below(AT_FDCWD, found->path)
                     : found->stat.st_size,
        .age_s = age_of(p, &found->stat),
        .kept = why,
    };

    if (!why && !p->ask->dry_run && !remove_it(found))
        item.kept = strerror(errno);
    p->seen(p->data, &item);
}

/* Call 'each' for the entries of a folder. */
static void walk(struct pruning *p, const char *folder,
                 void (*each)(struct pruning *p, const struct found *found,
                              const char *entry))
{
    char path[PATH_MAX];
    struct dirent *entry;
    struct found found;
    DIR *dir;

    if (snprintf(path, sizeof(path), "%s/%s", p->home, folder) >=
        (int)sizeof(path))
        return;
    dir = opendir(path);
    while (dir && (entry = readdir(dir)))
        if (find(p, folder, entry->d_name, &found))
            each(p, &found, entry->d_name);
    if (dir)
        closedir(dir);
}

/* ---- what is recognised */

static bool is_file(const struct found *found)
{
    return S_ISREG(found->stat.st_mode);
}

static void take_artifact(struct pruning *p, const struct found *found,
                          const char *entry)
{
    if (hash_is_hex(entry) && is_file(found) && is_old(p, found))
        take(p, "artifact", found, NULL);
}

static void take_bundle(struct pruning *p, const struct found *found,
                        const char *entry)
{
    if (hash_is_hex(entry) && is_file(found) && is_old(p, found))
        take(p, "bundle", found, NULL);
}

static void take_asked(struct pruning *p, const struct found *found,
                       const char *entry)
{
    if (hash_is_hex(entry) && is_file(found) && is_old(p, found))
        take(p, "temporary", found, NULL);
}

/* A build is as old as its artifact, whose time is that of its last use. */
static void take_build(struct pruning *p, const struct found *found,
                       const char *entry)
{
    char text[BUILD_BYTES], hash[HASH_HEX];
    const char *line;
    struct found artifact;
    ssize_t n = -1;
    int fd;

    if (!hash_is_hex(entry) || !is_file(found) || !is_old(p, found))
        return;
    fd = open(found->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    line = strstr(text, "\nartifact ");
    if (!line || sscanf(line, "\nartifact %32[0-9a-f]", hash) != 1)
        return;
    if (!find(p, "artifacts", hash, &artifact) || is_old(p, &artifact))
        take(p, "build", found, NULL);
}

/* The names that the files of the store have there. */
static void take_temporary(struct pruning *p, const struct found *found,
                           const char *entry)
{
    static const char *const starts[] = { "build-", "runner-", "part-",
                                          "put-" };

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (strncmp(entry, starts[i], strlen(starts[i])) == 0 &&
            is_old(p, found))
            take(p, "temporary", found, NULL);
}

/* A login reads the program to see whether it is whole, which may say when it
 * was used last. */
static void take_program(struct pruning *p, const struct found *found,
                         const char *entry)
{
    struct found used = *found;

    if (strncmp(entry, PROGRAM, strlen(PROGRAM)) != 0 ||
        !hash_is_hex(entry + strlen(PROGRAM)) || !is_file(found) ||
        (p->ask->program && strcmp(entry, p->ask->program) == 0))
        return;
    if (used.stat.st_atim.tv_sec > used.stat.st_mtim.tv_sec)
        used.stat.st_mtim = used.stat.st_atim;
    if (is_old(p, &used))
        take(p, "program", &used, NULL);
}

/* Has the file a whole record?  An unreadable one counts as one that has. */
static bool has_results(const struct found *found)
{
    struct journal_damage damage = { 0 };
    int64_t size = found->stat.st_size;
    bool has = true;
    char *bytes;
    FILE *file;

    if (size == 0)
        return false;
    file = size <= JOURNAL_BYTES ? fopen(found->path, "rbe") : NULL;
    if (!file)
        return true;
    bytes = mem_new((size_t)size, 1);
    if (fread(bytes, 1, (size_t)size, file) == (size_t)size)
        has =
            journal_record_find(bytes, (size_t)size, 0, &damage) < (size_t)size;
    free(bytes);
    fclose(file);
    return has;
}

/* ---- a worker's own folder */

/* Below the work folder: "" or "gpus-NAME". */
static const char *folder_of(const struct instance *instance)
{
    return instance->name[0] ? instance->dir + strlen(instance->home) + 1 : "";
}

/* Of a worker of which nothing is left, the lock goes, too.  No other process
 * waits for it, because HOME/lock comes first. */
static void take_lock(struct pruning *p, const struct instance *instance)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof(path), "%s.lock", instance->dir);
    if (!p->ask->dry_run && instance->name[0] && rmdir(instance->dir) == 0) {
        (void)unlink(instance->socket);
        (void)unlink(path);
    }
}

static void take_worker(void *data, const struct instance *instance)
{
    static const char *const logs[] = { "worker.log", "worker.log.old" };
    struct pruning *p = data;
    const char *folder = folder_of(instance);
    char tmp[PATH_MAX];
    struct found found;

    if (find(p, folder, "journal", &found) && is_file(&found) &&
        is_old(p, &found))
        take(p, "journal", &found, has_results(&found) ? UNSENT : NULL);
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++)
        if (find(p, folder, logs[i], &found) && is_file(&found) &&
            is_old(p, &found))
            take(p, "log", &found, NULL);
    snprintf(tmp, sizeof(tmp), "%s%stmp", folder, *folder ? "/" : "");
    walk(p, tmp, take_temporary);
    if (!p->ask->dry_run && *folder && find(p, folder, "tmp", &found))
        (void)rmdir(found.path); /* unless something is in it */
    take_lock(p, instance);
}

int prune_run(const char *home, const struct prune_ask *ask, prune_seen *seen,
              void *data, struct err *err)
{
    struct pruning p = { home, ask, seen, data };
    char path[PATH_MAX];
    int lock;

    snprintf(path, sizeof(path), "%s/lock", home);
    lock = workdir_lock(path, LOCK_EX, err);
    if (lock < 0)
        return lock;
    walk(&p, "builds", take_build); /* first: they ask for the artifacts */
    walk(&p, "artifacts", take_artifact);
    walk(&p, "bundles", take_bundle);
    walk(&p, "asked", take_asked);
    instance_each(home, take_worker, &p);
    walk(&p, "", take_program);
    close(lock);
    return 0;
}
