#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "coordinator/remote/ssh_config.h"
#include "coordinator/remote/ssh_lacks.h"
#include "coordinator/ssh_keys/known_hosts.h"

/* A line of known_hosts with a key that has nothing but its type. */
#define RSA "ssh-rsa AAAAB3NzaC1yc2E="
#define ED25519 "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5"
#define ECDSA "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTY="

static const struct {
    const char *known, *lacks; /* a part; NULL: nothing */
} rows[] = {
    { "", NULL },
    { "gpu7 " ED25519, NULL },
    { "gpu7 " ECDSA, NULL },
    { "gpu7 " RSA, "verify host keys of the type ssh-rsa" },
    { "gpu7 " RSA "\ngpu7 " ED25519, NULL },
    { "gpu7 " RSA "\n@revoked * " ED25519, "of the type ssh-rsa" },
    { "gpu8 " RSA, NULL },
    { "@cert-authority * " ED25519, "verify the certificate" },
    { "@cert-authority * " ED25519 "\ngpu7 " ED25519, NULL },
};

static void a_known_type_may_be_one_it_cannot_verify(void **state)
{
    char lacks[SSH_LACKS_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct known_hosts_set known;
        bool does;

        known_hosts_init(&known, "gpu7", 22);
        known_hosts_parse(&known, "k", rows[i].known, strlen(rows[i].known));
        does = ssh_lacks_host_key(&known, lacks);
        if (does != (rows[i].lacks != NULL) ||
            (does && !strstr(lacks, rows[i].lacks)))
            fail_msg("row %zu: %s", i, lacks);
        known_hosts_fini(&known);
    }
}

static void a_setting_may_be_one_it_does_not_know(void **state)
{
    struct ssh_config config = { 0 },
                      proxied = { .only_openssh = "ProxyCommand" };
    char lacks[SSH_LACKS_BYTES];

    (void)state;
    assert_false(ssh_lacks_setting(&config, lacks));
    assert_string_equal(lacks, "");
    assert_true(ssh_lacks_setting(&proxied, lacks));
    assert_string_equal(lacks, "follow ProxyCommand of ~/.ssh/config");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_type_may_be_one_it_cannot_verify),
        cmocka_unit_test(a_setting_may_be_one_it_does_not_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
