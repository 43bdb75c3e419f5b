#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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
    static const char *const rows[] = { "",           "gpu7",
                                        "gpu7:1",     "10.0.0.5:",
                                        "10.0.0.5:0", "10.0.0.5:x",
                                        "[::1",       "10.0.0.5:70000" };
    struct listen listen;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(listen_read(rows[i], &listen, &err), ERR_INPUT);
}

static void an_invitation_names_what_others_can_reach(void **state)
{
    struct listen listen = { .port = 0 };
    char out[512];

    (void)state;
    listen_addresses(&listen, 4711, out, sizeof(out));
    assert_non_null(strstr(out, ":4711"));
    assert_null(strstr(out, "[fe80"));
    assert_int_equal(listen_read("[::1]:5", &listen, NULL), 0);
    listen_addresses(&listen, 5, out, sizeof(out));
    assert_string_equal(out, "tcp://[::1]:5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_and_ports_are_read),
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(an_invitation_names_what_others_can_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
