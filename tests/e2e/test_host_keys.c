/* Which host keys are accepted, by both backends and for each jump host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/hash.h"
#include "coordinator/remote/ssh.h"
#include "tests/e2e/login.h"

static struct sshd sshd;
#define WAYS 2
static const enum remote_ssh both[WAYS] = { REMOTE_SSH_LIBSSH2,
                                            REMOTE_SSH_OPENSSH };
static char dir[] = "/tmp/fa-test-keys-XXXXXX";

/* Ways through the same server, which shows the same key under other names. */
static const char ways[] = "Host first second box\n"
                           "  HostName 127.0.0.1\n  Port NUM\n"
                           "  IdentityFile DIR/id_ed25519\n"
                           "  UserKnownHostsFile DIR/known_hosts\n"
                           "  GlobalKnownHostsFile none\n"
                           "Host first\n  HostKeyAlias first\n"
                           "Host second\n  HostKeyAlias second\n"
                           "  ProxyJump first\n";

/* known_hosts with a key file's public half under this name, with words in
 * front of it. */
static void know(const char *before, const char *key, const char *after)
{
    char path[300], line[1024], text[2048];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s.pub", dir, key);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    snprintf(text, sizeof(text), "%s %s%s", before, line, after);
    sshd_know(&sshd, text);
}

static int lines_in(const char *name, const char *word)
{
    char path[300], line[1024];
    int n = 0;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        n += strncmp(line, word, strlen(word)) == 0;
    if (file)
        fclose(file);
    return n;
}

static void refused_by_both(const char *line, bool accept_new, const char *part)
{
    for (size_t i = 0; i < WAYS; i++) {
        struct remote_options options = login_options(&sshd, both[i]);

        options.accept_new_host_keys = accept_new;
        login_refused(&sshd, line, &options, ERR_HOST_KEY, part);
    }
}

static void a_revoked_key_is_refused_also_if_it_is_pinned(void **state)
{
    (void)state;
    know("@revoked *", "host_ed25519", "");
    refused_by_both("box hostkey=PIN", false, "REVOKED");
    refused_by_both("box hostkey=PIN", true, "REVOKED");
}

static void a_key_of_another_type_is_not_new(void **state)
{
    char name[64];

    (void)state;
    snprintf(name, sizeof(name), "[127.0.0.1]:%d", sshd.port);
    know(name, "id_rsa", "");
    refused_by_both("box", true, "host key");
    assert_int_equal(lines_in("known_hosts", ""), 1);
    know("@cert-authority *", "id_stranger", "");
    refused_by_both("box", true, "host key");
    assert_int_equal(lines_in("known_hosts", ""), 1);
}

/* With both backends, and no key known of any server. */
static void all_hops_are_new(const char *line)
{
    refused_by_both(line, false, "--accept-new-host-keys");
    for (size_t i = 0; i < WAYS; i++) {
        struct remote_options options = login_options(&sshd, both[i]);

        options.accept_new_host_keys = true;
        sshd_know(&sshd, NULL);
        login_works(&sshd, line, &options);
        assert_int_equal(lines_in("known_hosts", "first "), 1);
        assert_int_equal(lines_in("known_hosts", "second "), 1);
        assert_int_equal(lines_in("known_hosts", "[127.0.0.1]:"), 1);
        options.accept_new_host_keys = false;
        login_works(&sshd, line, &options);
        sshd_know(&sshd, NULL);
    }
}

static void new_keys_are_accepted_at_every_hop(void **state)
{
    char text[2048];

    (void)state;
    sshd_configure(&sshd, ways);
    sshd_know(&sshd, NULL);
    all_hops_are_new("box jump=second"); /* has a ProxyJump of its own */
    snprintf(text, sizeof(text), "Host box\n  ProxyJump first,second\n%s",
             ways);
    sshd_configure(&sshd, text);
    all_hops_are_new("box");
}

static void the_policy_holds_at_every_hop(void **state)
{
    (void)state;
    sshd_configure(&sshd, ways);
    know("@revoked first", "host_ed25519", sshd_known_line(&sshd));
    refused_by_both("box jump=second", true, "for first was revoked");
    know("first", "id_rsa", sshd_known_line(&sshd));
    refused_by_both("box jump=second", true, "ssh-keygen -R");
    assert_int_equal(lines_in("known_hosts", "first "), 1);
}

static void a_pin_holds_behind_jump_hosts(void **state)
{
    static const char nobody[] =
        "box jump=first "
        "hostkey=SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

    (void)state;
    sshd_configure(&sshd, ways);
    know("first", "host_ed25519", "");
    for (size_t i = 0; i < WAYS; i++) {
        struct remote_options options = login_options(&sshd, both[i]);

        login_works(&sshd, "box jump=first hostkey=PIN", &options);
        login_refused(&sshd, nobody, &options, ERR_HOST_KEY, sshd.fingerprint);
    }
}

/* The jump host has no other key, and the message names a command that ssh
 * understands. */
static void the_key_of_a_line_reaches_its_jump_hosts(void **state)
{
    static const char line[] = "box key=DIR/id_ecdsa jump=gate";

    (void)state;
    sshd_configure(&sshd, "Host gate\n  HostName 127.0.0.1\n  Port NUM\n"
                          "  IdentityAgent none\n"
                          "  UserKnownHostsFile DIR/known_hosts\n");
    for (size_t i = 0; i < WAYS; i++) {
        struct remote_options options = login_options(&sshd, both[i]);
        char command[400];

        login_works(&sshd, line, &options);
        snprintf(command, sizeof(command),
                 "try: ssh -F %s/ssh_config -i %s/id_stranger -J gate box", dir,
                 dir);
        login_refused(&sshd, "box key=DIR/id_stranger jump=gate", &options,
                      ERR_AUTH, command);
    }
}

static void jump_hosts_in_a_ring_are_refused(void **state)
{
    struct remote_options options = login_options(&sshd, REMOTE_SSH_AUTO);

    (void)state;
    sshd_configure(&sshd, "Host first\n  ProxyJump second\n"
                          "Host second\n  ProxyJump first\n");
    login_refused(&sshd, "box jump=first", &options, ERR_INPUT, "ring");
}

static void a_known_hosts_file_may_have_blanks_in_its_name(void **state)
{
    char from[300], to[300];

    (void)state;
    sshd_configure(&sshd, "Host box\n  UserKnownHostsFile "
                          "\"DIR/my known hosts\" \"DIR/more of it\"\n");
    snprintf(from, sizeof(from), "%s/known_hosts", dir);
    snprintf(to, sizeof(to), "%s/more of it", dir);
    sshd_know(&sshd, sshd_known_line(&sshd));
    assert_int_equal(rename(from, to), 0);
    for (size_t i = 0; i < WAYS; i++) {
        struct remote_options options = login_options(&sshd, both[i]);

        login_works(&sshd, "box", &options);
    }
    assert_int_equal(unlink(to), 0);
    refused_by_both("box", false, "--accept-new-host-keys");
    for (size_t i = 0; i < WAYS; i++) {
        struct remote_options options = login_options(&sshd, both[i]);

        options.accept_new_host_keys = true;
        login_works(&sshd, "box", &options);
        assert_int_equal(lines_in("my known hosts", "[127.0.0.1]:"), 1);
        snprintf(to, sizeof(to), "%s/my known hosts", dir);
        assert_int_equal(unlink(to), 0);
    }
}

static int setup(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(hash_setup(&err), 0);
    assert_int_equal(ssh_setup(&err), 0);
    assert_non_null(mkdtemp(dir));
    sshd_start(&sshd, dir, NULL);
    return 0;
}

static int teardown(void **state)
{
    struct host host = { .name = "localhost", .local = true };
    struct remote_options options = { .home = "/" };
    struct remote *remote;
    char command[300];

    (void)state;
    sshd_stop(&sshd);
    remote = login_open(&host, &options);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    login_says(remote, command, "", 0);
    remote_close(remote);
    ssh_cleanup();
    return 0;
}

/* Each test begins with a known key and no settings. */
static int before(void **state)
{
    (void)state;
    sshd_configure(&sshd, NULL);
    sshd_know(&sshd, sshd_known_line(&sshd));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_revoked_key_is_refused_also_if_it_is_pinned,
                               before),
        cmocka_unit_test_setup(a_key_of_another_type_is_not_new, before),
        cmocka_unit_test_setup(new_keys_are_accepted_at_every_hop, before),
        cmocka_unit_test_setup(the_policy_holds_at_every_hop, before),
        cmocka_unit_test_setup(a_pin_holds_behind_jump_hosts, before),
        cmocka_unit_test_setup(the_key_of_a_line_reaches_its_jump_hosts,
                               before),
        cmocka_unit_test_setup(jump_hosts_in_a_ring_are_refused, before),
        cmocka_unit_test_setup(a_known_hosts_file_may_have_blanks_in_its_name,
                               before),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
