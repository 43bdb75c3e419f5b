#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/invite.h"

#define KEY_A "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define KEY_B "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"
#define KEY_C "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"

#define TEXT                                                             \
    "fa-invitation 1\nserver_key " KEY_A "\npublic_key " KEY_B           \
    "\nsecret_key " KEY_C "\nepoch 1700000000000000000\nlinger_ms 90000" \
    "\nowner 00112233445566778899aabbccddeeff"                           \
    "\ncommand ffeeddccbbaa99887766554433221100\nuser ada"               \
    "\nmachine laptop\npid 4711\ndatabase /home/a da/f.db"               \
    "\nsince 1700000000000000001\nendpoint relay\n\n"

static void an_invitation_survives_encoding_and_parsing(void **state)
{
    struct invite in = { .server_key = KEY_A,
                         .public_key = KEY_B,
                         .secret_key = KEY_C,
                         .epoch = INT64_C(1700000000000000000),
                         .linger_ms = 90000,
                         .owner = { .id = "00112233445566778899aabbccddeeff",
                                    .command =
                                        "ffeeddccbbaa99887766554433221100",
                                    .user = "ada",
                                    .machine = "laptop",
                                    .database = "/home/a da/f.db",
                                    .pid = 4711,
                                    .since_utc = INT64_C(1700000000000000001) },
                         .endpoint = "relay" };
    char text[INVITE_BYTES_MAX];
    struct invite out;
    size_t len = invite_write(&in, text);

    (void)state;
    assert_string_equal(text, TEXT);
    assert_int_equal(invite_end(text, len, NULL), (int)len);
    assert_int_equal(invite_parse(text, len, &out, NULL), 0);
    assert_memory_equal(&in, &out, sizeof(in));
}

static void the_longest_invitation_fits(void **state)
{
    struct invite in = { .server_key = KEY_A,
                         .public_key = KEY_B,
                         .secret_key = KEY_C,
                         .epoch = INT64_MAX,
                         .linger_ms = 86400000,
                         .owner = { .id = "00112233445566778899aabbccddeeff",
                                    .command =
                                        "ffeeddccbbaa99887766554433221100",
                                    .pid = INT32_MAX,
                                    .since_utc = INT64_MAX } };
    char text[INVITE_BYTES_MAX];
    struct invite out;
    size_t len;

    (void)state;
    memset(in.owner.user, 'u', sizeof(in.owner.user) - 1);
    memset(in.owner.machine, 'm', sizeof(in.owner.machine) - 1);
    memset(in.owner.database, 'd', sizeof(in.owner.database) - 1);
    memset(in.endpoint, 'e', sizeof(in.endpoint) - 1);
    memcpy(in.endpoint, "ipc://", 6);
    len = invite_write(&in, text);
    assert_int_equal(invite_end(text, len, NULL), (int)len);
    assert_int_equal(invite_parse(text, len, &out, NULL), 0);
    assert_memory_equal(&in, &out, sizeof(in));
}

static void an_empty_line_ends_the_invitation(void **state)
{
    char full[INVITE_BYTES_MAX];
    struct err err;

    (void)state;
    for (size_t len = 0; len < strlen(TEXT); len++)
        assert_int_equal(invite_end(TEXT, len, NULL), 0);
    assert_int_equal(invite_end(TEXT "\x01\x02", strlen(TEXT) + 2, NULL),
                     (int)strlen(TEXT));
    memset(full, 'x', sizeof(full));
    assert_int_equal(invite_end(full, sizeof(full), &err), ERR_PROTO);
}

static void the_addresses_take_turns(void **state)
{
    struct invite invite = { .endpoint = "tcp://10.0.0.1:7,tcp://[fd::1]:7" };
    char address[INVITE_ENDPOINT_BYTES];

    (void)state;
    invite_address(&invite, address);
    assert_string_equal(address, "tcp://10.0.0.1:7");
    assert_true(invite_next_address(&invite));
    assert_string_equal(invite.endpoint, "tcp://[fd::1]:7,tcp://10.0.0.1:7");
    invite_address(&invite, address);
    assert_string_equal(address, "tcp://[fd::1]:7");
    assert_true(invite_next_address(&invite));
    assert_string_equal(invite.endpoint, "tcp://10.0.0.1:7,tcp://[fd::1]:7");
}

static void a_single_address_stays(void **state)
{
    struct invite invite = { .endpoint = "tcp://10.0.0.1:7" };

    (void)state;
    assert_false(invite_next_address(&invite));
    assert_string_equal(invite.endpoint, "tcp://10.0.0.1:7");
}

static int parse(const char *text, struct err *err)
{
    struct invite out;

    return invite_parse(text, strlen(text), &out, err);
}

static void a_wrong_line_is_named_but_not_shown(void **state)
{
    static const struct {
        const char *text;
        const char *why;
    } rows[] = {
        { "", "invitation: 'fa-invitation' is missing" },
        { "fa-invitation 1\n\n", "invitation: 'server_key' is missing" },
        { "fa-invitation 2\n\n",
          "invitation: the value of 'fa-invitation' is malformed" },
        { "fa-invitation 1\nfa-invitation 1\n\n",
          "invitation: 'fa-invitation' is given twice" },
        { "fa-invitation 1\nsecret s3cr3t\n\n",
          "invitation: line 2 has an unknown key" },
        { "epoch 1", "invitation: line 1 is cut off" },
        { "epoch -1\n\n", "invitation: the value of 'epoch' is malformed" },
        { "epoch 9223372036854775808\n\n",
          "invitation: the value of 'epoch' is malformed" },
        { "linger_ms 86400001\n\n",
          "invitation: the value of 'linger_ms' is malformed" },
        { "secret_key s3cr3t\n\n",
          "invitation: the value of 'secret_key' is malformed" },
        { "secret_key rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf\"\n\n",
          "invitation: the value of 'secret_key' is malformed" },
        { "owner 0011\n\n", "invitation: the value of 'owner' is malformed" },
        { "owner 00112233445566778899AABBCCDDEEFF\n\n",
          "invitation: the value of 'owner' is malformed" },
        { "user a\x1b[2Jda\n\n",
          "invitation: the value of 'user' is malformed" },
        { "user "
          "0123456789012345678901234567890123456789012345678901234567890123"
          "\n\n",
          "invitation: the value of 'user' is malformed" },
        { "pid 4294967296\n\n", "invitation: the value of 'pid' is malformed" },
        { "endpoint udp://1.2.3.4:5\n\n",
          "invitation: the value of 'endpoint' is malformed" },
        { "endpoint tcp://\n\n",
          "invitation: the value of 'endpoint' is malformed" },
        { "endpoint ipc:///a b\n\n",
          "invitation: the value of 'endpoint' is malformed" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err;

        assert_int_equal(parse(rows[i].text, &err), ERR_INPUT);
        assert_string_equal(err.text, rows[i].why);
        assert_null(strstr(err.text, "s3cr3t"));
    }
}

static void a_refused_invitation_leaves_no_key(void **state)
{
    const char *text = "secret_key " KEY_C "\nepoch x\n\n";
    const struct invite none = { 0 };
    struct invite out;

    (void)state;
    assert_int_equal(invite_parse(text, strlen(text), &out, NULL), ERR_INPUT);
    assert_memory_equal(&out, &none, sizeof(out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_invitation_survives_encoding_and_parsing),
        cmocka_unit_test(the_longest_invitation_fits),
        cmocka_unit_test(the_addresses_take_turns),
        cmocka_unit_test(a_single_address_stays),
        cmocka_unit_test(an_empty_line_ends_the_invitation),
        cmocka_unit_test(a_wrong_line_is_named_but_not_shown),
        cmocka_unit_test(a_refused_invitation_leaves_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
