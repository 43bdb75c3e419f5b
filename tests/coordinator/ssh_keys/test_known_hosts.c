#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "common/err.h"
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
/* gpu7 and [gpu7]:2222, hashed by ssh-keygen -H */
#define HASHED "|1|pJ0JUfDgSPz+VT8/Zp0xsUnEcXo=|mdARJuvkrC3PQXBC/JPj2efb7w8="
#define HASHED_PORT \
    "|1|rqnNz0iJB6qtQofAfpj2oWoFNeE=|r8ZLwUUONOGegVEvJRwvFZNfC40="

static size_t blob_of(const char *base64, unsigned char out[512])
{
    size_t n;

    assert_int_equal(sodium_base642bin(out, 512, base64, strlen(base64), NULL,
                                       &n, NULL,
                                       sodium_base64_VARIANT_ORIGINAL),
                     0);
    return n;
}

static enum known_hosts_verdict verdict(const char *text, const char *host,
                                        int port, const char *key)
{
    struct known_hosts_set set;
    unsigned char blob[512];
    enum known_hosts_verdict verdict;

    known_hosts_init(&set, host, port);
    known_hosts_parse(&set, "known_hosts", text, strlen(text));
    verdict = known_hosts_judge(&set, blob, blob_of(key, blob), NULL);
    known_hosts_fini(&set);
    return verdict;
}

static const struct {
    const char *text, *host;
    int port;
    const char *key;
    enum known_hosts_verdict want;
} rows[] = {
    { "", "gpu7", 22, A, KNOWN_HOSTS_UNKNOWN },
    { "gpu7 " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_MATCH },
    { "  gpu7\t" KEY_A " comment\r\n", "gpu7", 22, A, KNOWN_HOSTS_MATCH },
    { "GPU7 " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_MATCH },
    { "gpu7 " KEY_A, "GPU7", 22, A, KNOWN_HOSTS_MATCH },
    { "gpu7 " KEY_B, "gpu7", 22, A, KNOWN_HOSTS_CHANGED },
    { "gpu7 " KEY_E, "gpu7", 22, A, KNOWN_HOSTS_UNKNOWN },
    { "gpu7 " KEY_E "\ngpu7 " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_MATCH },
    { "gpu7 " KEY_B "\ngpu7 " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_MATCH },
    { "gpu77 " KEY_B, "gpu7", 22, A, KNOWN_HOSTS_UNKNOWN },
    { "[gpu7]:2222 " KEY_A, "gpu7", 2222, A, KNOWN_HOSTS_MATCH },
    { "[gpu7]:2222 " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_UNKNOWN },
    { "[gpu7]:2222 " KEY_B, "gpu7", 2222, A, KNOWN_HOSTS_CHANGED },
    { "gpu7 " KEY_A, "gpu7", 2222, A, KNOWN_HOSTS_MATCH },
    { "gpu7 " KEY_B, "gpu7", 2222, A, KNOWN_HOSTS_UNKNOWN },
    { HASHED " " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_MATCH },
    { HASHED " " KEY_A, "gpu8", 22, A, KNOWN_HOSTS_UNKNOWN },
    { HASHED " " KEY_B, "gpu7", 22, A, KNOWN_HOSTS_CHANGED },
    { HASHED_PORT " " KEY_A, "gpu7", 2222, A, KNOWN_HOSTS_MATCH },
    { HASHED_PORT " " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_UNKNOWN },
    { "*.net,gpu? " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_MATCH },
    { "*.net,gpu? " KEY_A, "a.net", 22, A, KNOWN_HOSTS_MATCH },
    { "gpu*,!gpu7 " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_UNKNOWN },
    { "!gpu7,gpu* " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_UNKNOWN },
    { "!gpu8 " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_UNKNOWN },
    { "[gpu*]:2222 " KEY_A, "gpu7", 2222, A, KNOWN_HOSTS_MATCH },
    { "@revoked * " KEY_A "\ngpu7 " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_REVOKED },
    { "gpu7 " KEY_A "\n@revoked gpu7 " KEY_A, "gpu7", 22, A,
      KNOWN_HOSTS_REVOKED },
    { "@revoked * " KEY_B "\ngpu7 " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_MATCH },
    { "@revoked gpu7 " KEY_A, "gpu7", 2222, A, KNOWN_HOSTS_REVOKED },
    { "@cert-authority * " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_UNKNOWN },
    { "rubbish\ngpu7 " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_MATCH },
    { "#gpu7 " KEY_A, "gpu7", 22, A, KNOWN_HOSTS_UNKNOWN },
};

static void a_key_is_judged_by_the_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (verdict(rows[i].text, rows[i].host, rows[i].port, rows[i].key) !=
            rows[i].want)
            fail_msg("row %zu: %s", i, rows[i].text);
}

static const struct {
    const char *line, *warning;
} flaws[] = {
    { "gpu7", "k:1: not 'host type key'; this line is skipped\n" },
    { "gpu7 ssh-ed25519", "k:1: not 'host type key'; this line is skipped\n" },
    { "gpu7 1024 35 123456",
      "k:1: the key is not base64; this line is skipped\n" },
    { "gpu7 ssh-ed25519 ***",
      "k:1: the key is not base64; this line is skipped\n" },
    { "gpu7 ssh-ed25519 AAAAC3Nz",
      "k:1: the key is cut off; this line is skipped\n" },
    { "gpu7 ssh-rsa " A, "k:1: the key is not of the type that the line says; "
                         "this line is skipped\n" },
    { "@maybe gpu7 " KEY_A, "k:1: the marker is neither @revoked nor "
                            "@cert-authority; this line is skipped\n" },
};

static void a_bad_line_is_skipped_with_its_number(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(flaws) / sizeof(flaws[0]); i++) {
        struct known_hosts_set set;

        known_hosts_init(&set, "gpu7", 22);
        known_hosts_parse(&set, "k", flaws[i].line, strlen(flaws[i].line));
        assert_string_equal(buf_text(&set.warnings), flaws[i].warning);
        assert_int_equal(set.n, 0);
        known_hosts_fini(&set);
    }
}

static void an_authority_is_noticed(void **state)
{
    struct known_hosts_set set;
    const char *text = "@cert-authority *.net " KEY_A;

    (void)state;
    known_hosts_init(&set, "a.net", 22);
    known_hosts_parse(&set, "k", text, strlen(text));
    assert_true(set.has_authority);
    assert_int_equal(set.n, 0);
    known_hosts_fini(&set);
}

static void fingerprints_are_those_of_ssh_keygen(void **state)
{
    unsigned char blob[512];
    char text[KNOWN_HOSTS_FINGERPRINT_BYTES];

    (void)state;
    known_hosts_fingerprint(blob, blob_of(A, blob), text);
    assert_string_equal(text,
                        "SHA256:F5h4QDXwSPIsTGrvubf43xto5SZw2bJCY+Wz7TamDME");
}

static void the_deciding_line_is_named(void **state)
{
    struct known_hosts_set set;
    const struct known_hosts_key *which;
    const char *text = "\n\ngpu7 " KEY_B "\n";
    unsigned char blob[512];

    (void)state;
    known_hosts_init(&set, "gpu7", 22);
    known_hosts_parse(&set, "known_hosts", text, strlen(text));
    assert_int_equal(known_hosts_judge(&set, blob, blob_of(A, blob), &which),
                     KNOWN_HOSTS_CHANGED);
    assert_string_equal(which->place, "known_hosts:3");
    assert_string_equal(which->type, "ssh-ed25519");
    known_hosts_fini(&set);
}

static void a_new_key_is_appended_on_a_line_of_its_own(void **state)
{
    char dir[] = "/tmp/fa-test-known-XXXXXX", path[64];
    unsigned char blob[512];
    struct known_hosts_set set;
    struct stat st;
    struct err err;
    size_t len = blob_of(A, blob);

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/.ssh/known_hosts", dir);
    assert_int_equal(known_hosts_append(path, "Gpu7", 22, blob, len, &err), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(truncate(path, st.st_size - 1), 0);
    assert_int_equal(known_hosts_append(path, "gpu8", 2222, blob, len, &err),
                     0);
    for (int i = 0; i < 2; i++) {
        known_hosts_init(&set, i ? "gpu8" : "gpu7", i ? 2222 : 22);
        assert_int_equal(known_hosts_load(&set, path, &err), 0);
        assert_int_equal(known_hosts_judge(&set, blob, len, NULL),
                         KNOWN_HOSTS_MATCH);
        assert_int_equal(set.warnings.len, 0);
        known_hosts_fini(&set);
    }
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    rmdir(dir);
}

/* A site may revoke many keys for all its machines. */
static void no_revoked_line_is_one_too_many(void **state)
{
    unsigned char blob[512];
    struct known_hosts_set set;

    (void)state;
    known_hosts_init(&set, "gpu7", 22);
    for (int i = 0; i < 100; i++)
        known_hosts_parse(&set, "k", "@revoked * " KEY_B,
                          strlen("@revoked * " KEY_B));
    known_hosts_parse(&set, "k", "@revoked * " KEY_A,
                      strlen("@revoked * " KEY_A));
    assert_int_equal(known_hosts_judge(&set, blob, blob_of(A, blob), NULL),
                     KNOWN_HOSTS_REVOKED);
    assert_int_equal(set.warnings.len, 0);
    known_hosts_fini(&set);
}

static void a_missing_file_knows_nobody(void **state)
{
    struct known_hosts_set set;
    struct err err;

    (void)state;
    known_hosts_init(&set, "gpu7", 22);
    assert_int_equal(known_hosts_load(&set, "nowhere/known_hosts", &err), 0);
    assert_int_equal(known_hosts_load(&set, "/", &err), ERR_SYSTEM);
    assert_string_equal(err.text, "/: Is a directory");
    known_hosts_fini(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_judged_by_the_lines),
        cmocka_unit_test(a_bad_line_is_skipped_with_its_number),
        cmocka_unit_test(an_authority_is_noticed),
        cmocka_unit_test(fingerprints_are_those_of_ssh_keygen),
        cmocka_unit_test(the_deciding_line_is_named),
        cmocka_unit_test(a_new_key_is_appended_on_a_line_of_its_own),
        cmocka_unit_test(no_revoked_line_is_one_too_many),
        cmocka_unit_test(a_missing_file_knows_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
