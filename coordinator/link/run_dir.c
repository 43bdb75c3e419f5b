#include "coordinator/link/run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "fa-coord-" /* UID-PID-WORD */
#define WORD "XXXXXX"

static void remove_folder(int parent, const char *name)
{
    int fd =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    struct dirent *entry;
    DIR *dir;

    if (fd == -1)
        return;
    if (fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
        !(dir = fdopendir(fd))) {
        close(fd);
        return;
    }
    while ((entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            unlinkat(fd, entry->d_name, 0);
    closedir(dir);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* Remove the folders of this user whose process has ended. */
static void remove_stale(const char *base)
{
    DIR *dir = opendir(base);
    struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir))) {
        const char *name = entry->d_name;
        unsigned uid;
        int pid, used = 0;

        if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 ||
            sscanf(name + strlen(PREFIX), "%u-%d-%n", &uid, &pid, &used) != 2 ||
            used == 0 || strlen(name) != strlen(PREFIX WORD) + (size_t)used)
            continue;
        if (uid == geteuid() && kill(pid, 0) == -1 && errno == ESRCH)
            remove_folder(dirfd(dir), name);
    }
    closedir(dir);
}

int run_dir_open(struct run_dir *run_dir, struct err *err)
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    int n;

    if (!base || base[0] != '/' || access(base, W_OK | X_OK) < 0)
        base = "/tmp";
    remove_stale(base);
    n = snprintf(run_dir->path, sizeof(run_dir->path),
                 "%s/" PREFIX "%u-%d-" WORD, base, (unsigned)geteuid(),
                 (int)getpid());
    if (n >= (int)sizeof(run_dir->path)) {
        run_dir->path[0] = '\0';
        return err_set(err, ERR_SYSTEM,
                       "%s: too long for a socket's path; set "
                       "XDG_RUNTIME_DIR to a shorter folder",
                       base);
    }
    if (!mkdtemp(run_dir->path)) {
        int rc =
            err_set(err, ERR_SYSTEM, "%s: %s", run_dir->path, strerror(errno));

        run_dir->path[0] = '\0';
        return rc;
    }
    return 0;
}

void run_dir_close(struct run_dir *run_dir)
{
    if (run_dir->path[0])
        remove_folder(AT_FDCWD, run_dir->path);
    run_dir->path[0] = '\0';
}

void run_dir_file(const struct run_dir *run_dir, const char *name,
                  char out[RUN_DIR_PATH_BYTES])
{
    snprintf(out, RUN_DIR_PATH_BYTES, "%s/%.14s", run_dir->path, name);
}
