#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/frame.h"

static void a_frame_is_eight_bytes_then_its_payload(void **state)
{
    unsigned char head[FRAME_HEADER_BYTES];

    (void)state;
    frame_put(&(struct frame){ FRAME_DATA, 0x1234, 0x00010000 }, head);
    assert_memory_equal(head, "\x02\x00\x34\x12\x00\x00\x01\x00", 8);
}

static void a_frame_waits_for_its_last_byte(void **state)
{
    const char bytes[] = "\x02\x00\x07\x00\x03\x00\x00\x00"
                         "abc";
    struct frame frame;

    (void)state;
    for (size_t len = 0; len < 11; len++)
        assert_int_equal(frame_get(bytes, len, &frame, NULL), 0);
    assert_int_equal(frame_get(bytes, 11, &frame, NULL), 1);
    assert_int_equal(frame.type, FRAME_DATA);
    assert_int_equal(frame.stream, 7);
    assert_int_equal(frame.len, 3);
}

static void an_invalid_frame_is_refused_and_shown(void **state)
{
    static const struct {
        const char *bytes;
        const char *shown;
    } rows[] = {
        { "\x00\x00\x00\x00\x00\x00\x00\x00", "\\x00" }, /* no type */
        { "\x04\x00\x00\x00\x00\x00\x00\x00", "\\x04" },
        { "\x02\x01\x00\x00\x01\x00\x00\x00", "\\x02\\x01" }, /* not 0 */
        { "\x02\x00\x00\x00\x00\x00\x00\x00", "\\x02" },      /* empty DATA */
        { "\x02\x00\x00\x00\x01\x00\x01\x00", "\\x02" },      /* 64 KiB + 1 */
        { "\x02\x00\x00\x00\xff\xff\xff\xff", "\\xff" },
        { "\x01\x00\x00\x00\x01\x00\x00\x00", "\\x01" }, /* OPEN with bytes */
        { "\x03\x00\x00\x00\x01\x00\x00\x00", "\\x03" },
        { "\x04\x00\x01\x00\x01\x00\x00\x00", "\\x04" }, /* of a stream */
        { "\x04\x00\x00\x00\xf0\x00\x00\x00", "\\x04" }, /* long NOTE */
        { "Last log", "Last log" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct frame frame;
        struct err err;

        assert_int_equal(frame_get(rows[i].bytes, 8, &frame, &err), ERR_PROTO);
        assert_non_null(strstr(err.text, rows[i].shown));
    }
}

static void the_magic_is_found_after_login_noise(void **state)
{
    const char *text = "Welcome!\nyou have mail. fa-relay 1 0.1.0\n\x01";
    char version[FRAME_VERSION_BYTES];
    size_t frames;

    (void)state;
    for (size_t len = 0; len < strlen(text) - 1; len++)
        assert_int_equal(frame_find_magic(text, len, &frames, version, NULL),
                         0);
    assert_int_equal(
        frame_find_magic(text, strlen(text), &frames, version, NULL), 1);
    assert_string_equal(version, "0.1.0");
    assert_int_equal(text[frames], 1);
}

static void the_magic_that_is_written_is_found(void **state)
{
    char text[FRAME_MAGIC_BYTES], version[FRAME_VERSION_BYTES];
    size_t len = frame_magic("2.3.4", text), frames;

    (void)state;
    assert_string_equal(text, "fa-relay 1 2.3.4\n");
    assert_int_equal(frame_find_magic(text, len, &frames, version, NULL), 1);
    assert_int_equal(frames, len);
}

static void another_relay_version_is_named(void **state)
{
    const char *text = "fa-relay 2 9.9.9\n";
    char version[FRAME_VERSION_BYTES];
    struct err err;
    size_t frames;

    (void)state;
    assert_int_equal(
        frame_find_magic(text, strlen(text), &frames, version, &err),
        ERR_PROTO);
    assert_string_equal(
        err.text, "the relay speaks version '2 9.9.9' of its protocol, not 1");
}

static void endless_noise_before_the_magic_is_refused(void **state)
{
    static char noise[FRAME_NOISE_MAX];
    char version[FRAME_VERSION_BYTES];
    struct err err;
    size_t frames;

    (void)state;
    memset(noise, 'x', sizeof(noise));
    assert_int_equal(
        frame_find_magic(noise, sizeof(noise) - 1, &frames, version, &err), 0);
    assert_int_equal(
        frame_find_magic(noise, sizeof(noise), &frames, version, &err),
        ERR_PROTO);
    assert_non_null(strstr(err.text, "'xxxxxxxx"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_is_eight_bytes_then_its_payload),
        cmocka_unit_test(a_frame_waits_for_its_last_byte),
        cmocka_unit_test(an_invalid_frame_is_refused_and_shown),
        cmocka_unit_test(the_magic_is_found_after_login_noise),
        cmocka_unit_test(the_magic_that_is_written_is_found),
        cmocka_unit_test(another_relay_version_is_named),
        cmocka_unit_test(endless_noise_before_the_magic_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
