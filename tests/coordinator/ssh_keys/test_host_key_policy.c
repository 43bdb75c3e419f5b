#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <sodium.h>

#include "common/err.h"
#include "coordinator/ssh_keys/host_key_policy.h"
#include "coordinator/ssh_keys/known_hosts.h"

/* Keys made for these tests; their private halves are gone. */
#define A "AAAAC3NzaC1lZDI1NTE5AAAAIPhzwE7sWwbfiy4EzsOkipQFv4ZOSjxmlyx9nqQ7ymmM"
#define B "AAAAC3NzaC1lZDI1NTE5AAAAIDz8NnKp7MrQD9KK3CfIpo5L4tM4wo71AX3Ak4OhM1zY"
#define E                                                           \
    "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBO2q2fJx/" \
    "8S5O0IuapJD777UnCw01BFyhi50DY97Rz9N8R+"                        \
    "fhgYmnfTrCT9EZbG5SyWU5rhlZLtBBr/VA4TGreE="
#define KEY_A "ssh-ed25519 " A
#define KEY_B "ssh-ed25519 " B
#define KEY_E "ecdsa-sha2-nistp256 " E
#define PIN_A "SHA256:F5h4QDXwSPIsTGrvubf43xto5SZw2bJCY+Wz7TamDME"

/* gpu7 on port 2222 shows key A. */
static const struct {
    const char *known, *pin;
    bool accept_new;
    enum host_key_rule before;
    enum host_key_verdict then;
} rows[] = {
    { "", "", false, HOST_KEY_KNOWN, HOST_KEY_UNKNOWN },
    { "", "", true, HOST_KEY_NEW, HOST_KEY_ADDED },
    { "[gpu7]:2222 " KEY_A, "", false, HOST_KEY_KNOWN, HOST_KEY_ACCEPTED },
    { "[gpu7]:2222 " KEY_A, "", true, HOST_KEY_KNOWN, HOST_KEY_ACCEPTED },
    { "[gpu7]:2222 " KEY_B, "", true, HOST_KEY_KNOWN, HOST_KEY_CHANGED },
    /* the type that a server shows is its choice: no downgrade */
    { "[gpu7]:2222 " KEY_E, "", false, HOST_KEY_KNOWN, HOST_KEY_OTHER_TYPE },
    { "[gpu7]:2222 " KEY_E, "", true, HOST_KEY_KNOWN, HOST_KEY_OTHER_TYPE },
    { "[gpu*]:* " KEY_E, "", true, HOST_KEY_KNOWN, HOST_KEY_OTHER_TYPE },
    { "@cert-authority [gpu7]:2222 " KEY_E, "", true, HOST_KEY_KNOWN,
      HOST_KEY_UNKNOWN },
    /* of other servers */
    { "gpu7 " KEY_B, "", true, HOST_KEY_NEW, HOST_KEY_ADDED },
    { "gpu7 " KEY_A, "", false, HOST_KEY_KNOWN, HOST_KEY_ACCEPTED },
    { "[gpu8]:2222 " KEY_E, "", true, HOST_KEY_NEW, HOST_KEY_ADDED },
    { "@revoked * " KEY_B, "", true, HOST_KEY_NEW, HOST_KEY_ADDED },
    /* revoked beats everything */
    { "@revoked * " KEY_A, "", true, HOST_KEY_NEW, HOST_KEY_REVOKED },
    { "[gpu7]:2222 " KEY_A "\n@revoked gpu7 " KEY_A, "", true, HOST_KEY_KNOWN,
      HOST_KEY_REVOKED },
    { "@revoked * " KEY_A, PIN_A, false, HOST_KEY_NONE, HOST_KEY_REVOKED },
    { "@revoked [gpu7]:2222 " KEY_A, PIN_A, true, HOST_KEY_NONE,
      HOST_KEY_REVOKED },
    { "@revoked gpu8 " KEY_A, PIN_A, false, HOST_KEY_PIN, HOST_KEY_ACCEPTED },
    /* a pin needs no known_hosts, and no line of it replaces the pin */
    { "", PIN_A, false, HOST_KEY_PIN, HOST_KEY_ACCEPTED },
    { "[gpu7]:2222 " KEY_B, PIN_A, false, HOST_KEY_PIN, HOST_KEY_ACCEPTED },
    { "[gpu7]:2222 " KEY_A, "SHA256:other", true, HOST_KEY_PIN,
      HOST_KEY_NOT_THE_PIN },
    { "", "SHA256:other", true, HOST_KEY_PIN, HOST_KEY_NOT_THE_PIN },
};

static void every_way_in_has_one_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct known_hosts_set known;
        struct host_key_policy policy = { &known, rows[i].pin,
                                          rows[i].accept_new };
        unsigned char blob[512];
        size_t len;

        sodium_base642bin(blob, sizeof(blob), A, strlen(A), NULL, &len, NULL,
                          sodium_base64_VARIANT_ORIGINAL);
        known_hosts_init(&known, "gpu7", 2222);
        known_hosts_parse(&known, "k", rows[i].known, strlen(rows[i].known));
        if (host_key_policy_before(&policy, NULL) != rows[i].before ||
            host_key_policy_judge(&policy, blob, len, NULL) != rows[i].then)
            fail_msg("row %zu: %s", i, rows[i].known);
        known_hosts_fini(&known);
    }
}

static void the_line_that_decided_is_named(void **state)
{
    const char *text = "[gpu7]:2222 " KEY_E "\n@revoked * " KEY_A;
    struct known_hosts_set known;
    struct host_key_policy policy = { &known, PIN_A, false };
    const struct known_hosts_key *which;

    (void)state;
    known_hosts_init(&known, "gpu7", 2222);
    known_hosts_parse(&known, "k", text, strlen(text));
    assert_int_equal(host_key_policy_before(&policy, &which), HOST_KEY_NONE);
    assert_string_equal(which->place, "k:2");
    policy.pin = "";
    assert_int_equal(host_key_policy_judge(&policy, "", 0, &which),
                     HOST_KEY_OTHER_TYPE);
    assert_string_equal(which->place, "k:1");
    known_hosts_fini(&known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_in_has_one_answer),
        cmocka_unit_test(the_line_that_decided_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
