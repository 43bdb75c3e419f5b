#include "coordinator/dial/dial_keys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "common/buf.h"
#include "common/mem.h"

#define BYTES_MAX (2 << 20) /* 4,096 hosts with long names */
#define NAME_BYTES 256
#define JOB "job "

struct named_pair {
    char name[NAME_BYTES];
    struct dial_pair pair;
};

struct dial_keys {
    char *path;
    struct dial_pair server;
    int port;
    struct named_pair *hosts;
    size_t n;
    char **jobs;
    size_t n_jobs;
};

static char *path_of(const char *db)
{
    return mem_printf("%s.dial", db);
}

char *dial_keys_folder(const char *db)
{
    return mem_printf("%s.invitations", db);
}

static void add(struct dial_keys *keys, const struct named_pair *host)
{
    struct named_pair *grown =
        mem_new(keys->n + 1, sizeof(*grown)); /* the old ones are wiped */

    if (keys->n > 0) {
        memcpy(grown, keys->hosts, keys->n * sizeof(*grown));
        sodium_memzero(keys->hosts, keys->n * sizeof(*grown));
    }
    free(keys->hosts);
    keys->hosts = grown;
    keys->hosts[keys->n++] = *host;
}

void dial_keys_add_job(struct dial_keys *keys, const char *name)
{
    for (size_t i = 0; i < keys->n_jobs; i++)
        if (strcmp(keys->jobs[i], name) == 0)
            return;
    keys->jobs = mem_grow(keys->jobs, keys->n_jobs + 1, sizeof(*keys->jobs));
    keys->jobs[keys->n_jobs++] = mem_strdup(name);
}

const char *dial_keys_job(const struct dial_keys *keys, size_t i)
{
    return i < keys->n_jobs ? keys->jobs[i] : NULL;
}

bool dial_keys_exist(const char *db)
{
    char path[PATH_MAX]; /* asked at the end of a command without memory, too */
    int n = snprintf(path, sizeof(path), "%s.dial", db);

    return n < (int)sizeof(path) && access(path, F_OK) == 0;
}

/* One line of the file.  False: it cannot be read. */
static bool read_line(struct dial_keys *keys, const char *line, int number)
{
    struct named_pair host = { .name = "" };
    int end = 0;
    bool ok = true;

    if (number == 1)
        return strcmp(line, "fa-dial 1") == 0;
    if (sscanf(line, "port %d%n", &keys->port, &end) == 1 && !line[end])
        return keys->port >= 0 && keys->port <= 65535;
    if (sscanf(line, "server %40s %40s%n", keys->server.public_key,
               keys->server.secret_key, &end) == 2 &&
        !line[end])
        return true;
    if (strncmp(line, JOB, strlen(JOB)) == 0) {
        dial_keys_add_job(keys, line + strlen(JOB));
        return true;
    }
    ok = sscanf(line, "host %255s %40s %40s%n", host.name, host.pair.public_key,
                host.pair.secret_key, &end) == 3 &&
         !line[end];
    if (ok)
        add(keys, &host);
    sodium_memzero(&host, sizeof(host));
    return ok;
}

static int read_text(struct dial_keys *keys, char *text, struct err *err)
{
    int number = 1;

    for (char *line; (line = strsep(&text, "\n")) && (*line || text); number++)
        if (!read_line(keys, line, number))
            return err_set(err, ERR_INPUT,
                           "%s:%d: this is not a key file of fa-coord; remove "
                           "it, and give the workers that dial back new "
                           "invitations",
                           keys->path, number);
    if (strlen(keys->server.secret_key) != CURVE_KEY_BYTES - 1)
        return err_set(err, ERR_INPUT,
                       "%s: the key of the server is missing; remove the file, "
                       "and the workers that dial back need new invitations",
                       keys->path);
    return 0;
}

/* 1; 0: not found. */
static int load(struct dial_keys *keys, struct err *err)
{
    FILE *file = fopen(keys->path, "re");
    char *text;
    size_t n;
    int rc;

    if (!file && errno == ENOENT)
        return 0;
    if (!file)
        return err_set(err, ERR_SYSTEM, "%s: %s", keys->path, strerror(errno));
    text = mem_new(1, BYTES_MAX + 1);
    n = fread(text, 1, BYTES_MAX, file);
    text[n] = '\0';
    fclose(file);
    rc = read_text(keys, text, err);
    sodium_memzero(text, BYTES_MAX);
    free(text);
    return rc < 0 ? rc : 1;
}

int dial_keys_open(const char *db, struct dial_keys **out, struct err *err)
{
    struct dial_keys *keys = mem_new(1, sizeof(*keys));
    int rc;

    keys->path = path_of(db);
    rc = load(keys, err);
    if (rc == 0)
        rc = curve_keypair(keys->server.public_key, keys->server.secret_key,
                           err);
    if (rc < 0) {
        dial_keys_close(keys);
        return rc;
    }
    *out = keys;
    return 0;
}

void dial_keys_close(struct dial_keys *keys)
{
    if (!keys)
        return;
    if (keys->n > 0)
        sodium_memzero(keys->hosts, keys->n * sizeof(*keys->hosts));
    for (size_t i = 0; i < keys->n_jobs; i++)
        free(keys->jobs[i]);
    free(keys->jobs);
    free(keys->hosts);
    free(keys->path);
    sodium_memzero(keys, sizeof(*keys));
    free(keys);
}

const struct dial_pair *dial_keys_server(const struct dial_keys *keys)
{
    return &keys->server;
}

const struct dial_pair *dial_keys_host(struct dial_keys *keys, const char *name,
                                       struct err *err)
{
    struct named_pair host = { .name = "" };

    for (size_t i = 0; i < keys->n; i++)
        if (strcmp(keys->hosts[i].name, name) == 0)
            return &keys->hosts[i].pair;
    snprintf(host.name, sizeof(host.name), "%s", name);
    if (curve_keypair(host.pair.public_key, host.pair.secret_key, err) < 0)
        return NULL;
    add(keys, &host);
    sodium_memzero(&host, sizeof(host));
    return &keys->hosts[keys->n - 1].pair;
}

int dial_keys_port(const struct dial_keys *keys)
{
    return keys->port;
}

void dial_keys_set_port(struct dial_keys *keys, int port)
{
    keys->port = port;
}

static bool write_all(int fd, const char *text)
{
    size_t len = strlen(text);

    while (len > 0) {
        ssize_t n = write(fd, text, len);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            text += n;
            len -= (size_t)n;
        }
    }
    return fsync(fd) == 0;
}

static int write_private(const char *path, const char *text, struct err *err)
{
    char *part = mem_printf("%s.%d", path, (int)getpid());
    int fd, rc = 0;

    unlink(part); /* left by a dead process with the same pid */
    fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || !write_all(fd, text) || rename(part, path) < 0) {
        rc = err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
        unlink(part);
    }
    if (fd >= 0)
        close(fd);
    free(part);
    return rc;
}

int dial_keys_save(const struct dial_keys *keys, struct err *err)
{
    struct buf text;
    char line[NAME_BYTES + 2 * CURVE_KEY_BYTES + 32];
    int rc;

    buf_init(&text, BYTES_MAX);
    snprintf(line, sizeof(line), "fa-dial 1\nport %d\nserver %s %s\n",
             keys->port, keys->server.public_key, keys->server.secret_key);
    buf_add(&text, line, strlen(line));
    for (size_t i = 0; i < keys->n; i++) {
        const struct named_pair *host = &keys->hosts[i];

        snprintf(line, sizeof(line), "host %s %s %s\n", host->name,
                 host->pair.public_key, host->pair.secret_key);
        buf_add(&text, line, strlen(line));
    }
    for (size_t i = 0; i < keys->n_jobs; i++) {
        snprintf(line, sizeof(line), JOB "%s\n", keys->jobs[i]);
        buf_add(&text, line, strlen(line));
    }
    rc = write_private(keys->path, buf_text(&text), err);
    sodium_memzero(line, sizeof(line));
    sodium_memzero(text.bytes, text.len);
    buf_fini(&text);
    return rc;
}

int dial_keys_write(const char *folder, const char *name, const char *text,
                    struct err *err)
{
    char *path = mem_printf("%s/%s", folder, name);
    int rc = 0;

    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        rc = err_set(err, ERR_SYSTEM, "%s: %s", folder, strerror(errno));
    if (rc == 0)
        rc = write_private(path, text, err);
    free(path);
    return rc;
}

void dial_keys_remove(const char *db)
{
    char *path = path_of(db), *folder = dial_keys_folder(db);
    DIR *dir = opendir(folder);
    struct dirent *entry;

    unlink(path);
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir) {
        closedir(dir);
        rmdir(folder);
    }
    free(folder);
    free(path);
}
