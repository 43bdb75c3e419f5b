#include "worker/gpu/gpu_share.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "worker/gpu/gpulock.h"

#define FOLDER "gpus"
#define OWNER_BYTES 200
#define FILE_BYTES                                            \
    (OWNER_BYTES + 16) /* of a lock: its pid, and whose it is \
                        */
#define OTHERS ", and others"

struct gpu_share {
    char folder[PATH_MAX];
    char owner[OWNER_BYTES];
    int index[GPUS_MAX];
    int lock[GPUS_MAX]; /* -1: another worker has it */
    size_t n;
};

/* The first line, the pid, stays. */
static void write_owner(const struct gpu_share *share, size_t i)
{
    char text[FILE_BYTES];
    int n =
        snprintf(text, sizeof(text), "%d\n%s\n", (int)getpid(), share->owner);

    /* only messages use it */
    (void)!pwrite(share->lock[i], text, (size_t)n, 0);
    (void)!ftruncate(share->lock[i], n);
}

/* "" while its worker has no owner yet. */
static void read_owner(const struct gpu_share *share, size_t i,
                       char out[OWNER_BYTES])
{
    char path[PATH_MAX + 16], text[FILE_BYTES + 1] = "", *line;
    int fd;
    ssize_t n = -1;

    out[0] = '\0';
    snprintf(path, sizeof(path), "%s/%d", share->folder, share->index[i]);
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        n = read(fd, text, FILE_BYTES);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    line = strchr(text, '\n');
    if (!line)
        return;
    line[1 + strcspn(line + 1, "\n")] = '\0';
    snprintf(out, OWNER_BYTES, "%s", line + 1);
}

static int take(struct gpu_share *share, size_t i, struct err *err)
{
    char name[16];

    snprintf(name, sizeof(name), "%d", share->index[i]);
    share->lock[i] = gpulock_take(share->folder, name, err);
    if (share->lock[i] >= 0) {
        write_owner(share, i);
        return 0;
    }
    return share->lock[i] == ERR_DEVICE ? 0 : share->lock[i];
}

size_t gpu_share_take(struct gpu_share *share)
{
    struct err ignored; /* it stays one that is lacking */
    size_t n = 0;

    for (size_t i = 0; i < share->n; i++)
        if (share->lock[i] < 0) {
            (void)take(share, i, &ignored);
            n += share->lock[i] >= 0;
        }
    return n;
}

int gpu_share_open(const char *home, const char *which, struct gpu_share **out,
                   struct err *err)
{
    struct gpu_share *share = mem_new(1, sizeof(*share));
    int n = gpu_list_choose("cuda", which, share->index), rc = 0;
    char reason[GPU_SHARE_TEXT_BYTES];
    int held[GPUS_MAX];

    *out = NULL;
    share->n = n < 0 ? 0 : (size_t)n;
    memset(share->lock, -1, sizeof(share->lock));
    if (n < 0)
        rc = err_set(err, ERR_INPUT,
                     "gpus '%s': write all, none, or indices such as 0,1, "
                     "each once",
                     which);
    snprintf(share->folder, sizeof(share->folder), "%s/" FOLDER, home);
    for (size_t i = 0; rc == 0 && i < share->n; i++)
        rc = take(share, i, err);
    if (rc == 0 && n > 0 && gpu_share_held(share, held) == 0) {
        gpu_share_reason(share, reason);
        (void)err_set(err, ERR_DEVICE, "%s", reason);
        rc = GPU_SHARE_TAKEN;
    }
    if (rc != 0) {
        gpu_share_close(share);
        return rc;
    }
    *out = share;
    return 0;
}

void gpu_share_close(struct gpu_share *share)
{
    if (!share)
        return;
    for (size_t i = 0; i < share->n; i++)
        if (share->lock[i] >= 0)
            close(share->lock[i]);
    free(share);
}

void gpu_share_name(struct gpu_share *share, const char *owner)
{
    snprintf(share->owner, sizeof(share->owner), "%s", owner);
    for (size_t i = 0; i < share->n; i++)
        if (share->lock[i] >= 0)
            write_owner(share, i);
}

size_t gpu_share_held(const struct gpu_share *share, int indices[GPUS_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < share->n; i++)
        if (share->lock[i] >= 0)
            indices[n++] = share->index[i];
    return n;
}

size_t gpu_share_wanted(const struct gpu_share *share)
{
    return share->n;
}

/* Those of the first owner, and whether there are others. */
void gpu_share_reason(const struct gpu_share *share,
                      char out[GPU_SHARE_TEXT_BYTES])
{
    char first[OWNER_BYTES] = "", owner[OWNER_BYTES], list[GPU_LIST_BYTES];
    int theirs[GPUS_MAX] = { 0 };
    size_t n = 0;
    bool others = false;

    out[0] = '\0';
    for (size_t i = 0; i < share->n; i++) {
        if (share->lock[i] >= 0)
            continue;
        read_owner(share, i, owner);
        if (owner[0] && !first[0])
            snprintf(first, sizeof(first), "%s", owner);
        if (owner[0] && strcmp(owner, first) == 0)
            theirs[n++] = share->index[i];
        else
            others = true;
    }
    gpu_list_write(theirs, n, list);
    if (n > 0)
        snprintf(out, GPU_SHARE_TEXT_BYTES,
                 "its GPU %.30s serve%s another sweep: %s%s", list,
                 n == 1 ? "s" : "", first, others ? OTHERS : "");
}
