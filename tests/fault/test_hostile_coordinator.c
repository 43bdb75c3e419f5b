/* A coordinator gone mad, with the right keys, against a real worker
 *
 * After each hostility an honest coordinator comes, and finds the same worker
 * ready.  The worker stays small, and writes nothing outside of its folder.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/frame.h"
#include "common/hash.h"
#include "common/sources.h"
#include "coordinator/stats/prng.h"
#include "tests/e2e/coord.h"
#include "tests/e2e/kernel.h"
#include "worker/store/part.h"

#define MEMORY_KIB (128 << 10)
#define SEED 20
#define NO_FILE "00000000000000000000000000000000" /* the hash of no file */

static struct coord coord;
static struct prng prng;

/* ---- what must hold ---- */

static long peak_kib(pid_t pid)
{
    char path[32], line[128];
    long kib = 0;
    FILE *status;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    status = fopen(path, "re");
    assert_non_null(status);
    while (fgets(line, sizeof(line), status))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            break;
    fclose(status);
    return kib;
}

/* The folder around the work folder has what the test itself put there. */
static void assert_nothing_escaped(void)
{
    DIR *folder = opendir(coord.folder);
    struct dirent *entry;

    assert_non_null(folder);
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "work") != 0 &&
            strcmp(entry->d_name, "router") != 0)
            fail_msg("%s/%s was written", coord.folder, entry->d_name);
    closedir(folder);
    assert_int_equal(access("/tmp/fa-escaped", F_OK), -1);
}

static void be_honest(void)
{
    pid_t before = coord.worker;

    coord_cut(&coord);
    coord.epoch++;
    coord.invitation = NULL;
    coord.bundle = &kernel_bundle;
    coord_up(&coord, 1);
    if (before > 0)
        assert_int_equal(coord.worker, before);
    assert_in_range(peak_kib(coord.worker), 1, MEMORY_KIB);
    assert_nothing_escaped();
}

/* A newer coordinator, which its worker welcomes as any other. */
static void come_again(void)
{
    coord_cut(&coord);
    coord.epoch++;
    coord.bundle = NULL;
    coord_attach(&coord);
}

/* Until the worker has taken all that was sent. */
static void sync_with_it(void)
{
    coord_send(&coord,
               &(struct msg){ .type = MSG_FETCH, .fetch.hash = NO_FILE });
    coord_expect(&coord, MSG_MISSING);
}

static int group_set_up(void **state)
{
    prng_init(&prng, SEED);
    coord_open(&coord);
    coord.beats = true;
    (void)kernel_set_up(state);
    be_honest();
    return 0;
}

static int group_tear_down(void **state)
{
    coord_close(&coord);
    return kernel_tear_down(state);
}

/* ---- on the stream ---- */

/* The relay ends, with one line that says why. */
static void assert_refused(const char *why)
{
    const char *said;

    assert_int_not_equal(coord_await_end(&coord), 0);
    said = buf_text(&coord.said);
    if (!strstr(said, why) || strchr(said, '\n') != strrchr(said, '\n'))
        fail_msg("it says: %s", said);
}

static void invite_with(const char *text)
{
    coord.invitation = text;
    come_again();
}

static void noise_for_an_invitation(void **state)
{
    (void)state;
    invite_with("\x01\xff\x03 PING\n\n");
    assert_refused("invitation");
    be_honest();
}

static void an_invitation_without_end(void **state)
{
    static char text[64 << 10];

    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    invite_with(text);
    assert_refused("invitation");
    be_honest();
}

static void an_epoch_after_the_end_of_time(void **state)
{
    struct invite invite = { .epoch = INT64_MAX,
                             .linger_ms = 1000,
                             .owner = coord.owner,
                             .endpoint = INVITE_RELAY };
    char text[INVITE_BYTES_MAX],
        *keys[] = { invite.server_key, invite.public_key, invite.secret_key };

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        memset(keys[i], '0', CURVE_KEY_BYTES - 1);
    invite_write(&invite, text);
    invite_with(text);
    assert_refused("epoch");
    be_honest();
}

/* Past the pump, which writes frames only. */
static void write_raw(const void *bytes, size_t len)
{
    assert_int_equal(write(coord.in, bytes, len), (ssize_t)len);
}

static void bytes_that_are_no_frames(void **state)
{
    (void)state;
    come_again();
    write_raw("\xff\xff\xff\xff\xff\xff\xff\xff", FRAME_HEADER_BYTES);
    assert_refused("frame");
    be_honest();
}

static void a_frame_without_end(void **state)
{
    (void)state;
    come_again();
    write_raw("\x02\x00\x01\x00\xff\xff\xff\xff", FRAME_HEADER_BYTES);
    assert_refused("frame");
    be_honest();
}

/* DATA and CLOSE of streams that are not there, and noise on one that is: under
 * CURVE it only costs that connection. */
static void frames_of_the_wrong_streams(void **state)
{
    unsigned char bytes[FRAME_HEADER_BYTES + 8] = { 0 };

    (void)state;
    come_again();
    coord_expect(&coord, MSG_HELLO);
    for (uint16_t i = 0; i < 2000; i++) {
        struct frame frame = { .type = i % 2 ? FRAME_DATA : FRAME_CLOSE,
                               .stream = (uint16_t)(i + 40),
                               .len = i % 2 ? 8 : 0 };

        frame_put(&frame, bytes);
        write_raw(bytes, FRAME_HEADER_BYTES + frame.len);
    }
    for (uint16_t stream = 0; stream < 4; stream++) {
        frame_put(&(struct frame){ FRAME_DATA, stream, 8 }, bytes);
        write_raw(bytes, sizeof(bytes));
    }
    coord_idle(&coord, 50);
    be_honest();
}

/* ---- messages that are none: all three on one connection ---- */

static void noise_for_messages(void **state)
{
    unsigned char bytes[512];

    (void)state;
    for (int i = 0; i < 5000; i++) {
        size_t len = prng_below(&prng, sizeof(bytes));

        for (size_t at = 0; at < len; at++)
            bytes[at] = (unsigned char)prng_next(&prng);
        if (len > 0 && i % 2) /* a map: what a message is */
            bytes[0] = (unsigned char)(0x80 | bytes[0] % 16);
        coord_send_bytes(&coord, bytes, len);
    }
    sync_with_it();
}

static struct msg build_of(int64_t lease, const char *bundle,
                           const char *source, const char *header)
{
    return (struct msg){
        .type = MSG_BUILD,
        .epoch = coord.epoch,
        .build = { .work = { .lease = lease,
                             .id = { "test", "c", "", "kernel", "build", 0, 1 },
                             .key = NO_FILE },
                   .bundle = bundle,
                   .source = source,
                   .header = header,
                   .entry = "add",
                   .standard = "c++17",
                   .arch = "cpu",
                   .limit_ms = 60000 }
    };
}

static void messages_cut_and_damaged(void **state)
{
    struct msg build = build_of(1, NO_FILE, "add.cu", "");
    struct buf whole;
    struct err err;

    (void)state;
    buf_init(&whole, MSG_BYTES_MAX);
    build.epoch = coord.epoch;
    assert_int_equal(msg_encode(&build, &whole, &err), 0);
    for (size_t len = 0; len < whole.len; len++)
        coord_send_bytes(&coord, whole.bytes, len);
    for (int i = 0; i < 5000; i++) {
        size_t at = prng_below(&prng, whole.len);
        char kept = whole.bytes[at];

        whole.bytes[at] = (char)prng_next(&prng);
        coord_send_bytes(&coord, whole.bytes, whole.len);
        whole.bytes[at] = kept;
    }
    buf_fini(&whole);
    sync_with_it();
}

static void counts_beyond_all_bounds(void **state)
{
    static const char *const huge[] = {
        "\xdf\xff\xff\xff\xff", "\xdd\xff\xff\xff\xff", "\xdb\xff\xff\xff\xff",
        "\xc6\xff\xff\xff\xff", "\xc9\xff\xff\xff\xff", "\xdf\x7f\xff\xff\xff",
    };
    char nested[4096];

    (void)state;
    for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++) {
        char bytes[16] = "\x82\xa1t\xa3"
                         "ACK\xa6";

        coord_send_bytes(&coord, huge[i], 5);
        memcpy(bytes + 8, huge[i], 5);
        coord_send_bytes(&coord, bytes, 13);
    }
    memset(nested, 0x91, sizeof(nested)); /* a list in a list in a list ... */
    coord_send_bytes(&coord, nested, sizeof(nested));
    memset(nested, 0x81, sizeof(nested));
    coord_send_bytes(&coord, nested, sizeof(nested));
    sync_with_it();
    be_honest();
}

/* ---- orders ---- */

static void leases_before_it_is_ready(void **state)
{
    struct msg build = build_of(1, kernel_bundle.bundle.hash, "add.cu", "");
    struct msg said;

    (void)state;
    coord_stop(&coord, "now"); /* so that the next one is not ready yet */
    assert_int_equal(coord_reap_worker(&coord), 0);
    come_again();
    coord_expect(&coord, MSG_HELLO);
    coord_send(&coord, &build);
    coord_await(&coord, MSG_REFUSE, &said);
    assert_string_equal(said.refuse.text, "the worker is not ready");
    msg_fini(&said);
    be_honest();
}

static void leases_without_end(void **state)
{
    size_t refused;

    (void)state;
    come_again();
    refused = coord.seen[MSG_REFUSE];
    coord_welcome(&coord, "none", 1);
    coord_expect(&coord, MSG_READY);
    for (int i = 0; i < 20000; i++) {
        struct msg build = build_of(10 + i, NO_FILE, "add.cu", "");

        coord_send(&coord, &build);
    }
    sync_with_it();
    assert_in_range(coord.seen[MSG_REFUSE] - refused, 19000, 20000);
    be_honest();
}

static void fat_leases_in_many_slots(void **state)
{
    static char header[60 << 10];

    (void)state;
    memset(header, ' ', sizeof(header) - 1);
    come_again();
    coord_welcome(&coord, "none", 4096);
    coord_expect(&coord, MSG_READY);
    for (int i = 0; i < 4096; i++) {
        struct msg build = build_of(10 + i, NO_FILE, "add.cu", header);

        coord_send(&coord, &build);
        coord_idle(&coord, 0);
    }
    sync_with_it();
    be_honest();
}

static void orders_of_another_epoch(void **state)
{
    int64_t epoch = coord.epoch;

    (void)state;
    coord.epoch = INT64_MAX;
    coord_stop(&coord, "now");
    coord.epoch = 0;
    coord_stop(&coord, "now");
    coord.epoch = epoch;
    sync_with_it();
    be_honest();
}

/* ---- files ---- */

/* Offer this file under this name; the worker builds it, or says why not. */
static void offer(const char *name, const char *source)
{
    static int64_t lease = 100;
    const char *names[] = { "add.cu", name };
    const struct bytes contents[] = { { "", 0 }, { "escaped", 7 } };
    char hash[HASH_HEX];
    struct msg bundle = { .type = MSG_BUNDLE,
                          .bundle = { .hash = hash,
                                      .names = { names, 2 },
                                      .contents = { contents, 2 } } };
    struct msg build, said;

    sources_hash(&bundle.bundle.names, &bundle.bundle.contents, hash);
    build = build_of(lease++, hash, source, "");
    coord.bundle = &bundle;
    coord_send(&coord, &build);
    coord_await(&coord, MSG_BUILT, &said);
    coord.bundle = NULL;
    assert_string_not_equal(said.built.result.outcome, "built");
    coord_ack(&coord, said.built.result.nonce);
    msg_fini(&said);
}

static void names_that_lead_out_of_the_folder(void **state)
{
    static const char *const names[] = {
        "../../../../escaped",
        "/tmp/fa-escaped",
        "a/../../../../../escaped",
        "fa/../../../../../escaped",
        "..",
        ".",
        "",
        "-o/tmp/fa-escaped",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        offer(names[i], "add.cu");
        offer("fine.cu", names[i]);
    }
    be_honest();
}

static void hashes_that_are_paths(void **state)
{
    static const char *const hashes[] = { "../lock", "../../../../etc/passwd",
                                          "", ".", "../../escaped" };

    (void)state;
    for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
        struct msg build = build_of(300 + (int64_t)i, hashes[i], "add.cu", "");
        struct msg said;

        coord_send(&coord,
                   &(struct msg){ .type = MSG_FETCH, .fetch.hash = hashes[i] });
        coord_expect(&coord, MSG_MISSING);
        coord_send(
            &coord,
            &(struct msg){ .type = MSG_ARTIFACT,
                           .artifact = { hashes[i], 0, 7, { "escaped", 7 } } });
        coord_send(&coord, &build);
        coord_await(&coord, MSG_REFUSE, &said);
        assert_non_null(strstr(said.refuse.text, "is not a hash"));
        msg_fini(&said);
    }
    be_honest();
}

static void chunks_that_were_never_wanted(void **state)
{
    static char chunk[MSG_CHUNK_MAX];
    char hash[HASH_HEX];

    (void)state;
    for (int i = 0; i < 640; i++) {
        hash_of(&i, sizeof(i), hash);
        coord_send(
            &coord,
            &(struct msg){
                .type = MSG_ARTIFACT,
                .artifact = { hash, 0, INT32_MAX, { chunk, sizeof(chunk) } } });
        if (i % 16 == 15)
            sync_with_it();
    }
    be_honest();
}

static void a_bundle_that_is_another(void **state)
{
    struct msg other = kernel_bundle,
               build = build_of(400, NO_FILE, "a.cu", "");

    (void)state;
    coord.bundle = NULL;
    coord_send(&coord, &build);
    coord_expect(&coord, MSG_WANT);
    other.bundle.hash = NO_FILE;
    for (int i = 0; i < 200; i++)
        coord_send(&coord, &other);
    sync_with_it();
    be_honest();
}

/* A lease for the GPU of this machine that needs three files. */
static void lease_with_inputs(const char *const files[3])
{
    struct msg gpu, measure;

    come_again();
    coord_welcome(&coord, "all", 1);
    coord_await(&coord, MSG_GPU, &gpu);
    coord_expect(&coord, MSG_READY);
    measure = (struct msg){
        .type = MSG_MEASURE,
        .measure = { .work = { .lease = 500,
                               .id = { "test", "c", "", "kernel", "measure", 0,
                                       1 },
                               .key = NO_FILE },
                     .launch = { .gpu = gpu.gpu.uuid,
                                 .artifact = files[0],
                                 .reference = files[1],
                                 .request = KERNEL_REQUEST,
                                 .inputs = { (const char **)files + 2, 1 },
                                 .limit_ms = 60000 } }
    };
    coord_send(&coord, &measure);
    for (size_t i = 0; i < 3; i++)
        coord_expect(&coord, MSG_WANT);
    msg_fini(&gpu);
}

/* Together more than the worker may have in memory. */
static void files_that_never_end(void **state)
{
    static const char *const files[] = { "00000000000000000000000000000001",
                                         "00000000000000000000000000000002",
                                         "00000000000000000000000000000003" };
    static const char chunk[MSG_CHUNK_MAX];
    const int64_t each = (MEMORY_KIB << 10) / 3 + MSG_CHUNK_MAX;
    char path[PATH_MAX];
    struct stat part;

    (void)state;
    lease_with_inputs(files);
    for (int64_t at = 0; at < each; at += MSG_CHUNK_MAX) {
        for (size_t i = 0; i < 3; i++)
            coord_send(
                &coord,
                &(struct msg){
                    .type = MSG_ARTIFACT,
                    .artifact = {
                        files[i], at, 64 << 20, { chunk, sizeof(chunk) } } });
        if (at / MSG_CHUNK_MAX % 4 == 3)
            sync_with_it();
    }
    sync_with_it();
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(part_path(coord.work, files[i], path, NULL), 0);
        assert_int_equal(stat(path, &part), 0);
        assert_true(part.st_size >= each);
    }
    be_honest();
}

/* ---- and then ---- */

static void it_still_builds_for_an_honest_one(void **state)
{
    struct msg built;

    (void)state;
    kernel_build(&coord, 1000, "ref.cu", "ref");
    coord_await(&coord, MSG_BUILT, &built);
    assert_string_equal(built.built.result.outcome, "built");
    coord_ack(&coord, built.built.result.nonce);
    msg_fini(&built);
    coord_stop(&coord, "drain");
    coord_expect(&coord, MSG_BYE);
    assert_int_equal(coord_reap_worker(&coord), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_for_an_invitation),
        cmocka_unit_test(an_invitation_without_end),
        cmocka_unit_test(an_epoch_after_the_end_of_time),
        cmocka_unit_test(bytes_that_are_no_frames),
        cmocka_unit_test(a_frame_without_end),
        cmocka_unit_test(frames_of_the_wrong_streams),
        cmocka_unit_test(noise_for_messages),
        cmocka_unit_test(messages_cut_and_damaged),
        cmocka_unit_test(counts_beyond_all_bounds),
        cmocka_unit_test(leases_before_it_is_ready),
        cmocka_unit_test(leases_without_end),
        cmocka_unit_test(fat_leases_in_many_slots),
        cmocka_unit_test(orders_of_another_epoch),
        cmocka_unit_test(names_that_lead_out_of_the_folder),
        cmocka_unit_test(hashes_that_are_paths),
        cmocka_unit_test(chunks_that_were_never_wanted),
        cmocka_unit_test(a_bundle_that_is_another),
        cmocka_unit_test(files_that_never_end),
        cmocka_unit_test(it_still_builds_for_an_honest_one),
    };

    return cmocka_run_group_tests(tests, group_set_up, group_tear_down);
}
