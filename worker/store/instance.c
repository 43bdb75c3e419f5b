#include "worker/store/instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/hash.h"
#include "worker/store/refusal.h"

#define START "gpus-"
#define LOCK ".lock"
/* The longest that leaves the socket's path as short as others of the folder
 * (WORKDIR_BYTES). */
#define NAME_BYTES_MAX 8

static void name_it(struct instance *instance)
{
    char hash[HASH_HEX];

    if (strcmp(instance->gpus, INSTANCE_ALL) == 0 ||
        strcmp(instance->gpus, "none") == 0)
        return;
    hash_of(instance->gpus, strlen(instance->gpus), hash);
    snprintf(instance->name, sizeof(instance->name), "%.*s", NAME_BYTES_MAX,
             strlen(instance->gpus) > NAME_BYTES_MAX ? hash : instance->gpus);
}

/* 'name' "": that of "all". */
static void find_paths(struct instance *instance)
{
    const char *home = instance->home, *name = instance->name;

    if (!name[0]) {
        snprintf(instance->dir, sizeof(instance->dir), "%s", home);
        snprintf(instance->socket, sizeof(instance->socket), "%s/control.sock",
                 home);
        return;
    }
    snprintf(instance->dir, sizeof(instance->dir), "%s/" START "%s", home,
             name);
    snprintf(instance->socket, sizeof(instance->socket), "%s/" START "%s.sock",
             home, name);
}

int instance_open(const char *home, const char *gpus, struct instance *out,
                  struct err *err)
{
    *out = (struct instance){ 0 };
    snprintf(out->home, sizeof(out->home), "%s", home);
    snprintf(out->gpus, sizeof(out->gpus), "%s", gpus);
    name_it(out);
    find_paths(out);
    if (mkdir(out->dir, 0700) < 0 && errno != EEXIST)
        return refusal_of(out->dir, err);
    return 0;
}

static void lock_path(const struct instance *instance, char path[PATH_MAX])
{
    if (instance->name[0])
        snprintf(path, PATH_MAX, "%s/" START "%s" LOCK, instance->home,
                 instance->name);
    else
        snprintf(path, PATH_MAX, "%s/all" LOCK, instance->home);
}

int instance_lock(const struct instance *instance, struct instance_lock *out,
                  struct err *err)
{
    char path[PATH_MAX];

    out->own = -1;
    snprintf(path, sizeof(path), "%s/lock", instance->home);
    out->shared = workdir_lock(path, LOCK_SH, err);
    if (out->shared == ERR_DEVICE)
        return INSTANCE_ALONE;
    if (out->shared < 0)
        return out->shared;
    lock_path(instance, path);
    out->own = workdir_lock(path, LOCK_EX, err);
    if (out->own < 0) {
        int rc = out->own;

        instance_unlock(out);
        return rc;
    }
    return 0;
}

void instance_unlock(struct instance_lock *lock)
{
    if (lock->own >= 0)
        close(lock->own);
    if (lock->shared >= 0)
        close(lock->shared);
    lock->own = lock->shared = -1;
}

/* Not when it cannot be looked at for another reason: that may pass. */
bool instance_is_gone(const struct instance *instance,
                      const struct instance_lock *lock)
{
    struct stat stat;

    if (lock->own >= 0 && fstat(lock->own, &stat) == 0 && stat.st_nlink == 0)
        return true;
    return lstat(instance->dir, &stat) < 0 &&
           (errno == ENOENT || errno == ENOTDIR);
}

/* The NAME in "gpus-NAME.lock". */
static bool read_name(const char *entry, char out[NAME_BYTES_MAX + 1])
{
    size_t start = strlen(START), end = strlen(LOCK), len = strlen(entry);

    if (len <= start + end || len - start - end > NAME_BYTES_MAX ||
        strncmp(entry, START, start) != 0 ||
        strcmp(entry + len - end, LOCK) != 0)
        return false;
    memcpy(out, entry + start, len - start - end);
    out[len - start - end] = '\0';
    return true;
}

static void see(const char *home, const char *name, instance_seen *seen,
                void *data)
{
    struct instance instance = { 0 };

    snprintf(instance.home, sizeof(instance.home), "%s", home);
    snprintf(instance.name, sizeof(instance.name), "%s", name);
    find_paths(&instance);
    seen(data, &instance);
}

void instance_each(const char *home, instance_seen *seen, void *data)
{
    DIR *dir = opendir(home);
    char name[NAME_BYTES_MAX + 1];
    struct dirent *entry;

    see(home, "", seen, data);
    while (dir && (entry = readdir(dir)))
        if (read_name(entry->d_name, name))
            see(home, name, seen, data);
    if (dir)
        closedir(dir);
}

/* A look that meets one that is just starting is harmless: it tries again. */
static void count_one(void *data, const struct instance *instance)
{
    size_t *n = data;
    char path[PATH_MAX];
    int fd;

    lock_path(instance, path);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    *n += flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(fd);
}

size_t instance_count(const char *home)
{
    size_t n = 0;

    instance_each(home, count_one, &n);
    return n;
}
