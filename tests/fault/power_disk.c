#include "tests/fault/power_disk.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/mem.h"

#define FILES_MAX 64
#define NAME_BYTES 64
#define SECTOR 512
#define IMAGES_MAX 4096

/* A write, or with 'bytes' NULL a truncation to 'at'. */
struct op {
    unsigned char *bytes;
    size_t len;
    off_t at;
};

struct file {
    unsigned char *synced;
    size_t len;
    struct op *later;
    size_t n_later;
};

/* A file got this name; with 'file' NULL the name was removed. */
struct naming {
    char name[NAME_BYTES];
    struct file *file;
};

struct names {
    struct naming list[FILES_MAX];
    size_t n;
};

static struct {
    bool on;
    char folder[POWER_DISK_PATH], images[POWER_DISK_PATH];
    uint64_t random;
    unsigned every;
    const int *mark;
    struct names now, synced; /* the names, and those on the disk */
    struct naming *later;     /* changes that are not synced, in order */
    size_t n_later;
    struct file **files; /* all, also those without a name */
    size_t n_files;
    int marks[IMAGES_MAX];
    size_t n_images;
} disk;

/* SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t draw(uint64_t below)
{
    uint64_t z = disk.random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % below;
}

/* ---- names ---- */

static struct naming *find(struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->list[i].name, name) == 0)
            return &names->list[i];
    return NULL;
}

static void apply_naming(struct names *names, const struct naming *naming)
{
    struct naming *old = find(names, naming->name);

    if (naming->file && !old) {
        assert(names->n < FILES_MAX);
        old = &names->list[names->n++];
    }
    if (naming->file)
        *old = *naming;
    else if (old)
        *old = names->list[--names->n];
}

static void change_name(const char *name, struct file *file)
{
    struct naming naming = { .file = file };

    snprintf(naming.name, sizeof(naming.name), "%s", name);
    apply_naming(&disk.now, &naming);
    disk.later = mem_grow(disk.later, disk.n_later + 1, sizeof(disk.later[0]));
    disk.later[disk.n_later++] = naming;
}

/* The name of a path in the watched folder, or NULL; the folder is "". */
static const char *name_in_folder(const char *path)
{
    size_t n = strlen(disk.folder);

    if (!disk.on || strncmp(path, disk.folder, n) != 0)
        return NULL;
    if (!path[n])
        return path + n;
    return path[n] == '/' && !strchr(path + n + 1, '/') ? path + n + 1 : NULL;
}

/* Likewise of a descriptor.  The shared index of SQLite is no part of an
 * image: it is in memory. */
static const char *name_of(int fd, char path[PATH_MAX])
{
    char link[32];
    const char *name;
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = disk.on ? readlink(link, path, PATH_MAX - 1) : -1;
    if (n < 0)
        return NULL;
    path[n] = '\0';
    name = name_in_folder(path);
    return name && !strstr(name, "-shm") && !strstr(name, " (deleted)") ? name
                                                                        : NULL;
}

/* ---- images ---- */

static void apply(unsigned char **bytes, size_t *len, const struct op *op,
                  bool torn)
{
    size_t end = (size_t)op->at + op->len;

    if (!op->bytes) {
        if ((size_t)op->at > *len) {
            *bytes = mem_grow(*bytes, (size_t)op->at, 1);
            memset(*bytes + *len, 0, (size_t)op->at - *len);
        }
        *len = (size_t)op->at;
        return;
    }
    if (end > *len) {
        *bytes = mem_grow(*bytes, end, 1);
        memset(*bytes + *len, 0, end - *len);
        *len = end;
    }
    for (size_t at = 0; at < op->len;) {
        size_t part = SECTOR - ((size_t)op->at + at) % SECTOR;

        if (part > op->len - at)
            part = op->len - at;
        if (!torn || draw(2))
            memcpy(*bytes + op->at + at, op->bytes + at, part);
        at += part;
    }
}

static void write_file(const char *path, const unsigned char *bytes, size_t len)
{
    FILE *out = fopen(path, "wb");

    assert(out);
    if (fwrite(bytes, 1, len, out) != len || fclose(out) != 0)
        abort();
}

/* Of what was not synced nothing, everything, the first part, or any part. */
static void draw_file(const struct file *file, const char *path)
{
    enum {
        NOTHING,
        EVERYTHING,
        FIRST,
        ANY,
        WAYS
    };
    const uint64_t way = draw(WAYS);
    size_t n = way == NOTHING ? 0
               : way == FIRST ? draw(file->n_later + 1)
                              : file->n_later;
    size_t len = file->len;
    unsigned char *bytes = mem_new(len + 1, 1);

    if (len > 0)
        memcpy(bytes, file->synced, len);
    for (size_t i = 0; i < n; i++)
        if (way != ANY || draw(2))
            apply(&bytes, &len, &file->later[i],
                  way != EVERYTHING && draw(4) == 0);
    write_file(path, bytes, len);
    free(bytes);
}

static void image(void)
{
    struct names names = disk.synced;
    size_t n_names = draw(disk.n_later + 1);
    char path[POWER_DISK_PATH + NAME_BYTES + 1], folder[POWER_DISK_PATH];

    if (*disk.mark == 0 || draw(disk.every) || disk.n_images == IMAGES_MAX)
        return;
    for (size_t i = 0; i < n_names; i++)
        apply_naming(&names, &disk.later[i]);
    disk.marks[disk.n_images] = *disk.mark;
    power_disk_image(disk.n_images++, folder);
    if (mkdir(folder, 0700) < 0)
        abort();
    for (size_t i = 0; i < names.n; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names.list[i].name);
        draw_file(names.list[i].file, path);
    }
}

/* ---- what happens ---- */

static struct file *file_named(const char *name)
{
    struct naming *naming = find(&disk.now, name);

    if (naming)
        return naming->file;
    disk.files = mem_grow(disk.files, disk.n_files + 1, sizeof(disk.files[0]));
    disk.files[disk.n_files] = mem_new(1, sizeof(struct file));
    change_name(name, disk.files[disk.n_files]);
    return disk.files[disk.n_files++];
}

static void note(int fd, const void *bytes, size_t len, off_t at)
{
    char path[PATH_MAX];
    const char *name = name_of(fd, path);
    struct op op = { .len = len, .at = at };
    struct file *file;

    if (!name)
        return;
    image();
    file = file_named(name);
    if (bytes)
        op.bytes = mem_dup(bytes, len);
    file->later =
        mem_grow(file->later, file->n_later + 1, sizeof(file->later[0]));
    file->later[file->n_later++] = op;
}

static void forget_later(struct file *file)
{
    for (size_t i = 0; i < file->n_later; i++)
        free(file->later[i].bytes);
    file->n_later = 0;
}

static void sync_file(struct file *file)
{
    for (size_t i = 0; i < file->n_later; i++)
        apply(&file->synced, &file->len, &file->later[i], false);
    forget_later(file);
}

/* Files are noted when they are first written; empty ones get a name, too. */
static void note_all(void)
{
    DIR *dir = opendir(disk.folder);
    struct dirent *entry;

    assert(dir);
    while ((entry = readdir(dir)))
        if (entry->d_type == DT_REG && !strstr(entry->d_name, "-shm"))
            (void)file_named(entry->d_name);
    closedir(dir);
}

static int sync_fd(int fd)
{
    char path[PATH_MAX];
    const char *name = name_of(fd, path);

    if (!name)
        return 0;
    image();
    if (*name) {
        sync_file(file_named(name));
        return 0;
    }
    note_all();
    for (size_t i = 0; i < disk.n_later; i++)
        apply_naming(&disk.synced, &disk.later[i]);
    disk.n_later = 0;
    return 0;
}

/* ---- in place of libc's ---- */

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    ssize_t done = syscall(SYS_pwrite64, fd, bytes, n, at);

    if (done > 0)
        note(fd, bytes, (size_t)done, at);
    return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    return pwrite(fd, bytes, n, at);
}

int ftruncate(int fd, off_t size)
{
    int rc = (int)syscall(SYS_ftruncate, fd, size);

    if (rc == 0)
        note(fd, NULL, 0, size);
    return rc;
}

int ftruncate64(int fd, off64_t size)
{
    return ftruncate(fd, size);
}

int fsync(int fd)
{
    return sync_fd(fd);
}

int fdatasync(int fd)
{
    return sync_fd(fd);
}

int rename(const char *from, const char *to)
{
    const char *old = name_in_folder(from), *new = name_in_folder(to);
    int rc = (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);

    if (rc == 0 && old && new) {
        struct file *file = file_named(old);

        image();
        change_name(new, file);
        change_name(old, NULL);
    }
    return rc;
}

int unlink(const char *path)
{
    const char *name = name_in_folder(path);
    int rc = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);

    if (rc == 0 && name && find(&disk.now, name)) {
        image();
        change_name(name, NULL);
    }
    return rc;
}

/* ---- for the test ---- */

void power_disk_watch(const char *folder, const char *images, uint64_t seed,
                      unsigned every, const int *mark)
{
    memset(&disk, 0, sizeof(disk));
    snprintf(disk.folder, sizeof(disk.folder), "%s", folder);
    snprintf(disk.images, sizeof(disk.images), "%s", images);
    disk.random = seed;
    disk.every = every;
    disk.mark = mark;
    disk.on = true;
}

size_t power_disk_end(void)
{
    disk.on = false;
    for (size_t i = 0; i < disk.n_files; i++) {
        forget_later(disk.files[i]);
        free(disk.files[i]->later);
        free(disk.files[i]->synced);
        free(disk.files[i]);
    }
    free(disk.files);
    free(disk.later);
    return disk.n_images;
}

int power_disk_image(size_t n, char path[POWER_DISK_PATH])
{
    snprintf(path, POWER_DISK_PATH, "%.100s/%zu", disk.images, n);
    return disk.marks[n];
}

void power_disk_remove_image(size_t n)
{
    char path[POWER_DISK_PATH], file[POWER_DISK_PATH + NAME_BYTES + 256];
    struct dirent *entry;
    DIR *dir;

    power_disk_image(n, path);
    dir = opendir(path);
    assert(dir);
    while ((entry = readdir(dir))) {
        snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        (void)unlink(file); /* not . and .. */
    }
    closedir(dir);
    rmdir(path);
}
