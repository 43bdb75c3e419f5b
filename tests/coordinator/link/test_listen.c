#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/link/listen.h"

static void addresses_and_ports_are_read(void **state)
{
    static const struct {
        const char *text, *address, *endpoint;
        int port;
    } rows[] = {
        { NULL, "", "tcp://*:*", 0 },
        { "10.0.0.5", "10.0.0.5", "tcp://10.0.0.5:*", 0 },
        { "10.0.0.5:4711", "10.0.0.5", "tcp://10.0.0.5:4711", 4711 },
        { "10.0.0.5:1", "10.0.0.5", "tcp://10.0.0.5:1", 1 },
        { "10.0.0.5:65535", "10.0.0.5", "tcp://10.0.0.5:65535", 65535 },
        { "fd00::5", "fd00::5", "tcp://[fd00::5]:*", 0 },
        { "[fd00::5]:4711", "fd00::5", "tcp://[fd00::5]:4711", 4711 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct listen listen;
        char endpoint[128];

        assert_int_equal(listen_read(rows[i].text, &listen, NULL), 0);
        assert_string_equal(listen.address, rows[i].address);
        assert_int_equal(listen.port, rows[i].port);
        listen_endpoint(&listen, endpoint, sizeof(endpoint));
        assert_string_equal(endpoint, rows[i].endpoint);
    }
}

static void what_is_no_address_is_refused(void **state)
{
    static const char *const rows[] = {
        "",           "gpu7", "gpu7:1",         "10.0.0.5:", "10.0.0.5:0",
        "10.0.0.5:x", "[::1", "10.0.0.5:65536", "[::1]5",    "10.0.0.5:000001",
        "[",          "::1]"
    };
    struct listen listen;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(listen_read(rows[i], &listen, &err), ERR_INPUT);
}

/* The machine's interfaces, as getifaddrs() has them. */
static struct ifaddrs interfaces[16];
static struct sockaddr_storage addresses[16];
static int n_interfaces, n_freed;

int getifaddrs(struct ifaddrs **out)
{
    *out = n_interfaces ? interfaces : NULL;
    return 0;
}

void freeifaddrs(struct ifaddrs *all)
{
    (void)all;
    n_freed++;
}

static void add_interface(const char *address, unsigned flags)
{
    struct ifaddrs *one = &interfaces[n_interfaces];
    struct sockaddr_in *in = (struct sockaddr_in *)&addresses[n_interfaces];
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)in;

    *one = (struct ifaddrs){ .ifa_flags = flags };
    if (n_interfaces++ > 0)
        one[-1].ifa_next = one;
    if (!address)
        return;
    one->ifa_addr = (struct sockaddr *)in;
    in->sin_family = strchr(address, ':') ? AF_INET6 : AF_INET;
    if (in->sin_family == AF_INET)
        assert_int_equal(inet_pton(AF_INET, address, &in->sin_addr), 1);
    else
        assert_int_equal(inet_pton(AF_INET6, address, &in6->sin6_addr), 1);
}

static void an_invitation_names_what_others_can_reach(void **state)
{
    struct listen listen = { .port = 0 };
    char out[512];

    (void)state;
    n_interfaces = n_freed = 0;
    listen_addresses(&listen, 4711, out, sizeof(out));
    assert_string_equal(out, "tcp://127.0.0.1:4711"); /* there is no other */
    add_interface(NULL, IFF_UP);
    add_interface("127.0.0.1", IFF_UP | IFF_LOOPBACK);
    add_interface("10.0.0.1", 0);
    add_interface("169.254.7.7", IFF_UP);
    add_interface("fe80::7", IFF_UP);
    listen_addresses(&listen, 4711, out, sizeof(out));
    assert_string_equal(out, "tcp://127.0.0.1:4711");
    add_interface("10.0.0.5", IFF_UP);
    add_interface("fd00::5", IFF_UP);
    listen_addresses(&listen, 4711, out, sizeof(out));
    assert_string_equal(out, "tcp://10.0.0.5:4711,tcp://[fd00::5]:4711");
    assert_int_equal(n_freed, 3);
    assert_int_equal(listen_read("[::1]:5", &listen, NULL), 0);
    listen_addresses(&listen, 5, out, sizeof(out));
    assert_string_equal(out, "tcp://[::1]:5");
}

/* At most eight, and each whole. */
static void an_invitation_has_room_for_some(void **state)
{
    struct listen listen = { .port = 0 };
    char out[512];
    size_t eight = 8 * strlen("tcp://10.0.0.1:1,");

    (void)state;
    n_interfaces = 0;
    for (char i = '1'; i <= '9'; i++)
        add_interface((const char[]){ '1', '0', '.', '0', '.', '0', '.', i, 0 },
                      IFF_UP);
    listen_addresses(&listen, 1, out, sizeof(out));
    assert_int_equal(strlen(out), eight - 1);
    assert_non_null(strstr(out, "10.0.0.8"));
    listen_addresses(&listen, 1, out, eight);
    assert_int_equal(strlen(out), eight - 1);
    listen_addresses(&listen, 1, out, eight - 1);
    assert_null(strstr(out, "10.0.0.8"));
    assert_non_null(strstr(out, "10.0.0.7:1"));
}

static void a_free_port_can_be_bound(void **state)
{
    static const char *const texts[] = { NULL, "127.0.0.1", "::1" };
    int before = dup(0), after, port;
    struct listen listen;
    struct err err;

    (void)state;
    close(before);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        port = 0;
        assert_int_equal(listen_read(texts[i], &listen, &err), 0);
        if (listen_free_port(&listen, &port, &err) == 0)
            assert_in_range(port, 1, 65535);
        else
            assert_string_equal(texts[i], "::1"); /* a machine without it */
    }
    assert_int_equal(listen_read("192.0.2.1", &listen, &err), 0);
    assert_int_equal(listen_free_port(&listen, &port, &err), ERR_SYSTEM);
    assert_memory_equal(err.text, "a free port of 192.0.2.1: ", 26);
    after = dup(0);
    assert_int_equal(after, before); /* nothing is left open */
    close(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_and_ports_are_read),
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(an_invitation_names_what_others_can_reach),
        cmocka_unit_test(an_invitation_has_room_for_some),
        cmocka_unit_test(a_free_port_can_be_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
