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
#include "coordinator/hosts/hosts.h"
#include "coordinator/remote/ssh_config.h"

static void the_output_of_ssh_is_read(void **state)
{
    struct ssh_config config;
    struct err err;

    (void)state;
    assert_int_equal(
        ssh_config_parse("host box\nuser me\nhostname 10.0.0.7\nport 2222\n"
                         "identitiesonly yes\nidentityfile ~/.ssh/id a\n"
                         "identityfile /k\nglobalknownhostsfile /g1 /g2\n"
                         "userknownhostsfile ~/.ssh/kh /u2\n"
                         "identityagent none\nproxyjump me@gate:22\n"
                         "hostkeyalias pool\nunknown thing\n",
                         "/home/me", &config, &err),
        0);
    assert_string_equal(config.user, "me");
    assert_string_equal(config.hostname, "10.0.0.7");
    assert_int_equal(config.port, 2222);
    assert_true(config.identities_only);
    assert_int_equal(config.n_identities, 2);
    assert_string_equal(config.identities[0], "/home/me/.ssh/id a");
    assert_string_equal(config.identities[1], "/k");
    assert_int_equal(config.n_known_hosts, 4);
    assert_string_equal(config.known_hosts[0], "/home/me/.ssh/kh");
    assert_string_equal(config.known_hosts[3], "/g2");
    assert_string_equal(config.agent, "none");
    assert_string_equal(config.proxy_jump, "me@gate:22");
    assert_string_equal(config.host_key_alias, "pool");
}

/* ssh -G prints the names without quotes. */
static void names_with_blanks_are_put_together(void **state)
{
    struct ssh_config config;

    (void)state;
    assert_int_equal(
        ssh_config_parse("user me\nhostname h\nport 22\n"
                         "userknownhostsfile /home/me/my known  hosts "
                         "~/b /c d\nglobalknownhostsfile /g1 /g 2\n",
                         "/home/me", &config, NULL),
        0);
    assert_int_equal(config.n_known_hosts, 5);
    assert_string_equal(config.known_hosts[0], "/home/me/my known  hosts");
    assert_string_equal(config.known_hosts[1], "/home/me/b");
    assert_string_equal(config.known_hosts[2], "/c d");
    assert_string_equal(config.known_hosts[4], "/g 2");
}

static void what_only_openssh_can_do_is_noticed(void **state)
{
    static const char *const texts[][2] = {
        { "proxycommand none\nknownhostscommand none\n", "" },
        { "proxycommand nc %h %p\n", "ProxyCommand" },
        { "certificatefile ~/.ssh/a-cert.pub\n", "CertificateFile" },
        { "revokedhostkeys /etc/ssh/revoked\n", "RevokedHostKeys" },
    };
    struct ssh_config config;
    char text[200];

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        snprintf(text, sizeof(text), "user me\nhostname h\nport 22\n%s",
                 texts[i][0]);
        assert_int_equal(ssh_config_parse(text, "/", &config, NULL), 0);
        assert_string_equal(config.only_openssh, texts[i][1]);
    }
}

static void without_ssh_and_its_files_the_defaults_hold(void **state)
{
    const struct host host = {
        .address = "10.0.0.7", .user = "me", .port = 2222, .key = "~/k"
    };
    struct ssh_config config;

    (void)state;
    assert_int_equal(ssh_config_plain(&host, "/home/me", &config, NULL), 0);
    assert_string_equal(config.hostname, "10.0.0.7");
    assert_int_equal(config.port, 2222);
    assert_true(config.identities_only);
    assert_string_equal(config.identities[0], "/home/me/k");
    assert_string_equal(config.known_hosts[0], "/home/me/.ssh/known_hosts");
    assert_string_equal(config.proxy_jump, "");
}

static void the_value_none_means_unset(void **state)
{
    struct ssh_config config;
    struct err err;

    (void)state;
    assert_int_equal(ssh_config_parse("user me\nhostname h\nport 22\n"
                                      "proxyjump none\nproxycommand none\n"
                                      "identityagent SSH_AUTH_SOCK\n"
                                      "identityfile none\n",
                                      "/", &config, &err),
                     0);
    assert_string_equal(config.proxy_jump, "");
    assert_string_equal(config.proxy_command, "");
    assert_string_equal(config.agent, "");
    assert_int_equal(config.n_identities, 0);
}

static void output_without_a_host_is_refused(void **state)
{
    static const char *const texts[] = { "", "user me\nport 22",
                                         "user me\nhostname h\nport 0",
                                         "hostname h\nport 22" };
    struct ssh_config config;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(ssh_config_parse(texts[i], "/", &config, &err),
                         ERR_PROTO);
}

/* A configuration file of one alias, for the system's ssh. */
static void write_config(char path[])
{
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_true(dprintf(fd, "Host gpu\n HostName 10.0.0.7\n User me\n"
                            " Port 2222\n ProxyJump gate\n") > 0);
    close(fd);
}

static void the_hosts_file_goes_before_the_configuration(void **state)
{
    char path[] = "/tmp/fa-test-config-XXXXXX";
    struct host host = { .address = "gpu", .user = "you" };
    struct ssh_config config;
    struct err err;

    (void)state;
    write_config(path);
    /* Any file that exists: ssh leaves others out. */
    snprintf(host.key, sizeof(host.key), "~%s", strrchr(path, '/'));
    if (ssh_config_read(&host, path, "/tmp", &config, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(config.hostname, "10.0.0.7");
    assert_string_equal(config.user, "you");
    assert_int_equal(config.port, 2222);
    assert_string_equal(config.identities[0], path);
    assert_true(config.identities_only);
    assert_string_equal(config.proxy_jump, "gate");
    unlink(path);
}

static void nothing_of_a_host_reaches_a_shell(void **state)
{
    struct host host = { .address = "$(touch fa-was-here)" };
    struct ssh_config config;
    struct err err;

    (void)state;
    (void)ssh_config_read(&host, "/dev/null", "/", &config, &err);
    assert_int_equal(access("fa-was-here", F_OK), -1);
}

static void a_configuration_that_ssh_refuses_is_quoted(void **state)
{
    struct host host = { .address = "gpu" };
    struct ssh_config config;
    struct err err;

    (void)state;
    assert_int_equal(
        ssh_config_read(&host, "/nowhere/config", "/", &config, &err),
        ERR_INPUT);
    assert_string_equal(err.text, "ssh -G: Can't open user config file "
                                  "/nowhere/config: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_output_of_ssh_is_read),
        cmocka_unit_test(names_with_blanks_are_put_together),
        cmocka_unit_test(what_only_openssh_can_do_is_noticed),
        cmocka_unit_test(without_ssh_and_its_files_the_defaults_hold),
        cmocka_unit_test(the_value_none_means_unset),
        cmocka_unit_test(output_without_a_host_is_refused),
        cmocka_unit_test(the_hosts_file_goes_before_the_configuration),
        cmocka_unit_test(nothing_of_a_host_reaches_a_shell),
        cmocka_unit_test(a_configuration_that_ssh_refuses_is_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
