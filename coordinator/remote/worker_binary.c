#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cksum.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/remote/deploy.h"

static int read_all(int fd, unsigned char *bytes, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = read(fd, bytes + done, len - done);

        if (n <= 0)
            return -1;
        done += (size_t)n;
    }
    return 0;
}

int worker_binary_load(const char *path, struct worker_binary *out,
                       struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
    struct stat st = { .st_size = 0 };

    *out = (struct worker_binary){ 0 };
    if (fd < 0 || fstat(fd, &st) < 0)
        rc = err_set(err, ERR_INPUT,
                     "%s: %s; it is built and installed together with fa-coord",
                     path, strerror(errno));
    else if (!S_ISREG(st.st_mode) || st.st_size == 0 ||
             st.st_size > DEPLOY_BYTES_MAX)
        rc = err_set(err, ERR_INPUT, "%s: its size is not 1 byte to 64 MiB",
                     path);
    if (rc == 0) {
        out->len = (size_t)st.st_size;
        out->bytes = mem_new(out->len, 1);
        if (read_all(fd, out->bytes, out->len) < 0)
            rc = err_set(err, ERR_INPUT, "%s: changed while it was read", path);
    }
    if (fd >= 0)
        close(fd);
    if (rc < 0) {
        worker_binary_fini(out);
        return rc;
    }
    hash_of(out->bytes, out->len, out->hash);
    deploy_sha256(out->bytes, out->len, out->sha256);
    out->cksum = cksum_of(out->bytes, out->len);
    return 0;
}

void worker_binary_fini(struct worker_binary *program)
{
    free(program->bytes);
    *program = (struct worker_binary){ 0 };
}

/* fa-worker is in the folder of fa-coord, or where `cmake --install` puts
 * it. */
int worker_binary_load_own(struct worker_binary *out, struct err *err)
{
    static const char *const places[] = { "fa-worker",
                                          "../libexec/fa-coord/fa-worker" };
    char self[PATH_MAX], path[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    self[n > 0 ? n : 0] = '\0';
    slash = strrchr(self, '/');
    if (!slash)
        return err_set(err, ERR_SYSTEM, "/proc/self/exe: %s", strerror(errno));
    *slash = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", self, places[i]);
        if (access(path, R_OK) == 0)
            return worker_binary_load(path, out, err);
    }
    return err_set(err, ERR_INPUT,
                   "fa-worker is not in %s; it is built and installed "
                   "together with fa-coord",
                   self);
}
