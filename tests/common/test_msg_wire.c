/* The bytes of each type of message in version 1 of the protocol.  They must
 * not change, because workers and journals of other builds use them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/hash.h"
#include "common/msg.h"

#define EPOCH 1700000000000000000
#define BUNDLE "c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3"
#define ARTIFACT "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"
#define REFERENCE "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2"

static const char *const lines[] = { "one", "two words", "" };
static const struct bytes files[] = { { "xy\0z", 4 },
                                      { "", 0 },
                                      { "\xff", 1 } };
static const double samples[] = { 1.25e-5, 2e-5 }, rejected[] = { 0.5 },
                    clocks[] = { 1980, 1755.5 }, temps[] = { 41 },
                    powers[] = { 301.5, 99 }, throttles[] = { 0, 4, 8 };

#define LINES    \
    {            \
        lines, 3 \
    }
#define WORK                                      \
    {                                             \
        .lease = 300,                             \
        .id = { .sweep = "sweep",                 \
                .config = "c0ffee",               \
                .shape = "s512",                  \
                .purpose = "screen",              \
                .stage = "measure",               \
                .round = 3,                       \
                .attempt = 70000 },               \
        .key = "0123456789abcdef0123456789abcdef" \
    }
#define RESULT                                                             \
    {                                                                      \
        .nonce = "00112233445566778899aabbccddeeff", .outcome = "correct", \
        .detail = "why", .seconds = 1.5                                    \
    }
#define LAUNCH                                                        \
    {                                                                 \
        .gpu = "GPU-1", .artifact = ARTIFACT, .reference = REFERENCE, \
        .request = "measure\n", .limit_ms = 5000                      \
    }
#define USAGE                                                     \
    {                                                             \
        .registers = 168, .spill_bytes = -1, .static_smem = 49152 \
    }

static const struct row {
    struct msg msg;
    size_t len;
    const char *hash; /* hash_of() the encoding */
} rows[] = {
    { { .type = MSG_HELLO,
        .hello = { .protocol = 1,
                   .version = "1.2.3",
                   .host = "box1",
                   .boot_id = "b00t",
                   .pid = 4711,
                   .cpus = 64,
                   .running = LINES,
                   .journal = 5,
                   .lost = -1 } },
      117,
      "b9cccfdc23fc8fb492d05eb3b391fd2e" },
    { { .type = MSG_INVITE, .invite = { .text = "fa-invitation 1\n\n" } },
      48,
      "bfa70d64d6c288b4b10a46eec392059f" },
    { { .type = MSG_WELCOME,
        .welcome = { .protocol = 1,
                     .sweep = "flash",
                     .device = "cuda",
                     .gpus = "0,1",
                     .nvcc = "/opt/nvcc",
                     .slots = 7,
                     .beat_ms = 5000,
                     .linger_ms = 90000 } },
      117,
      "f0c7c6bf4e724844dd65ba41af81ce95" },
    { { .type = MSG_GPU,
        .gpu = { .index = 2,
                 .uuid = "GPU-2",
                 .name = "H100",
                 .driver = "550.1",
                 .facts = LINES } },
      84,
      "756cdc8192324b6595741fd6e455e3db" },
    { { .type = MSG_READY,
        .ready = { .toolkit = "nvcc 13.0.88",
                   .slots = 15,
                   .n_gpus = 8,
                   .measure_credit = 4 } },
      76,
      "1aa876633074abcaa1873dbd39bb9068" },
    { { .type = MSG_TROUBLE,
        .trouble = { .what = "toolkit", .text = "no nvcc" } },
      52,
      "c38e31dd9fae0b96e085d7e96e24f43e" },
    { { .type = MSG_BUNDLE,
        .bundle = { .hash = BUNDLE,
                    .names = LINES,
                    .contents = { files, 3 } } },
      107,
      "4155b3ba60df511962c52e813c97489e" },
    { { .type = MSG_BUILD,
        .build = { .work = WORK,
                   .bundle = BUNDLE,
                   .source = "a.cu",
                   .header = "#define M 1\n",
                   .entry = "kernel",
                   .standard = "c++17",
                   .flags = LINES,
                   .arch = "sm_90a",
                   .limit_ms = 300000 } },
      308,
      "ead51f0a6551d4b1a0619d35b64fd659" },
    { { .type = MSG_BUILT,
        .built = { .work = WORK,
                   .result = RESULT,
                   .artifact = ARTIFACT,
                   .artifact_bytes = 123456,
                   .log = "ptxas info",
                   .cached = 1,
                   .usage = USAGE } },
      369,
      "68a1f37ab8eb40916ff249f5b0453dba" },
    { { .type = MSG_MEASURE,
        .measure = { .work = WORK, .launch = LAUNCH, .fresh = 1 } },
      294,
      "c0ede86f9cd8abb9d08d62dfe4462a99" },
    { { .type = MSG_MEASURED,
        .measured = { .work = WORK,
                      .result = RESULT,
                      .gpu = "GPU-1",
                      .artifact = ARTIFACT,
                      .argument = "O",
                      .relative_l2 = 1e-3,
                      .max_error = INFINITY,
                      .max_at = -1,
                      .samples = { samples, 2 },
                      .sampling = "settled",
                      .rejected = { rejected, 1 },
                      .l2 = "rotate 4",
                      .checked = { -1, -1 },
                      .blocked = 1,
                      .clock_mhz = { clocks, 2 },
                      .temp_c = { temps, 1 },
                      .power_w = { powers, 2 },
                      .throttle = { throttles, 3 },
                      .held_s = 0.75,
                      .usage = USAGE } },
      608,
      "f79266df2885eb2aec5baa0aac7bb4be" },
    { { .type = MSG_TOOL,
        .tool = { .work = WORK,
                  .launch = LAUNCH,
                  .bundle = BUNDLE,
                  .command = LINES } },
      349,
      "b52cd6c0df4838cae71b3eb5f5a50eee" },
    { { .type = MSG_RAN,
        .ran = { .work = WORK,
                 .result = RESULT,
                 .gpu = "GPU-1",
                 .status = -1,
                 .output = "table",
                 .log = "stderr" } },
      283,
      "c3f270c99d3538bccb4ff1b7f26be75f" },
    { { .type = MSG_STARTED, .started = { .lease = 301 } },
      35,
      "9d9dd86ac217cfeb30fcfb4c31c5986c" },
    { { .type = MSG_REFUSE, .refuse = { .lease = 302, .text = "full" } },
      44,
      "6f6ddcd527a98404b6fd659226d13165" },
    { { .type = MSG_WANT,
        .want = { .what = "bundle", .hash = BUNDLE, .offset = -1 } },
      74,
      "5eb20611f38e0a6e8ee1823924888bb1" },
    { { .type = MSG_FETCH, .fetch = { .hash = ARTIFACT } },
      63,
      "8427ee59f411afc236033f969539c3ad" },
    { { .type = MSG_ARTIFACT,
        .artifact = { .hash = ARTIFACT,
                      .offset = 262144,
                      .total = 262148,
                      .chunk = { "\x7f\0LF", 4 } } },
      101,
      "8bbdba0d69e858f345958af1d6f459a0" },
    { { .type = MSG_MISSING, .missing = { .hash = REFERENCE } },
      65,
      "4f9d68dc0ccc1424879846a24804288e" },
    { { .type = MSG_ACK, .ack = { .nonces = LINES } },
      45,
      "5d3d1fae8467b1a7f1596ff6a00e221e" },
    { { .type = MSG_CANCEL, .cancel = { .lease = 303 } },
      34,
      "b43226b12c85e18ff58a8f8702b59039" },
    { { .type = MSG_BEAT, .beat = { .journal = 6 } },
      32,
      "edd9264ebb946ed0a9d5bc5d60a0f7b3" },
    { { .type = MSG_STOP, .stop = { .what = "drain" } },
      34,
      "0528438fa024de6937e44bfbaacaac44" },
    { { .type = MSG_BYE, .bye = { .text = "signal", .journal = 7 } },
      43,
      "715c620c65eb14b325299613e6720126" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void assert_bytes(const struct row *row, const struct buf *buf)
{
    char hash[HASH_HEX];

    hash_of(buf->bytes, buf->len, hash);
    if (strcmp(hash, row->hash) != 0)
        fail_msg("%s has the hash %s", msg_type_name(row->msg.type), hash);
    assert_int_equal(buf->len, row->len);
}

static void each_type_has_a_row(void **state)
{
    (void)state;
    assert_int_equal(ROWS, MSG_TYPES);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(rows[i].msg.type, i);
}

static void each_type_encodes_to_the_bytes_of_version_1(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct msg msg = rows[i].msg;
        struct buf buf;

        msg.epoch = EPOCH;
        buf_init(&buf, MSG_BYTES_MAX);
        assert_int_equal(msg_encode(&msg, &buf, NULL), 0);
        assert_bytes(&rows[i], &buf);
        buf_fini(&buf);
    }
}

static void what_was_decoded_encodes_to_the_same_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct msg in = rows[i].msg, out;
        struct buf buf, again;

        in.epoch = EPOCH;
        buf_init(&buf, MSG_BYTES_MAX);
        buf_init(&again, MSG_BYTES_MAX);
        assert_int_equal(msg_encode(&in, &buf, NULL), 0);
        assert_int_equal(msg_decode(buf.bytes, buf.len, &out, NULL), 0);
        assert_int_equal(msg_encode(&out, &again, NULL), 0);
        assert_bytes(&rows[i], &again);
        msg_fini(&out);
        buf_fini(&again);
        buf_fini(&buf);
    }
}

/* A build of before neither sends nor knows an optional field. */
static void an_optional_field_is_sent_only_if_it_has_a_value(void **state)
{
    struct msg msg = rows[MSG_BUILD].msg, out;
    struct buf buf;

    (void)state;
    msg.epoch = EPOCH;
    buf_init(&buf, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&msg, &buf, NULL), 0);
    assert_bytes(&rows[MSG_BUILD], &buf);
    assert_int_equal(msg_decode(buf.bytes, buf.len, &out, NULL), 0);
    assert_int_equal(out.build.arguments.n, 0);
    msg_fini(&out);
    buf_clear(&buf);
    msg.build.arguments = (struct texts){ lines, 2 };
    assert_int_equal(msg_encode(&msg, &buf, NULL), 0);
    assert_int_equal(buf.len, rows[MSG_BUILD].len + 25);
    assert_int_equal(msg_decode(buf.bytes, buf.len, &out, NULL), 0);
    assert_int_equal(out.build.arguments.n, 2);
    assert_string_equal(out.build.arguments.items[1], "two words");
    assert_int_equal(out.build.limit_ms, 300000);
    msg_fini(&out);
    buf_fini(&buf);
}

static void what_a_host_shows_and_warns_of_may_be_left_out(void **state)
{
    struct msg welcome = rows[MSG_WELCOME].msg, ready = rows[MSG_READY].msg,
               out;
    struct buf buf;

    (void)state;
    buf_init(&buf, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&welcome, &buf, NULL), 0);
    assert_int_equal(msg_decode(buf.bytes, buf.len, &out, NULL), 0);
    assert_string_equal(out.welcome.allow, "");
    msg_fini(&out);
    buf_clear(&buf);
    welcome.welcome.allow = "~/cuda";
    assert_int_equal(msg_encode(&welcome, &buf, NULL), 0);
    assert_int_equal(msg_decode(buf.bytes, buf.len, &out, NULL), 0);
    assert_string_equal(out.welcome.allow, "~/cuda");
    msg_fini(&out);
    buf_clear(&buf);
    ready.ready.warning = "sockets";
    ready.ready.waits = "GPU 0";
    assert_int_equal(msg_encode(&ready, &buf, NULL), 0);
    assert_int_equal(msg_decode(buf.bytes, buf.len, &out, NULL), 0);
    assert_string_equal(out.ready.warning, "sockets");
    assert_string_equal(out.ready.waits, "GPU 0");
    msg_fini(&out);
    buf_fini(&buf);
}

static void a_result_without_blame_blames_nothing(void **state)
{
    struct msg msg = rows[MSG_MEASURED].msg, out;
    struct buf buf;

    (void)state;
    buf_init(&buf, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&msg, &buf, NULL), 0);
    assert_int_equal(msg_decode(buf.bytes, buf.len, &out, NULL), 0);
    assert_string_equal(out.measured.result.blame, "");
    msg_fini(&out);
    buf_clear(&buf);
    msg.measured.result.blame = MSG_BLAME_REFERENCE;
    assert_int_equal(msg_encode(&msg, &buf, NULL), 0);
    assert_int_equal(msg_decode(buf.bytes, buf.len, &out, NULL), 0);
    assert_string_equal(out.measured.result.blame, "reference");
    msg_fini(&out);
    buf_fini(&buf);
}

static void launches_that_are_not_known_are_not_sent(void **state)
{
    struct msg msg = rows[MSG_MEASURED].msg, out;
    struct buf buf;

    (void)state;
    msg.epoch = EPOCH;
    buf_init(&buf, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&msg, &buf, NULL), 0);
    assert_bytes(&rows[MSG_MEASURED], &buf);
    assert_int_equal(msg_decode(buf.bytes, buf.len, &out, NULL), 0);
    assert_int_equal(out.measured.checked.launches, -1);
    assert_int_equal(out.measured.checked.varied, -1);
    msg_fini(&out);
    buf_clear(&buf);
    msg.measured.checked = (struct msg_checked){ 0, 0 };
    assert_int_equal(msg_encode(&msg, &buf, NULL), 0);
    assert_int_equal(msg_decode(buf.bytes, buf.len, &out, NULL), 0);
    assert_int_equal(out.measured.checked.launches, 0);
    assert_int_equal(out.measured.checked.varied, 0);
    msg_fini(&out);
    buf_clear(&buf);
    msg.measured.checked.varied = 2;
    assert_int_equal(msg_encode(&msg, &buf, NULL), ERR_INPUT);
    buf_fini(&buf);
}

static void the_parts_that_types_share_are_those_of_the_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        const struct msg *msg = &rows[i].msg;
        const struct msg_work *work = msg_work(msg);
        const struct msg_result *result = msg_result(msg);
        const struct msg_launch *launch = msg_launch(msg);

        assert_int_equal(work != NULL, i >= MSG_BUILD && i <= MSG_RAN);
        assert_int_equal(result != NULL, msg_is_result(msg->type));
        assert_int_equal(launch != NULL, i == MSG_MEASURE || i == MSG_TOOL);
        if (work)
            assert_int_equal(work->id.attempt, 70000);
        if (result)
            assert_true(result->seconds == 1.5);
        if (launch)
            assert_int_equal(launch->limit_ms, 5000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_has_a_row),
        cmocka_unit_test(each_type_encodes_to_the_bytes_of_version_1),
        cmocka_unit_test(what_was_decoded_encodes_to_the_same_bytes),
        cmocka_unit_test(an_optional_field_is_sent_only_if_it_has_a_value),
        cmocka_unit_test(what_a_host_shows_and_warns_of_may_be_left_out),
        cmocka_unit_test(a_result_without_blame_blames_nothing),
        cmocka_unit_test(launches_that_are_not_known_are_not_sent),
        cmocka_unit_test(the_parts_that_types_share_are_those_of_the_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
