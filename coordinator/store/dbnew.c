#include "coordinator/store/dbnew.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/store/dblock.h"
#include "coordinator/store/store.h"
#include "coordinator/text/outfile.h"

struct dbnew {
    char *path, *part;
    int lock; /* of 'path' */
    struct store *store;
};

static bool has(const char *path, const char *end)
{
    char *name = mem_printf("%s%s", path, end);
    struct stat st;
    bool is_there = lstat(name, &st) == 0;

    free(name);
    return is_there;
}

static void remove_part(const char *part)
{
    static const char *const ends[] = { "", "-wal", "-shm", ".lock" };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char *name = mem_printf("%s%s", part, ends[i]);

        (void)unlink(name); /* if it stays, it is in the way of nothing */
        free(name);
    }
}

static int is_new(const char *path, struct err *err)
{
    if (!has(path, ""))
        return 0;
    return err_set(err, ERR_INPUT,
                   "%s exists already; remove it, or name another file", path);
}

static void free_dbnew(struct dbnew *dbnew)
{
    dblock_release(dbnew->lock);
    free(dbnew->path);
    free(dbnew->part);
    free(dbnew);
}

int dbnew_open(const char *path, struct dbnew **out, struct err *err)
{
    struct dbnew *dbnew;
    int rc = is_new(path, err), lock = rc;

    *out = NULL;
    if (rc == 0)
        rc = outfile_folder(path, err);
    if (rc == 0)
        rc = lock = dblock_take(path, err);
    if (rc < 0)
        return rc;
    dbnew = mem_new(1, sizeof(*dbnew));
    dbnew->path = mem_strdup(path);
    dbnew->part = mem_printf("%s" DBNEW_PART, path);
    dbnew->lock = lock;
    rc = is_new(path, err); /* another command may have just made it */
    if (rc == 0) {
        remove_part(dbnew->part);
        rc = store_open(dbnew->part, STORE_CREATE, &dbnew->store, err);
    }
    if (rc < 0) {
        free_dbnew(dbnew);
        return rc;
    }
    *out = dbnew;
    return 0;
}

struct store *dbnew_store(struct dbnew *dbnew)
{
    return dbnew->store;
}

/* Closing copies the log back to the file, and removes the log. */
static int give_name(const struct dbnew *dbnew, struct err *err)
{
    if (has(dbnew->part, "-wal"))
        return err_set(err, ERR_STORE,
                       "%s cannot be written; is the disk full?", dbnew->path);
    if (rename(dbnew->part, dbnew->path) < 0)
        return err_set(err, ERR_STORE, "%s: %s", dbnew->path, strerror(errno));
    return 0;
}

int dbnew_close(struct dbnew *dbnew, int rc, struct err *err)
{
    if (!dbnew)
        return rc;
    store_close(dbnew->store);
    if (rc == 0)
        rc = give_name(dbnew, err);
    remove_part(dbnew->part);
    free_dbnew(dbnew);
    return rc;
}
