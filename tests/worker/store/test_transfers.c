#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/sources.h"
#include "worker/store/build_dir.h"
#include "worker/store/part.h"
#include "worker/store/transfers.h"

#define TEXT "a cubin of some kind"
#define PARTS_BYTES (2 * MSG_WINDOW_MAX)

struct box {
    char dir[32];
    struct cache *cache;
    struct transfers *transfers;
    char hash[HASH_HEX]; /* of TEXT */
};

static int set_up(void **state)
{
    struct box *box = calloc(1, sizeof(*box));
    struct err err;

    assert_int_equal(hash_setup(&err), 0);
    snprintf(box->dir, sizeof(box->dir), "/tmp/fa-files-XXXXXX");
    assert_non_null(mkdtemp(box->dir));
    assert_int_equal(
        cache_open(box->dir, box->dir, CACHE_BYTES, &box->cache, &err), 0);
    box->transfers = transfers_new(box->cache, PARTS_BYTES);
    hash_of(TEXT, strlen(TEXT), box->hash);
    *state = box;
    return 0;
}

static int tear_down(void **state)
{
    struct box *box = *state;

    transfers_free(box->transfers);
    cache_close(box->cache);
    assert_true(build_dir_remove_tree(box->dir));
    free(box);
    return 0;
}

static bool wants(struct box *box, int64_t now_ns)
{
    struct msg msg;

    if (!transfers_want(box->transfers, MSG_WANT_ARTIFACT, box->hash, now_ns,
                        &msg))
        return false;
    assert_int_equal(msg.type, MSG_WANT);
    assert_string_equal(msg.want.what, MSG_WANT_ARTIFACT);
    assert_string_equal(msg.want.hash, box->hash);
    return true;
}

static int chunk(struct box *box, const char *hash, int64_t offset,
                 const char *bytes, size_t len, struct err *err)
{
    struct msg_artifact artifact = { .hash = hash,
                                     .offset = offset,
                                     .total = (int64_t)strlen(TEXT),
                                     .chunk = { bytes, len } };

    return transfers_take_chunk(box->transfers, &artifact, err);
}

static void chunks_become_an_artifact(void **state)
{
    struct box *box = *state;

    assert_true(wants(box, 1));
    assert_int_equal(chunk(box, box->hash, 0, TEXT, 7, NULL), 0);
    assert_false(cache_has(box->cache, box->hash));
    assert_int_equal(chunk(box, box->hash, 7, &TEXT[7], strlen(TEXT) - 7, NULL),
                     1);
    assert_true(cache_has(box->cache, box->hash));
}

static void a_wrong_byte_is_not_stored(void **state)
{
    struct box *box = *state;
    struct err err;

    assert_true(wants(box, 1));
    assert_int_equal(
        chunk(box, box->hash, 0, "A cubin of some kind", strlen(TEXT), &err),
        ERR_PROTO);
    assert_false(cache_has(box->cache, box->hash));
    assert_int_equal(chunk(box, box->hash, 0, TEXT, strlen(TEXT), &err), 1);
}

static void lengths_that_cannot_be_are_refused(void **state)
{
    struct box *box = *state;
    struct err err;

    assert_true(wants(box, 1));
    assert_int_equal(chunk(box, box->hash, 15, TEXT, 10, &err), ERR_PROTO);
    assert_int_equal(chunk(box, box->hash, 1 << 30, TEXT, 1, &err), ERR_PROTO);
    assert_int_equal(chunk(box, box->hash, 5, TEXT, 3, &err), 0); /* a gap */
    assert_int_equal(chunk(box, box->hash, 0, TEXT, strlen(TEXT), &err), 1);
}

static bool has_part(struct box *box, const char *hash)
{
    char path[PATH_MAX];

    assert_int_equal(part_path(box->dir, hash, path, NULL), 0);
    return access(path, F_OK) == 0;
}

static void what_is_incomplete_is_in_a_file(void **state)
{
    struct box *box = *state;

    assert_true(wants(box, 1));
    assert_int_equal(chunk(box, box->hash, 0, TEXT, 7, NULL), 0);
    assert_true(has_part(box, box->hash));
    transfers_forget_wants(box->transfers);
    assert_false(has_part(box, box->hash));
    assert_true(wants(box, 1));
    assert_int_equal(chunk(box, box->hash, 0, TEXT, strlen(TEXT), NULL), 1);
    assert_false(has_part(box, box->hash));
}

/* An input of which this chunk is the first. */
static int begin_input(struct box *box, const char *hash, size_t len,
                       struct err *err)
{
    static const char bytes[PARTS_BYTES];
    const struct msg_artifact first = { .hash = hash,
                                        .total = TRANSFERS_ARTIFACT_MAX,
                                        .chunk = { bytes, len } };
    struct msg msg;

    (void)transfers_want(box->transfers, MSG_WANT_INPUT, hash, 1, &msg);
    return transfers_take_chunk(box->transfers, &first, err);
}

static void incomplete_files_have_a_ceiling_together(void **state)
{
    static const char one[] = "00000000000000000000000000000001",
                      two[] = "00000000000000000000000000000002";
    struct box *box = *state;
    struct err err;

    assert_int_equal(begin_input(box, one, PARTS_BYTES - 1, &err), 0);
    assert_int_equal(begin_input(box, two, 1, &err), 0);
    assert_true(wants(box, 1));
    assert_int_equal(chunk(box, box->hash, 0, TEXT, strlen(TEXT), &err),
                     ERR_PROTO);
    assert_non_null(strstr(err.text, "2097152 of at most 2097152 bytes of "
                                     "incomplete artifacts"));
    assert_int_equal(begin_input(box, one, 1, &err), 0); /* starts over */
    assert_int_equal(chunk(box, box->hash, 0, TEXT, strlen(TEXT), &err), 1);
    transfers_forget_want(box->transfers, one);
    transfers_forget_want(box->transfers, two);
    assert_int_equal(begin_input(box, one, PARTS_BYTES, &err), 0);
}

/* The chunk is lost, and the file can still arrive. */
static void a_chunk_that_cannot_be_written_is_asked_for_again(void **state)
{
    struct box *box = *state;
    char path[PATH_MAX];
    struct err err;

    assert_int_equal(part_path(box->dir, box->hash, path, NULL), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(wants(box, 1));
    assert_int_equal(chunk(box, box->hash, 0, TEXT, 7, &err), ERR_SYSTEM);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(chunk(box, box->hash, 7, &TEXT[7], 3, &err), 0);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(chunk(box, box->hash, 0, TEXT, strlen(TEXT), &err), 1);
}

static void what_nobody_asked_for_is_dropped(void **state)
{
    struct box *box = *state;

    assert_int_equal(chunk(box, box->hash, 0, TEXT, strlen(TEXT), NULL), 0);
    assert_false(cache_has(box->cache, box->hash));
}

static void a_file_is_asked_for_once_in_a_while(void **state)
{
    struct box *box = *state;

    assert_true(wants(box, NS_PER_S));
    assert_false(wants(box, 10 * NS_PER_S));
    assert_true(wants(box, 12 * NS_PER_S));
}

/* An input comes in windows; a lost one is asked for from where it is. */
static void an_input_is_asked_for_window_by_window(void **state)
{
    enum {
        TOTAL = MSG_WINDOW_MAX + MSG_CHUNK_MAX + 5
    };
    struct box *box = *state;
    char *bytes = calloc(1, TOTAL), hash[HASH_HEX];
    struct msg_artifact part = { .hash = hash, .total = TOTAL };
    struct msg msg;
    int windows = 0;

    hash_of(bytes, TOTAL, hash);
    assert_true(
        transfers_want(box->transfers, MSG_WANT_INPUT, hash, NS_PER_S, &msg));
    assert_int_equal(msg.want.offset, 0);
    assert_false(transfers_want_window(box->transfers, hash, NS_PER_S, &msg));
    for (; part.total - part.offset > MSG_CHUNK_MAX;
         part.offset += MSG_CHUNK_MAX) {
        part.chunk = (struct bytes){ &bytes[part.offset], MSG_CHUNK_MAX };
        assert_int_equal(transfers_take_chunk(box->transfers, &part, NULL), 0);
        windows +=
            transfers_want_window(box->transfers, hash, 5 * NS_PER_S, &msg);
    }
    assert_int_equal(windows, 1);
    assert_int_equal(msg.want.offset, MSG_WINDOW_MAX);
    assert_false(transfers_want(box->transfers, MSG_WANT_INPUT, hash,
                                14 * NS_PER_S, &msg));
    assert_true(transfers_want(box->transfers, MSG_WANT_INPUT, hash,
                               16 * NS_PER_S, &msg));
    assert_int_equal(msg.want.offset, part.offset);
    part.chunk = (struct bytes){ &bytes[part.offset], 5 };
    assert_int_equal(transfers_take_chunk(box->transfers, &part, NULL), 1);
    assert_true(cache_has(box->cache, hash));
    free(bytes);
}

static void an_artifact_goes_out_in_chunks(void **state)
{
    enum {
        TOTAL = MSG_CHUNK_MAX + 5
    };
    struct box *box = *state;
    char *bytes = calloc(1, TOTAL), hash[HASH_HEX], path[PATH_MAX];
    struct msg msg;

    hash_of(bytes, TOTAL, hash);
    assert_int_equal(
        part_add(box->dir, hash, 0, (struct bytes){ bytes, TOTAL }, NULL), 0);
    assert_int_equal(part_path(box->dir, hash, path, NULL), 0);
    assert_int_equal(cache_put(box->cache, hash, path, NULL), 0);
    assert_false(transfers_fetch(box->transfers, box->hash));
    assert_true(transfers_fetch(box->transfers, hash));
    assert_true(transfers_next_chunk(box->transfers, &msg));
    assert_int_equal(msg.artifact.offset, 0);
    assert_int_equal(msg.artifact.chunk.len, MSG_CHUNK_MAX);
    assert_true(transfers_next_chunk(box->transfers, &msg));
    assert_int_equal(msg.artifact.offset, MSG_CHUNK_MAX);
    assert_int_equal(msg.artifact.chunk.len, 5);
    assert_int_equal(msg.artifact.total, TOTAL);
    assert_string_equal(msg.artifact.hash, hash);
    assert_false(transfers_next_chunk(box->transfers, &msg));
    free(bytes);
}

#define boxed(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* A bundle of one file, as it is sent. */
static struct msg bundle_of(const char **name, struct bytes *content,
                            char hash[HASH_HEX])
{
    struct msg msg = { .type = MSG_BUNDLE,
                       .epoch = 7,
                       .bundle = { .hash = hash,
                                   .names = { name, 1 },
                                   .contents = { content, 1 } } };

    sources_hash(&msg.bundle.names, &msg.bundle.contents, hash);
    return msg;
}

/* What arrives is decoded memory. */
static void send_bundle(struct box *box)
{
    const char *name = "add.cu";
    struct bytes content = { TEXT, strlen(TEXT) };
    char hash[HASH_HEX];
    struct msg msg = bundle_of(&name, &content, hash), sent, want;
    struct buf bytes;

    memcpy(box->hash, hash, HASH_HEX);
    assert_true(
        transfers_want(box->transfers, MSG_WANT_BUNDLE, hash, 1, &want));
    buf_init(&bytes, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&msg, &bytes, NULL), 0);
    assert_int_equal(msg_decode(bytes.bytes, bytes.len, &sent, NULL), 0);
    assert_int_equal(transfers_take_bundle(box->transfers, &sent, NULL), 1);
    msg_fini(&sent);
    buf_fini(&bytes);
}

/* The next worker of the folder, or another set of its GPUs. */
static void come_again(struct box *box)
{
    transfers_free(box->transfers);
    box->transfers = transfers_new(box->cache, PARTS_BYTES);
}

static void a_bundle_travels_once(void **state)
{
    struct box *box = *state;
    const struct msg_bundle *bundle;

    send_bundle(box);
    come_again(box);
    bundle = transfers_bundle(box->transfers, box->hash);
    assert_non_null(bundle);
    assert_string_equal(bundle->names.items[0], "add.cu");
    assert_int_equal(bundle->contents.items[0].len, strlen(TEXT));
    assert_memory_equal(bundle->contents.items[0].data, TEXT, strlen(TEXT));
}

static void bundle_path(const struct box *box, char path[80])
{
    snprintf(path, 80, "%s/bundles/%s", box->dir, box->hash);
}

static void one_that_was_removed_is_asked_for_again(void **state)
{
    struct box *box = *state;
    char path[80];

    send_bundle(box);
    come_again(box);
    bundle_path(box, path);
    assert_int_equal(unlink(path), 0);
    assert_null(transfers_bundle(box->transfers, box->hash));
}

/* A byte of its content, of its framing, and its end. */
static void one_that_was_damaged_is_asked_for_again(void **state)
{
    struct box *box = *state;
    char path[80];

    for (int kind = 0; kind < 3; kind++) {
        struct stat stat;
        FILE *file;

        send_bundle(box);
        come_again(box);
        bundle_path(box, path);
        assert_int_equal(lstat(path, &stat), 0);
        file = fopen(path, "r+");
        assert_non_null(file);
        fseek(file, kind == 0 ? stat.st_size - 3 : 1, SEEK_SET);
        fputc('#', file);
        fclose(file);
        if (kind == 2)
            assert_int_equal(truncate(path, stat.st_size / 2), 0);
        assert_null(transfers_bundle(box->transfers, box->hash));
        assert_int_equal(access(path, F_OK), -1);
    }
}

static void what_another_worker_asked_for_is_waited_for(void **state)
{
    struct box *box = *state;
    struct cache *other_cache;
    struct transfers *other, *killed;
    struct timespec old[2] = { { 1, 0 }, { 1, 0 } };
    char dir[80], path[80];
    struct msg msg;

    snprintf(dir, sizeof(dir), "%s/gpus-1", box->dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(cache_open(box->dir, dir, CACHE_BYTES, &other_cache, NULL),
                     0);
    other = transfers_new(other_cache, PARTS_BYTES);
    assert_true(wants(box, 1));
    assert_false(transfers_want(other, MSG_WANT_ARTIFACT, box->hash, 1, &msg));
    killed = box->transfers; /* its successor does not wait for it */
    box->transfers = transfers_new(box->cache, PARTS_BYTES);
    assert_true(wants(box, 1));
    snprintf(path, sizeof(path), "%s/asked/%s", box->dir, box->hash);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0); /* it was silent */
    assert_true(transfers_want(other, MSG_WANT_ARTIFACT, box->hash, 1, &msg));
    transfers_forget_wants(other);
    assert_int_equal(access(path, F_OK), -1);
    transfers_free(killed);
    transfers_free(other);
    cache_close(other_cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        boxed(chunks_become_an_artifact),
        boxed(a_wrong_byte_is_not_stored),
        boxed(lengths_that_cannot_be_are_refused),
        boxed(what_is_incomplete_is_in_a_file),
        boxed(incomplete_files_have_a_ceiling_together),
        boxed(a_chunk_that_cannot_be_written_is_asked_for_again),
        boxed(what_nobody_asked_for_is_dropped),
        boxed(a_file_is_asked_for_once_in_a_while),
        boxed(an_input_is_asked_for_window_by_window),
        boxed(an_artifact_goes_out_in_chunks),
        boxed(a_bundle_travels_once),
        boxed(one_that_was_removed_is_asked_for_again),
        boxed(one_that_was_damaged_is_asked_for_again),
        boxed(what_another_worker_asked_for_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
