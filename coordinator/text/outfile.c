#include "coordinator/text/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "common/err.h"

static int write_all(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t n = write(fd, text, len);

        if (n < 0 && errno != EINTR)
            return -1;
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int outfile_save(const char *path, const char *text, size_t len, bool force,
                 struct err *err)
{
    int how = O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL);
    int fd = open(path, how, 0666), failed;

    if (fd < 0 && errno == EEXIST)
        return err_set(err, ERR_INPUT,
                       "'%s' exists already; --force overwrites it", path);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "'%s': %s", path, strerror(errno));
    failed = write_all(fd, text, len) < 0 ? errno : 0;
    if (close(fd) < 0 && !failed)
        failed = errno;
    if (!failed)
        return 0;
    if (!force)
        unlink(path); /* half a file is worse than none */
    return err_set(err, ERR_SYSTEM, "'%s': %s", path, strerror(failed));
}
