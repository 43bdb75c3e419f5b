#include "worker/gpu/gpu_share.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mem.h"
#include "worker/gpu/gpulock.h"

#define FOLDER "gpus"
#define OWNER_BYTES 200
#define FILE_BYTES                                            \
    (OWNER_BYTES + 16) /* of a lock: its pid, and whose it is \
                        */
#define OTHERS ", and others"

/* What the file of a lock says beside the pid. */
struct holder {
    char owner[OWNER_BYTES]; /* "" while its worker has none */
    int64_t ends_ns;         /* 0: its sweep is connected */
};

struct gpu_share {
    char folder[PATH_MAX];
    struct holder is;
    int index[GPUS_MAX];
    int lock[GPUS_MAX]; /* -1: another worker has it */
    size_t n;
};

static void write_holder(const struct gpu_share *share, size_t i)
{
    char text[FILE_BYTES];
    int n = snprintf(text, sizeof(text), "%d\n%s\n%" PRId64 "\n", (int)getpid(),
                     share->is.owner, share->is.ends_ns);

    /* only messages use it */
    (void)!pwrite(share->lock[i], text, (size_t)n, 0);
    (void)!ftruncate(share->lock[i], n);
}

static struct holder read_holder(const struct gpu_share *share, size_t i)
{
    char path[PATH_MAX + 16], text[FILE_BYTES + 1] = "", *line;
    struct holder holder = { 0 };
    ssize_t n = -1;
    size_t len;
    int fd;

    snprintf(path, sizeof(path), "%s/%d", share->folder, share->index[i]);
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        n = read(fd, text, FILE_BYTES);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    line = strchr(text, '\n');
    if (!line)
        return holder;
    len = strcspn(++line, "\n");
    snprintf(holder.owner, sizeof(holder.owner), "%.*s", (int)len, line);
    if (line[len] == '\n')
        holder.ends_ns = strtoll(line + len + 1, NULL, 10);
    return holder;
}

static int take(struct gpu_share *share, size_t i, struct err *err)
{
    char name[16];

    snprintf(name, sizeof(name), "%d", share->index[i]);
    share->lock[i] = gpulock_take(share->folder, name, err);
    if (share->lock[i] >= 0) {
        write_holder(share, i);
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

void gpu_share_name(struct gpu_share *share, const char *owner, int64_t ends_ns)
{
    snprintf(share->is.owner, sizeof(share->is.owner), "%s", owner);
    share->is.ends_ns = ends_ns;
    for (size_t i = 0; i < share->n; i++)
        if (share->lock[i] >= 0)
            write_holder(share, i);
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

/* As claim.h has it for a worker. */
static void put_reason(const struct holder *holder, const int *theirs, size_t n,
                       bool others, char out[GPU_SHARE_TEXT_BYTES])
{
    char list[GPU_LIST_BYTES], when[40] = "";
    int64_t left_s = (holder->ends_ns - clock_boot_ns()) / NS_PER_S + 1;
    bool gone = holder->ends_ns > 0;

    if (gone)
        snprintf(when, sizeof(when), "; free in at most %lld s",
                 (long long)(left_s > 0 ? left_s : 1));
    gpu_list_write(theirs, n, list);
    snprintf(out, GPU_SHARE_TEXT_BYTES,
             "its GPU %.30s %s%s%s another sweep: %s%s%s", list,
             gone ? "wait" : "serve", n == 1 ? "s" : "", gone ? " for" : "",
             holder->owner, others ? OTHERS : "", when);
}

/* Those of the first owner, and whether there are others. */
void gpu_share_reason(const struct gpu_share *share,
                      char out[GPU_SHARE_TEXT_BYTES])
{
    struct holder first = { 0 };
    int theirs[GPUS_MAX] = { 0 };
    size_t n = 0;
    bool others = false;

    out[0] = '\0';
    for (size_t i = 0; i < share->n; i++) {
        struct holder holder;

        if (share->lock[i] >= 0)
            continue;
        holder = read_holder(share, i);
        if (!first.owner[0])
            first = holder;
        if (holder.owner[0] && strcmp(holder.owner, first.owner) == 0)
            theirs[n++] = share->index[i];
        else
            others = true;
    }
    if (n > 0)
        put_reason(&first, theirs, n, others, out);
}
