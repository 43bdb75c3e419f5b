#include "worker/files.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/sources.h"
#include "common/clock.h"
#include "common/hash.h"
#include "common/mem.h"

#define WANT_AGAIN_NS (10 * NS_PER_S)
#define WANTS_MAX 512   /* more than all credits together ask for */
#define FETCHES_MAX 256 /* artifacts being sent */

struct want {
    char hash[HASH_HEX];
    int64_t asked_ns;
    struct buf bytes; /* of an artifact, as far as it came */
};

struct fetch {
    char hash[HASH_HEX];
    int64_t offset;
};

struct files {
    struct cache *cache;
    struct msg bundles[FILES_BUNDLES_MAX]; /* newest use first */
    size_t n_bundles;
    struct want wants[WANTS_MAX];
    size_t n_wants;
    struct fetch fetches[FETCHES_MAX];
    size_t n_fetches;
    char sending[HASH_HEX]; /* what the last files_next_chunk() points to */
    char *chunk;
};

struct files *files_new(struct cache *cache)
{
    struct files *files = mem_new(1, sizeof(*files));

    files->cache = cache;
    files->chunk = mem_new(1, MSG_CHUNK_MAX);
    return files;
}

void files_free(struct files *files)
{
    if (!files)
        return;
    files_forget_wants(files);
    for (size_t i = 0; i < files->n_bundles; i++)
        msg_fini(&files->bundles[i]);
    free(files->chunk);
    free(files);
}

static void put_first(struct files *files, struct msg bundle, size_t from)
{
    memmove(&files->bundles[1], &files->bundles[0],
            from * sizeof(files->bundles[0]));
    files->bundles[0] = bundle;
}

const struct msg *files_bundle(struct files *files, const char *hash)
{
    for (size_t i = 0; i < files->n_bundles; i++) {
        if (strcmp(files->bundles[i].hash, hash) != 0)
            continue;
        put_first(files, files->bundles[i], i);
        return &files->bundles[0];
    }
    return NULL;
}

static struct want *find_want(struct files *files, const char *hash)
{
    for (size_t i = 0; i < files->n_wants; i++)
        if (strcmp(files->wants[i].hash, hash) == 0)
            return &files->wants[i];
    return NULL;
}

static void drop_want(struct files *files, struct want *want)
{
    buf_fini(&want->bytes);
    *want = files->wants[--files->n_wants];
}

bool files_want(struct files *files, const char *hash, int64_t now_ns)
{
    struct want *want = find_want(files, hash);

    if (!want) {
        if (files->n_wants == WANTS_MAX)
            return false;
        want = &files->wants[files->n_wants++];
        memcpy(want->hash, hash, strlen(hash) + 1);
        buf_init(&want->bytes, FILES_ARTIFACT_MAX);
    } else if (now_ns - want->asked_ns < WANT_AGAIN_NS) {
        return false;
    }
    want->asked_ns = now_ns;
    return true;
}

void files_forget_wants(struct files *files)
{
    while (files->n_wants > 0)
        drop_want(files, &files->wants[files->n_wants - 1]);
}

int files_take_bundle(struct files *files, struct msg *msg, struct err *err)
{
    struct want *want = find_want(files, msg->hash);
    char hash[HASH_HEX];

    if (!want)
        return 0;
    if (msg->names.n != msg->contents.n)
        return err_set(err, ERR_PROTO, "bundle %s: %zu names, %zu contents",
                       msg->hash, msg->names.n, msg->contents.n);
    sources_hash(&msg->names, &msg->contents, hash);
    if (strcmp(hash, msg->hash) != 0)
        return err_set(err, ERR_PROTO, "bundle %s has the hash %s", msg->hash,
                       hash);
    drop_want(files, want);
    if (files->n_bundles == FILES_BUNDLES_MAX)
        msg_fini(&files->bundles[--files->n_bundles]);
    put_first(files, *msg, files->n_bundles++);
    *msg = (struct msg){ 0 };
    return 1;
}

int files_take_chunk(struct files *files, const struct msg *msg,
                     struct err *err)
{
    struct want *want = find_want(files, msg->hash);
    int rc;

    if (!want)
        return 0;
    if (msg->offset == 0) /* asked twice: the second one begins anew */
        buf_clear(&want->bytes);
    if (msg->total > FILES_ARTIFACT_MAX || msg->offset > msg->total ||
        (int64_t)msg->chunk.len > msg->total - msg->offset)
        return err_set(err, ERR_PROTO, "artifact %s: %zu bytes at %lld of %lld",
                       msg->hash, msg->chunk.len, (long long)msg->offset,
                       (long long)msg->total);
    if (msg->offset != (int64_t)want->bytes.len)
        return 0; /* of an answer that another one has overtaken */
    buf_add(&want->bytes, msg->chunk.data, msg->chunk.len);
    if ((int64_t)want->bytes.len < msg->total)
        return 0;
    rc = cache_put(files->cache, msg->hash, buf_text(&want->bytes),
                   want->bytes.len, err);
    if (rc == 0)
        drop_want(files, want);
    else
        buf_clear(&want->bytes);
    return rc < 0 ? rc : 1;
}

bool files_fetch(struct files *files, const char *hash)
{
    if (!hash_is_hex(hash) || !cache_has(files->cache, hash) ||
        files->n_fetches == FETCHES_MAX)
        return false;
    for (size_t i = 0; i < files->n_fetches; i++)
        if (strcmp(files->fetches[i].hash, hash) == 0)
            return true; /* is on its way */
    memcpy(files->fetches[files->n_fetches].hash, hash, HASH_HEX);
    files->fetches[files->n_fetches++].offset = 0;
    return true;
}

static void drop_first_fetch(struct files *files)
{
    files->n_fetches--;
    memmove(&files->fetches[0], &files->fetches[1],
            files->n_fetches * sizeof(files->fetches[0]));
}

bool files_next_chunk(struct files *files, struct msg *out)
{
    struct fetch *fetch = &files->fetches[0];
    int64_t total, n;

    if (files->n_fetches == 0)
        return false;
    memcpy(files->sending, fetch->hash, HASH_HEX);
    n = cache_read(files->cache, fetch->hash, fetch->offset, files->chunk,
                   MSG_CHUNK_MAX, &total, NULL);
    if (n < 0 || (n == 0 && total > fetch->offset)) {
        drop_first_fetch(files);
        *out = (struct msg){ .type = MSG_MISSING, .hash = files->sending };
        return true;
    }
    *out = (struct msg){ .type = MSG_ARTIFACT,
                         .hash = files->sending,
                         .offset = fetch->offset,
                         .total = total,
                         .chunk = { files->chunk, (size_t)n } };
    fetch->offset += n;
    if (fetch->offset >= total)
        drop_first_fetch(files);
    return true;
}
