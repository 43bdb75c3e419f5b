#include "worker/store/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/mem.h"
#include "worker/store/refusal.h"

#define DEFAULT_BELOW_HOME ".cache/fa-coord/work"
#define UPLOAD ".fa-worker-"
#define LINKS_MAX 16            /* on the way, each followed */
#define LOG_BYTES_MAX (4 << 20) /* and as much in worker.log.old */

/* mkdir -p, each new folder 0700. */
static int make_folders(char *path, struct err *err)
{
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            return refusal_of(path, err);
        *p = '/';
    }
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return refusal_of(path, err);
    return 0;
}

static int make_private(const char *path, struct err *err)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return refusal_of(path, err);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
        return err_set(
            err, ERR_INPUT,
            "%s: must be a folder that this user owns; choose another one with "
            "workdir= in the hosts file or --workdir",
            path);
    if (st.st_mode & 077 && chmod(path, 0700) < 0)
        return refusal_of(path, err);
    return 0;
}

static bool is_others_link(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) &&
           st.st_uid != geteuid() && st.st_uid != 0;
}

/* Where the first link of 'path' leads, with the rest of the path; NULL if it
 * has none.  Another user's link is ERR_INPUT. */
static int follow_first_link(char *path, char **out, struct err *err)
{
    char to[PATH_MAX];

    *out = NULL;
    for (char *end = path + 1;; end++) {
        char kept = *end;
        ssize_t n;

        if (kept && kept != '/')
            continue;
        *end = '\0';
        if (is_others_link(path))
            return err_set(err, ERR_INPUT,
                           "%s: is a link that another user made; choose "
                           "another folder with workdir= in the hosts file or "
                           "--workdir",
                           path);
        n = readlink(path, to, sizeof(to) - 1);
        if (n > 0) {
            char *slash = strrchr(path, '/');

            to[n] = '\0';
            *out = to[0] == '/' || !slash
                       ? mem_printf("%s%s%s", to, kept ? "/" : "",
                                    kept ? end + 1 : "")
                       : mem_printf("%.*s/%s%s%s", (int)(slash - path), path,
                                    to, kept ? "/" : "", kept ? end + 1 : "");
        }
        *end = kept;
        if (n > 0 || !kept)
            return 0;
    }
}

static int check_links(const char *path, struct err *err)
{
    char *at = mem_strdup(path);
    int rc = 0;

    for (int i = 0; rc == 0 && at && i < LINKS_MAX; i++) {
        char *next;

        rc = follow_first_link(at, &next, err);
        free(at);
        at = next;
    }
    free(at);
    return rc;
}

static int resolve(char *path, char out[WORKDIR_BYTES], struct err *err)
{
    char *full;
    int rc = check_links(path, err);

    if (rc == 0)
        rc = make_folders(path, err);
    if (rc < 0)
        return rc;
    full = realpath(path, NULL);
    if (!full)
        return refusal_of(path, err);
    if (strlen(full) >= WORKDIR_BYTES)
        rc = err_set(
            err, ERR_INPUT,
            "%s: %zu bytes, too long for the sockets in it (at most "
            "%d); choose another one with workdir= in the hosts file or "
            "--workdir",
            full, strlen(full), WORKDIR_BYTES - 1);
    else
        memcpy(out, full, strlen(full) + 1);
    free(full);
    return rc < 0 ? rc : make_private(out, err);
}

int workdir_open(const char *path, char out[WORKDIR_BYTES], struct err *err)
{
    const char *home = getenv("HOME");
    struct stat st;
    char *copy;
    int rc;

    if (!path && (!home || home[0] != '/'))
        return err_set(err, ERR_INPUT,
                       "HOME is not set; name the work folder with --workdir");
    if (!path && (stat(home, &st) < 0 || !S_ISDIR(st.st_mode)))
        return err_set(err, ERR_INPUT,
                       "HOME is %s, which is no folder; name the work folder "
                       "with --workdir",
                       home);
    if (path && !path[0])
        return err_set(err, ERR_INPUT, "--workdir is empty");
    copy = path ? mem_strdup(path) : mem_printf("%s/" DEFAULT_BELOW_HOME, home);
    rc = resolve(copy, out, err);
    free(copy);
    return rc;
}

static int locked(int fd, const char *path, struct err *err)
{
    char pid[16] = "";
    ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);

    pid[n > 0 ? strspn(pid, "0123456789") : 0] = '\0';
    return err_set(err, ERR_DEVICE,
                   "%s: another worker (pid %s) uses this folder", path,
                   pid[0] ? pid : "unknown");
}

int workdir_lock(const char *path, int how, struct err *err)
{
    char pid[16];
    int fd, rc = 0, n;

    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return refusal_of(path, err);
    n = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
    if (flock(fd, how | LOCK_NB) < 0)
        rc = errno == EWOULDBLOCK ? locked(fd, path, err)
                                  : refusal_of(path, err);
    else if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)n, 0) < 0)
        rc = refusal_of(path, err);
    if (rc < 0)
        close(fd);
    return rc < 0 ? rc : fd;
}

static bool is_dead_relay(const char *name)
{
    int pid, end = 0;

    return sscanf(name, "relay-%d.sock%n", &pid, &end) == 1 && end > 0 &&
           name[end] == '\0' && pid > 0 && kill(pid, 0) < 0 && errno == ESRCH;
}

/* ".fa-worker-HASH.MACHINE.PID", two numbers (coordinator/remote/deploy.c) */
static bool is_upload(const char *name)
{
    static const char digits[] = "0123456789";
    size_t len = strlen(UPLOAD), hex, number;

    if (strncmp(name, UPLOAD, len) != 0)
        return false;
    hex = strspn(name + len, "0123456789abcdef");
    if (hex != HASH_HEX - 1 || name[len + hex] != '.')
        return false;
    name += len + hex + 1;
    number = strspn(name, digits);
    if (number == 0 || name[number] != '.')
        return false;
    name += number + 1;
    number = strspn(name, digits);
    return number > 0 && name[number] == '\0';
}

static bool is_cut_upload(int dir, const char *name)
{
    struct stat st;

    return is_upload(name) &&
           fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           time(NULL) - st.st_mtime > WORKDIR_UPLOAD_S;
}

void workdir_tidy(const char *dir)
{
    DIR *at = opendir(dir);
    struct dirent *entry;

    while (at && (entry = readdir(at)))
        if (is_dead_relay(entry->d_name) ||
            is_cut_upload(dirfd(at), entry->d_name))
            unlinkat(dirfd(at), entry->d_name, 0);
    if (at)
        closedir(at);
}

static bool too_long(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_size > LOG_BYTES_MAX;
}

static int open_log(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                0600);
}

static int begin_anew(const char *path)
{
    char old[PATH_MAX];

    snprintf(old, sizeof(old), "%s.old", path);
    (void)rename(path, old); /* if it fails, the old file is continued */
    return open_log(path);
}

int workdir_log(const char *dir, FILE **out, struct err *err)
{
    char path[PATH_MAX];
    int fd;

    snprintf(path, sizeof(path), "%s/worker.log", dir);
    fd = open_log(path);
    if (fd >= 0 && too_long(fd)) {
        close(fd);
        fd = begin_anew(path);
    }
    *out = fd < 0 ? NULL : fdopen(fd, "a");
    return *out ? 0 : refusal_of(path, err);
}

void workdir_trim_log(const char *dir, FILE *log)
{
    char path[PATH_MAX];
    int fd;

    if (!too_long(fileno(log)))
        return;
    snprintf(path, sizeof(path), "%s/worker.log", dir);
    fd = begin_anew(path);
    if (fd < 0)
        return;
    (void)dup3(fd, fileno(log), O_CLOEXEC); /* cannot fail: both are open */
    close(fd);
}
