#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/remote/remote.h"
#include "coordinator/remote/route.h"

static char config[] = "/tmp/fa-test-route-XXXXXX";

static struct route *open_or_fail(const struct host *host, bool accept_new)
{
    static struct remote_options options;
    struct route *route;
    struct err err;

    options = (struct remote_options){ .config = config,
                                       .home = "/home/me",
                                       .accept_new_host_keys = accept_new };
    if (route_open(host, &options, &route, &err) < 0)
        fail_msg("%s", err.text);
    return route;
}

static void command_is(const struct route *route, size_t n, const char *want)
{
    struct buf text;
    char all[256];

    buf_init(&text, 1024);
    route_command(route, n, &text);
    snprintf(all, sizeof(all), "ssh -F %s%s", config, want);
    assert_string_equal(buf_text(&text), all);
    buf_fini(&text);
}

static void file_has(const struct route_hop *hop, const char *want, bool has)
{
    char text[4096];
    FILE *file = fopen(hop->file, "r");
    size_t n;

    assert_non_null(file);
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    if ((strstr(text, want) != NULL) != has)
        fail_msg("'%s' in: %s", want, text);
}

static void jump_hosts_of_jump_hosts_come_first(void **state)
{
    const struct host host = { .address = "gpu" };
    struct route *route = open_or_fail(&host, false);

    (void)state;
    assert_int_equal(route->n, 4);
    assert_string_equal(route->hops[0]->host.address, "a");
    assert_string_equal(route->hops[1]->host.name, "you@b:2222");
    assert_string_equal(route->hops[2]->host.address, "c");
    assert_string_equal(route_jump(route)->host.address, "c");
    assert_string_equal(route_target(route)->config.hostname, "10.0.0.7");
    assert_string_equal(route->hops[1]->config.user, "you");
    assert_int_equal(route->hops[1]->config.port, 2222);
    command_is(route, 4, " -J a,you@b:2222,c gpu");
    command_is(route, 2, " -J a -p 2222 -l you b");
    command_is(route, 1, " a");
    route_free(route);
}

static void each_file_leads_to_the_one_before(void **state)
{
    const struct host host = { .address = "gpu", .key = "~/k" };
    struct route *route = open_or_fail(&host, true);
    char proxy[128];

    (void)state;
    file_has(route->hops[0], "ProxyCommand", false);
    for (size_t i = 1; i < route->n; i++) {
        snprintf(proxy, sizeof(proxy),
                 "ProxyCommand ssh -F %s%s -W '[%%h]:%%p'",
                 route->hops[i - 1]->file, i == 2 ? " -l 'you' -p 2222" : "");
        file_has(route->hops[i], proxy, true);
    }
    for (size_t i = 0; i < route->n; i++) {
        file_has(route->hops[i], "StrictHostKeyChecking accept-new", true);
        file_has(route->hops[i], "IdentityFile", false); /* not of jump= */
    }
    route_free(route);
}

static void the_key_reaches_the_jump_hosts_of_the_line(void **state)
{
    const struct host host = { .address = "other",
                               .key = "~/k",
                               .jump = "me@[2001:db8::1]:2222" };
    struct route *route = open_or_fail(&host, false);

    (void)state;
    assert_int_equal(route->n, 2);
    file_has(route->hops[0], "IdentityFile \"/home/me/k\"", true);
    file_has(route->hops[0], "StrictHostKeyChecking yes", true);
    command_is(route, 2, " -i ~/k -J me@[2001:db8::1]:2222 other");
    command_is(route, 1, " -i ~/k -p 2222 -l me 2001:db8::1");
    route_free(route);
}

static void what_a_shell_would_read_is_refused(void **state)
{
    const struct host host = { .address = "evil" };
    struct remote_options options = { .config = config, .home = "/" };
    struct route *route;
    struct err err;

    (void)state;
    assert_int_equal(route_open(&host, &options, &route, &err), ERR_INPUT);
    assert_null(route);
    assert_non_null(strstr(err.text, "jump host"));
}

static int setup(void **state)
{
    int fd = mkstemp(config);

    (void)state;
    assert_true(fd >= 0);
    assert_true(dprintf(fd, "Host gpu\n HostName 10.0.0.7\n"
                            " ProxyJump you@b:2222,c\n"
                            "Host b\n ProxyJump a\n"
                            "Host c\n ProxyJump ignored\n"
                            "Host evil\n ProxyJump $(id)\n"
                            "Host *\n UserKnownHostsFile /dev/null\n"
                            " GlobalKnownHostsFile /dev/null\n") > 0);
    return close(fd);
}

static int teardown(void **state)
{
    (void)state;
    return unlink(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jump_hosts_of_jump_hosts_come_first),
        cmocka_unit_test(each_file_leads_to_the_one_before),
        cmocka_unit_test(the_key_reaches_the_jump_hosts_of_the_line),
        cmocka_unit_test(what_a_shell_would_read_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
