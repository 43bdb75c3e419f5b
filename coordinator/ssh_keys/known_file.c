#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/ssh_keys/known_hosts.h"
#include "coordinator/ssh_keys/known_match.h"

#define FILE_BYTES_MAX (16 << 20)
#define LINE_BYTES_MAX 16384

int known_hosts_load(struct known_hosts_set *set, const char *path,
                     struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct buf text;
    char chunk[8192];
    ssize_t n;

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    buf_init(&text, FILE_BYTES_MAX);
    while ((n = read(fd, chunk, sizeof(chunk))) > 0)
        if (!buf_add(&text, chunk, (size_t)n))
            break;
    if (n < 0)
        err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    close(fd);
    if (n >= 0)
        known_hosts_parse(set, path, buf_text(&text), text.len);
    if (text.truncated)
        buf_printf(&set->warnings, "%s: only the first 16 MiB were read\n",
                   path);
    buf_fini(&text);
    return n < 0 ? ERR_SYSTEM : 0;
}

static void make_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096];

    if (!slash || slash == path || (size_t)(slash - path) >= sizeof(folder))
        return;
    memcpy(folder, path, (size_t)(slash - path));
    folder[slash - path] = '\0';
    (void)mkdir(folder, 0700); /* if this does not work, the open says why */
}

/* Append everything or nothing to the locked file. */
static int append_line(int fd, const char *line, size_t len)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char last = '\n';
    size_t skip;
    ssize_t n;

    if (size < 0 || (size > 0 && pread(fd, &last, 1, size - 1) != 1))
        return -1;
    skip = last == '\n'; /* add the missing line end first */
    n = write(fd, line + skip, len - skip);
    if (n == (ssize_t)(len - skip) && fsync(fd) == 0)
        return 0;
    if (n >= 0)
        errno = ENOSPC;
    (void)!ftruncate(fd, size); /* half a line would be a bad line */
    return -1;
}

int known_hosts_append(const char *path, const char *host, int port,
                       const void *blob, size_t len, struct err *err)
{
    char line[LINE_BYTES_MAX], name[320], type[KNOWN_HOSTS_TYPE_BYTES];
    int fd, n, rc = 0;

    known_match_name(host, port, name, sizeof(name));
    known_hosts_type(blob, len, type);
    n = snprintf(line, sizeof(line), "\n%s %s ", name, type);
    if (n < 0 || (size_t)n + sodium_base64_ENCODED_LEN(
                                 len, sodium_base64_VARIANT_ORIGINAL) >=
                     sizeof(line))
        return err_set(err, ERR_PROTO, "the host key has %zu bytes", len);
    sodium_bin2base64(line + n, sizeof(line) - (size_t)n - 1, blob, len,
                      sodium_base64_VARIANT_ORIGINAL);
    n += (int)strlen(line + n);
    line[n++] = '\n';
    make_folder(path);
    fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) < 0 ||
        append_line(fd, line, (size_t)n) < 0)
        rc = err_set(err, ERR_SYSTEM,
                     "the new host key cannot be written to %s: %s", path,
                     strerror(errno));
    if (fd >= 0)
        close(fd);
    return rc;
}
