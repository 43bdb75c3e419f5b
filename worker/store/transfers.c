#include "worker/store/transfers.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/sources.h"
#include "worker/store/asked.h"
#include "worker/store/bundles.h"
#include "worker/store/part.h"

#define WANT_AGAIN_NS (ASKED_S * NS_PER_S)
#define WANTS_MAX 512   /* more than all credits together can need */
#define FETCHES_MAX 256 /* artifacts being sent */

struct want {
    const char *what; /* MSG_WANT_BUNDLE, ... */
    char hash[HASH_HEX];
    int64_t asked_ns;
    int64_t bytes; /* of an artifact that have arrived: in its part (part.h) */
};

struct fetch {
    char hash[HASH_HEX];
    int64_t offset;
};

struct transfers {
    struct cache *cache;
    struct msg bundles[TRANSFERS_BUNDLES_MAX]; /* most recently used first */
    size_t n_bundles;
    struct want wants[WANTS_MAX];
    size_t n_wants;
    int64_t parts_bytes, parts_max; /* of all wants, and its ceiling */
    struct fetch fetches[FETCHES_MAX];
    size_t n_fetches;
    char sending[HASH_HEX]; /* what the last transfers_next_chunk() points to */
    char *chunk;
};

struct transfers *transfers_new(struct cache *cache, int64_t parts_bytes)
{
    struct transfers *transfers = mem_new(1, sizeof(*transfers));

    transfers->cache = cache;
    transfers->parts_max = parts_bytes;
    transfers->chunk = mem_new(1, MSG_CHUNK_MAX);
    return transfers;
}

void transfers_free(struct transfers *transfers)
{
    if (!transfers)
        return;
    transfers_forget_wants(transfers);
    for (size_t i = 0; i < transfers->n_bundles; i++)
        msg_fini(&transfers->bundles[i]);
    free(transfers->chunk);
    free(transfers);
}

static void put_first(struct transfers *transfers, struct msg bundle,
                      size_t from)
{
    memmove(&transfers->bundles[1], &transfers->bundles[0],
            from * sizeof(transfers->bundles[0]));
    transfers->bundles[0] = bundle;
}

static void remember(struct transfers *transfers, struct msg bundle)
{
    if (transfers->n_bundles == TRANSFERS_BUNDLES_MAX)
        msg_fini(&transfers->bundles[--transfers->n_bundles]);
    put_first(transfers, bundle, transfers->n_bundles++);
}

const struct msg_bundle *transfers_bundle(struct transfers *transfers,
                                          const char *hash)
{
    struct msg loaded;

    for (size_t i = 0; i < transfers->n_bundles; i++) {
        if (strcmp(transfers->bundles[i].bundle.hash, hash) != 0)
            continue;
        put_first(transfers, transfers->bundles[i], i);
        return &transfers->bundles[0].bundle;
    }
    if (!bundles_load(transfers->cache, hash, &loaded))
        return NULL;
    remember(transfers, loaded);
    return &transfers->bundles[0].bundle;
}

static struct want *find_want(struct transfers *transfers, const char *hash)
{
    for (size_t i = 0; i < transfers->n_wants; i++)
        if (strcmp(transfers->wants[i].hash, hash) == 0)
            return &transfers->wants[i];
    return NULL;
}

/* The next chunk of offset 0 empties the part. */
static void start_over(struct transfers *transfers, struct want *want)
{
    transfers->parts_bytes -= want->bytes;
    want->bytes = 0;
}

static void drop_want(struct transfers *transfers, struct want *want)
{
    start_over(transfers, want);
    part_remove(cache_dir(transfers->cache), want->hash);
    asked_end(transfers->cache, want->hash);
    *want = transfers->wants[--transfers->n_wants];
}

static bool is_input(const struct want *want)
{
    return strcmp(want->what, MSG_WANT_INPUT) == 0;
}

/* Of an input the rest is enough; artifacts are sent from their beginning. */
static void ask(struct transfers *transfers, struct want *want, int64_t now_ns,
                struct msg *out)
{
    want->asked_ns = now_ns;
    asked_touch(transfers->cache, want->hash);
    *out = (struct msg){ .type = MSG_WANT,
                         .want = { want->what, want->hash,
                                   is_input(want) ? want->bytes : -1 } };
}

bool transfers_want(struct transfers *transfers, const char *what,
                    const char *hash, int64_t now_ns, struct msg *out)
{
    struct want *want = find_want(transfers, hash);

    if (!want) {
        if (transfers->n_wants == WANTS_MAX ||
            !asked_take(transfers->cache, hash))
            return false;
        want = &transfers->wants[transfers->n_wants++];
        want->what = what;
        memcpy(want->hash, hash, strlen(hash) + 1);
        want->bytes = 0;
    } else if (now_ns - want->asked_ns < WANT_AGAIN_NS) {
        return false;
    }
    ask(transfers, want, now_ns, out);
    return true;
}

bool transfers_want_window(struct transfers *transfers, const char *hash,
                           int64_t now_ns, struct msg *out)
{
    struct want *want = find_want(transfers, hash);

    if (!want || !is_input(want))
        return false;
    want->asked_ns = now_ns; /* on a slow line, too, it is on its way */
    if (want->bytes == 0 || want->bytes % MSG_WINDOW_MAX != 0)
        return false;
    ask(transfers, want, now_ns, out);
    return true;
}

void transfers_forget_want(struct transfers *transfers, const char *hash)
{
    struct want *want = find_want(transfers, hash);

    if (want)
        drop_want(transfers, want);
}

void transfers_forget_wants(struct transfers *transfers)
{
    while (transfers->n_wants > 0)
        drop_want(transfers, &transfers->wants[transfers->n_wants - 1]);
}

int transfers_take_bundle(struct transfers *transfers, struct msg *msg,
                          struct err *err)
{
    const struct msg_bundle *bundle = &msg->bundle;
    struct want *want = find_want(transfers, bundle->hash);
    char hash[HASH_HEX];

    if (!want)
        return 0;
    if (bundle->names.n != bundle->contents.n)
        return err_set(err, ERR_PROTO, "bundle %s: %zu names, %zu contents",
                       bundle->hash, bundle->names.n, bundle->contents.n);
    sources_hash(&bundle->names, &bundle->contents, hash);
    if (strcmp(hash, bundle->hash) != 0)
        return err_set(err, ERR_PROTO, "bundle %s has the hash %s",
                       bundle->hash, hash);
    (void)bundles_keep(transfers->cache, msg); /* or it is asked for again */
    drop_want(transfers, want);
    remember(transfers, *msg);
    *msg = (struct msg){ 0 };
    return 1;
}

static int check_chunk(const struct msg_artifact *artifact, struct err *err)
{
    if (artifact->total > TRANSFERS_ARTIFACT_MAX ||
        artifact->offset > artifact->total ||
        (int64_t)artifact->chunk.len > artifact->total - artifact->offset)
        return err_set(err, ERR_PROTO, "artifact %s: %zu bytes at %lld of %lld",
                       artifact->hash, artifact->chunk.len,
                       (long long)artifact->offset, (long long)artifact->total);
    return 0;
}

static int add_chunk(struct transfers *transfers, struct want *want,
                     struct bytes chunk, struct err *err)
{
    int64_t len = (int64_t)chunk.len;
    int rc;

    if (len > transfers->parts_max - transfers->parts_bytes)
        return err_set(err, ERR_PROTO,
                       "artifact %s: %zu bytes more, with %lld of at most "
                       "%lld bytes of incomplete artifacts here",
                       want->hash, chunk.len, (long long)transfers->parts_bytes,
                       (long long)transfers->parts_max);
    rc = part_add(cache_dir(transfers->cache), want->hash, want->bytes, chunk,
                  err);
    if (rc < 0)
        return rc;
    asked_touch(transfers->cache, want->hash);
    want->bytes += len;
    transfers->parts_bytes += len;
    return 0;
}

/* All of it is here. */
static int store(struct transfers *transfers, struct want *want,
                 struct err *err)
{
    char path[PATH_MAX];
    int rc = part_path(cache_dir(transfers->cache), want->hash, path, err);

    if (rc == 0)
        rc = cache_put(transfers->cache, want->hash, path, err);
    if (rc == 0)
        drop_want(transfers, want);
    else
        start_over(transfers, want);
    return rc;
}

int transfers_take_chunk(struct transfers *transfers,
                         const struct msg_artifact *artifact, struct err *err)
{
    struct want *want = find_want(transfers, artifact->hash);
    int rc;

    if (!want)
        return 0;
    rc = check_chunk(artifact, err);
    if (rc < 0)
        return rc;
    if (artifact->offset == 0) /* asked twice: the second one starts over */
        start_over(transfers, want);
    if (artifact->offset != want->bytes)
        return 0; /* of an answer that another one has overtaken */
    rc = add_chunk(transfers, want, artifact->chunk, err);
    if (rc < 0 || want->bytes < artifact->total)
        return rc;
    rc = store(transfers, want, err);
    return rc < 0 ? rc : 1;
}

bool transfers_fetch(struct transfers *transfers, const char *hash)
{
    char path[PATH_MAX];

    if (transfers->n_fetches == FETCHES_MAX ||
        !cache_path(transfers->cache, hash, path))
        return false;
    for (size_t i = 0; i < transfers->n_fetches; i++)
        if (strcmp(transfers->fetches[i].hash, hash) == 0)
            return true; /* it is on its way */
    memcpy(transfers->fetches[transfers->n_fetches].hash, hash, HASH_HEX);
    transfers->fetches[transfers->n_fetches++].offset = 0;
    return true;
}

static void drop_first_fetch(struct transfers *transfers)
{
    transfers->n_fetches--;
    memmove(&transfers->fetches[0], &transfers->fetches[1],
            transfers->n_fetches * sizeof(transfers->fetches[0]));
}

bool transfers_next_chunk(struct transfers *transfers, struct msg *out)
{
    struct fetch *fetch = &transfers->fetches[0];
    int64_t total, n;

    if (transfers->n_fetches == 0)
        return false;
    memcpy(transfers->sending, fetch->hash, HASH_HEX);
    n = cache_read(transfers->cache, fetch->hash, fetch->offset,
                   transfers->chunk, MSG_CHUNK_MAX, &total, NULL);
    if (n < 0 || (n == 0 && total > fetch->offset)) {
        drop_first_fetch(transfers);
        *out = (struct msg){ .type = MSG_MISSING,
                             .missing = { .hash = transfers->sending } };
        return true;
    }
    *out = (struct msg){ .type = MSG_ARTIFACT,
                         .artifact = {
                             .hash = transfers->sending,
                             .offset = fetch->offset,
                             .total = total,
                             .chunk = { transfers->chunk, (size_t)n } } };
    fetch->offset += n;
    if (fetch->offset >= total)
        drop_first_fetch(transfers);
    return true;
}
