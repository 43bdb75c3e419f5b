#include "tests/coordinator/store/blank_db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "coordinator/store/store.h"

static char bytes[512 << 10]; /* of the first one made */
static size_t n_bytes;

static int fail(const char *path, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
}

static int make_first(const char *path, struct err *err)
{
    struct store *store;
    FILE *file;

    if (store_open(path, STORE_CREATE, &store, err) < 0)
        return ERR_STORE;
    store_close(store);
    file = fopen(path, "re");
    if (!file)
        return fail(path, err);
    n_bytes = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    if (n_bytes == 0 || n_bytes == sizeof(bytes))
        return err_set(err, ERR_SYSTEM, "%s: %zu bytes", path, n_bytes);
    return 0;
}

int blank_db(const char *path, struct err *err)
{
    int fd, rc = 0;

    if (access(path, F_OK) == 0)
        return 0;
    if (n_bytes == 0)
        return make_first(path, err);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return fail(path, err);
    if (write(fd, bytes, n_bytes) != (ssize_t)n_bytes)
        rc = fail(path, err);
    close(fd);
    return rc;
}
