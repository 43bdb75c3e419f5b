#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/msg.h"

static struct msg_identity identity(void)
{
    return (struct msg_identity){ .sweep = "s",
                                  .config = "c0ffee",
                                  .shape = "s512",
                                  .purpose = "screen",
                                  .stage = "measure",
                                  .round = 0,
                                  .attempt = 2 };
}

static void measured_survives_the_wire(void **state)
{
    const double samples[] = { 1e-5, 2e-5 }, clocks[] = { NAN, 1980 };
    struct msg in = {
        .type = MSG_MEASURED,
        .epoch = 7,
        .measured = { .work = { .lease = 42, .id = identity() },
                      .result = { .nonce = "00112233445566778899aabbccddeeff",
                                  .outcome = "correct" },
                      .gpu = "GPU-1",
                      .samples = { samples, 2 },
                      .clock_mhz = { clocks, 2 } }
    };
    struct msg out;
    struct buf buf;

    (void)state;
    buf_init(&buf, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&in, &buf, NULL), 0);
    assert_int_equal(msg_decode(buf.bytes, buf.len, &out, NULL), 0);
    assert_int_equal(out.type, MSG_MEASURED);
    assert_int_equal(out.epoch, 7);
    assert_int_equal(out.measured.work.lease, 42);
    assert_int_equal(out.measured.work.id.attempt, 2);
    assert_string_equal(out.measured.work.id.shape, "s512");
    assert_int_equal(out.measured.samples.n, 2);
    assert_true(out.measured.samples.items[1] == 2e-5);
    assert_true(isnan(out.measured.clock_mhz.items[0]));
    msg_fini(&out);
    buf_fini(&buf);
}

static void bundle_carries_file_contents(void **state)
{
    const char *const names[] = { "a.cu", "b.h" };
    const struct bytes contents[] = { { "xy", 2 }, { "", 0 } };
    struct msg in = { .type = MSG_BUNDLE,
                      .bundle = { .hash = "0123456789abcdef0123456789abcdef",
                                  .names = { names, 2 },
                                  .contents = { contents, 2 } } };
    struct msg out;
    struct buf buf;

    (void)state;
    buf_init(&buf, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&in, &buf, NULL), 0);
    assert_int_equal(msg_decode(buf.bytes, buf.len, &out, NULL), 0);
    assert_string_equal(out.bundle.names.items[1], "b.h");
    assert_int_equal(out.bundle.contents.items[0].len, 2);
    assert_memory_equal(out.bundle.contents.items[0].data, "xy", 2);
    msg_fini(&out);
    buf_fini(&buf);
}

static void bad_frames_are_named(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *text;
    } rows[] = {
        { "", 0, "message is not one MessagePack object" },
        { "\xdf\xff\xff\xff\xff", 5, "message is not one MessagePack object" },
        { "\xdd\x7f\xff\xff\xff\xc0", 6,
          "message is not one MessagePack object" },
        { "\xc0", 1, "message is not a map" },
        { "\x80", 1, "message without a type" },
        { "\x80\x80", 2, "message is not one MessagePack object" },
        { "\x81\xa1t\xa3XYZ", 7, "unknown message type" },
        { "\x81\xa1t\xa4"
          "BEAT",
          8, "BEAT.epoch is missing or wrong" },
        { "\x82\xa1t\xa4"
          "BEAT\xa5"
          "epoch\x01",
          15, "BEAT.journal is missing" },
        { "\x83\xa1t\xa4"
          "BEAT\xa5"
          "epoch\x01\xa7"
          "journal\xff",
          24, "BEAT.journal has the wrong type or is out of range" },
    };
    struct err err;
    struct msg msg;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(msg_decode(rows[i].bytes, rows[i].len, &msg, &err),
                         ERR_PROTO);
        assert_string_equal(err.text, rows[i].text);
    }
}

/* The encoding of one sample with another in its place. */
static struct buf sample_of(double sample)
{
    const double honest = 1.0;
    struct msg in = { .type = MSG_MEASURED,
                      .measured = { .work.id = identity(),
                                    .samples = { &honest, 1 } } };
    unsigned char was[] = { 0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0 };
    uint64_t bits;
    struct buf buf;
    char *at;

    buf_init(&buf, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&in, &buf, NULL), 0);
    at = memmem(buf.bytes, buf.len, was, sizeof(was));
    assert_non_null(at);
    memcpy(&bits, &sample, sizeof(bits));
    for (int i = 0; i < 8; i++)
        at[1 + i] = (char)(bits >> (56 - 8 * i));
    return buf;
}

static void a_negative_or_nan_sample_is_refused(void **state)
{
    const double rows[] = { -1.0, 0.0, NAN, INFINITY };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct msg in = { .type = MSG_MEASURED,
                          .measured = { .work.id = identity(),
                                        .samples = { &rows[i], 1 } } };
        struct buf forged = sample_of(rows[i]), buf;
        struct msg out;
        struct err err;

        buf_init(&buf, MSG_BYTES_MAX);
        assert_int_equal(msg_encode(&in, &buf, &err), ERR_INPUT);
        assert_string_equal(err.text, "MEASURED.samples is out of range");
        assert_int_equal(msg_decode(forged.bytes, forged.len, &out, &err),
                         ERR_PROTO);
        assert_string_equal(err.text, "MEASURED.samples has the wrong type or "
                                      "is out of range");
        buf_fini(&forged);
        buf_fini(&buf);
    }
}

static int send_error(double error, double *received)
{
    struct msg in = { .type = MSG_MEASURED,
                      .measured = { .work.id = identity(),
                                    .relative_l2 = error,
                                    .max_error = error } };
    struct msg out;
    struct buf buf;
    int rc;

    buf_init(&buf, MSG_BYTES_MAX);
    rc = msg_encode(&in, &buf, NULL);
    if (rc == 0)
        rc = msg_decode(buf.bytes, buf.len, &out, NULL);
    buf_fini(&buf);
    if (rc < 0)
        return rc;
    *received = out.measured.relative_l2;
    assert_true(out.measured.relative_l2 == out.measured.max_error ||
                isnan(out.measured.max_error));
    msg_fini(&out);
    return 0;
}

static void however_wrong_an_output_is_its_error_can_be_told(void **state)
{
    const double rows[] = { 0, 1e30, 1.7e308, INFINITY };
    double got;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(send_error(rows[i], &got), 0);
        assert_true(got == rows[i]);
    }
    assert_int_equal(send_error(NAN, &got), 0);
    assert_true(isnan(got));
    assert_int_equal(send_error(-1e-9, &got), ERR_INPUT);
    assert_int_equal(send_error(-INFINITY, &got), ERR_INPUT);
}

static void an_oversize_text_is_not_sent(void **state)
{
    char log[MSG_LOG_MAX + 1024];
    struct msg in = { .type = MSG_BUILT,
                      .built = { .work.id = identity(), .log = log } };
    struct buf buf;
    struct err err;

    (void)state;
    memset(log, 'x', sizeof(log) - 1);
    log[sizeof(log) - 1] = '\0';
    buf_init(&buf, MSG_BYTES_MAX);
    assert_int_equal(msg_encode(&in, &buf, &err), ERR_INPUT);
    assert_string_equal(err.text, "BUILT.log is over its limit of 65792");
    buf_fini(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_survives_the_wire),
        cmocka_unit_test(bundle_carries_file_contents),
        cmocka_unit_test(bad_frames_are_named),
        cmocka_unit_test(a_negative_or_nan_sample_is_refused),
        cmocka_unit_test(however_wrong_an_output_is_its_error_can_be_told),
        cmocka_unit_test(an_oversize_text_is_not_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
