#include "worker/store/part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "worker/store/refusal.h"

int part_path(const char *dir, const char *hash, char path[PATH_MAX],
              struct err *err)
{
    if (snprintf(path, PATH_MAX, "%s/tmp/part-%s", dir, hash) >= PATH_MAX)
        return err_set(err, ERR_SYSTEM, "the path '%s/tmp/part-%s' is too long",
                       dir, hash);
    return 0;
}

static bool write_at(int fd, int64_t offset, struct bytes chunk)
{
    const char *bytes = chunk.data;

    if (ftruncate(fd, offset) < 0)
        return false;
    for (size_t at = 0; at < chunk.len;) {
        ssize_t n =
            pwrite(fd, bytes + at, chunk.len - at, offset + (int64_t)at);

        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

int part_add(const char *dir, const char *hash, int64_t offset,
             struct bytes chunk, struct err *err)
{
    char path[PATH_MAX];
    int rc = part_path(dir, hash, path, err), fd;

    if (rc < 0)
        return rc;
    fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || !write_at(fd, offset, chunk))
        rc = refusal_of(path, err);
    if (fd >= 0)
        close(fd);
    return rc;
}

void part_remove(const char *dir, const char *hash)
{
    char path[PATH_MAX];

    if (part_path(dir, hash, path, NULL) == 0)
        unlink(path);
}
