#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/remote/login_pace.h"

#define GATE "gate:22"
#define HOSTS 64
#define START_NS (5 * NS_PER_S)

static int setup(void **state)
{
    *state = login_pace_new(HOSTS);
    return 0;
}

static int teardown(void **state)
{
    login_pace_free(*state);
    return 0;
}

static void ask(struct login_pace *pace, size_t first, size_t n,
                const char *server)
{
    for (size_t i = first; i < first + n; i++)
        login_pace_ask(pace, i, server);
}

/* How many enter now. */
static int enter(struct login_pace *pace)
{
    size_t host;
    int n = 0;

    while (login_pace_next(pace, &host))
        n++;
    return n;
}

static bool end(struct login_pace *pace, size_t host, enum login_pace_end how)
{
    return login_pace_end(pace, host, how, START_NS);
}

static void the_ninth_login_waits_for_the_end_of_one(void **state)
{
    size_t host;

    ask(*state, 0, 10, GATE);
    assert_int_equal(enter(*state), 8);
    assert_false(end(*state, 3, LOGIN_PACE_FAILED));
    assert_true(login_pace_next(*state, &host));
    assert_int_equal(host, 8); /* it asked first */
    assert_int_equal(enter(*state), 0);
}

static void servers_are_counted_apart(void **state)
{
    ask(*state, 0, 10, GATE);
    ask(*state, 10, 10, "gate:2222");
    assert_int_equal(enter(*state), 16);
}

static void a_host_that_gives_up_leaves_its_place(void **state)
{
    ask(*state, 0, 9, GATE);
    assert_int_equal(enter(*state), 8);
    assert_false(end(*state, 8, LOGIN_PACE_FAILED)); /* it waited */
    assert_false(end(*state, 0, LOGIN_PACE_FAILED));
    assert_false(end(*state, 0, LOGIN_PACE_FAILED)); /* it is gone already */
    assert_int_equal(enter(*state), 0);
    login_pace_ask(*state, 20, GATE);
    login_pace_ask(*state, 21, GATE);
    assert_int_equal(enter(*state), 1);
}

static void
as_many_successes_as_it_is_wide_widen_the_window_by_one(void **state)
{
    for (int i = 0; i < 9; i++) {
        ask(*state, 0, 1, GATE);
        assert_int_equal(enter(*state), 1);
        assert_false(end(*state, 0, LOGIN_PACE_IN));
    }
    assert_int_equal(login_pace_window(*state, GATE), 9);
    for (int i = 0; i < 10000; i++) {
        ask(*state, 0, 1, GATE);
        assert_int_equal(enter(*state), 1);
        assert_false(end(*state, 0, LOGIN_PACE_IN));
    }
    assert_int_equal(login_pace_window(*state, GATE), LOGIN_PACE_MOST);
}

static void drops_of_one_burst_halve_the_window_once(void **state)
{
    ask(*state, 0, 8, GATE);
    assert_int_equal(enter(*state), 8);
    for (size_t i = 0; i < 4; i++)
        assert_true(end(*state, i, LOGIN_PACE_DROPPED));
    assert_int_equal(login_pace_window(*state, GATE), 4);
    assert_int_equal(enter(*state), 0); /* four are still inside */
    ask(*state, 0, 4, GATE);
    for (size_t i = 4; i < 8; i++)
        assert_false(end(*state, i, LOGIN_PACE_IN));
    assert_int_equal(login_pace_window(*state, GATE), 4);
    assert_int_equal(enter(*state), 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(end(*state, i, LOGIN_PACE_DROPPED));
    assert_int_equal(login_pace_window(*state, GATE), 2);
}

static void one_login_is_always_allowed(void **state)
{
    for (int i = 0; i < 8; i++) {
        ask(*state, 0, 1, GATE);
        assert_int_equal(enter(*state), 1);
        end(*state, 0, LOGIN_PACE_DROPPED);
    }
    assert_int_equal(login_pace_window(*state, GATE), 1);
}

/* What closes every connection, such as a forwarded port without a server, is
 * no busy server. */
static void a_drop_is_the_hosts_own_if_the_server_never_answered(void **state)
{
    ask(*state, 0, 2, GATE);
    assert_int_equal(enter(*state), 2);
    assert_true(end(*state, 0, LOGIN_PACE_DROPPED));
    assert_false(end(*state, 1, LOGIN_PACE_DROPPED));
}

static void a_server_that_answered_a_minute_ago_is_not_busy(void **state)
{
    ask(*state, 0, 1, GATE);
    assert_int_equal(enter(*state), 1);
    assert_false(end(*state, 0, LOGIN_PACE_IN));
    for (int s = 59; s <= 60; s++) {
        ask(*state, 0, 1, GATE);
        assert_int_equal(enter(*state), 1);
        assert_int_equal(login_pace_end(*state, 0, LOGIN_PACE_DROPPED,
                                        START_NS + s * NS_PER_S),
                         s < 60);
    }
}

/* One tick of an sshd that drops all beyond ten, and where a login takes a
 * tick.  Returns how many got in; those that were dropped ask again. */
static int tick(struct login_pace *pace, int *drops)
{
    size_t startups[10], host;
    int n = 0;

    while (login_pace_next(pace, &host)) {
        if (n < 10) {
            startups[n++] = host;
            continue;
        }
        assert_true(end(pace, host, LOGIN_PACE_DROPPED));
        login_pace_ask(pace, host, GATE);
        (*drops)++;
    }
    for (int i = 0; i < n; i++)
        assert_false(end(pace, startups[i], LOGIN_PACE_IN));
    return n;
}

static void a_fleet_gets_through_with_few_drops(void **state)
{
    int there = 0, ticks = 0, drops = 0;

    ask(*state, 0, HOSTS, GATE);
    for (; there < HOSTS && ticks < 100; ticks++)
        there += tick(*state, &drops);
    assert_int_equal(there, HOSTS);
    assert_in_range(ticks, HOSTS / 10, HOSTS / 6);
    assert_in_range(drops, 1, 4);
}

/* The server of an address shows who it is. */
static void show(struct login_pace *pace, size_t host, const char *identity)
{
    login_pace_known(pace, host, identity);
    assert_false(end(pace, host, LOGIN_PACE_IN));
}

static void addresses_of_one_identity_are_one_server(void **state)
{
    ask(*state, 0, 8, "10.0.0.1:22");
    ask(*state, 8, 8, "10.0.0.2:22");
    assert_int_equal(enter(*state), 16);
    show(*state, 0, "SHA256:a SSH-2.0-x");
    show(*state, 8, "SHA256:a SSH-2.0-x");
    ask(*state, 20, 4, "10.0.0.1:22");
    assert_int_equal(enter(*state), 0); /* 14 are inside */
    for (size_t i = 1; i < 8; i++)
        end(*state, i, LOGIN_PACE_FAILED);
    assert_int_equal(enter(*state), 1); /* 7 are inside at the other one */
    assert_true(end(*state, 9, LOGIN_PACE_DROPPED));
    assert_int_equal(login_pace_window(*state, "10.0.0.1:22"), 4);
    assert_int_equal(login_pace_window(*state, "10.0.0.2:22"), 4);
}

static void other_identities_are_other_servers(void **state)
{
    ask(*state, 0, 8, "10.0.0.1:22");
    ask(*state, 8, 8, "10.0.0.2:22");
    assert_int_equal(enter(*state), 16);
    show(*state, 0, "SHA256:a SSH-2.0-x");
    show(*state, 8, "SHA256:a SSH-2.0-y");
    ask(*state, 20, 1, "10.0.0.1:22");
    ask(*state, 21, 1, "10.0.0.2:22");
    assert_int_equal(enter(*state), 2);
}

static void an_identity_that_is_not_known_says_nothing(void **state)
{
    ask(*state, 0, 8, "10.0.0.1:22");
    ask(*state, 8, 8, "10.0.0.2:22");
    assert_int_equal(enter(*state), 16);
    show(*state, 0, "");
    show(*state, 8, "");
    ask(*state, 20, 1, "10.0.0.1:22");
    ask(*state, 21, 1, "10.0.0.2:22");
    assert_int_equal(enter(*state), 2);
}

static void ask_alias(struct login_pace *pace, size_t host)
{
    char name[32];

    snprintf(name, sizeof(name), "10.0.0.%zu:22", host);
    login_pace_ask(pace, host, name);
}

/* They may be one sshd; who got in shows that later. */
static void addresses_that_drop_are_one_server(void **state)
{
    for (size_t i = 0; i < 20; i++)
        ask_alias(*state, i);
    assert_int_equal(enter(*state), 20);
    for (size_t i = 10; i < 20; i++)
        assert_true(end(*state, i, LOGIN_PACE_DROPPED));
    assert_int_equal(login_pace_window(*state, "10.0.0.10:22"), 4);
    for (size_t i = 0; i < 10; i++)
        show(*state, i, "SHA256:a SSH-2.0-x");
    for (size_t i = 10; i < 20; i++)
        ask_alias(*state, i);
    assert_int_equal(enter(*state), 4);
    show(*state, 10, "SHA256:a SSH-2.0-x");
    assert_int_equal(enter(*state), 1);
    assert_int_equal(login_pace_window(*state, "10.0.0.0:22"), 4);
}

/* The other one may have been in its way; the second time it is alone. */
static void a_drop_beside_another_login_is_not_the_hosts_own(void **state)
{
    ask_alias(*state, 0);
    ask_alias(*state, 1);
    assert_int_equal(enter(*state), 2);
    show(*state, 0, "SHA256:a SSH-2.0-x");
    assert_true(end(*state, 1, LOGIN_PACE_DROPPED));
    ask_alias(*state, 1);
    assert_int_equal(enter(*state), 1);
    assert_false(end(*state, 1, LOGIN_PACE_DROPPED));
}

/* A tick of an sshd with an address for each host.  Those that were dropped ask
 * again when it is over. */
static int tick_of_aliases(struct login_pace *pace, int *drops)
{
    size_t startups[10], dropped[HOSTS], host;
    int n = 0, n_dropped = 0;

    while (login_pace_next(pace, &host)) {
        if (n < 10) {
            startups[n++] = host;
            continue;
        }
        assert_true(end(pace, host, LOGIN_PACE_DROPPED));
        dropped[n_dropped++] = host;
    }
    for (int i = 0; i < n; i++)
        show(pace, startups[i], "SHA256:a SSH-2.0-x");
    for (int i = 0; i < n_dropped; i++)
        ask_alias(pace, dropped[i]);
    *drops += n_dropped;
    return n;
}

/* The first ones go to 64 servers, for all that is known. */
static void a_fleet_of_aliases_gets_through_with_few_drops(void **state)
{
    int there = 0, ticks = 0, drops = 0;

    for (size_t i = 0; i < HOSTS; i++)
        ask_alias(*state, i);
    there += tick_of_aliases(*state, &drops);
    for (ticks++; there < HOSTS && ticks < 100; ticks++)
        there += tick_of_aliases(*state, &drops);
    assert_int_equal(there, HOSTS);
    assert_in_range(ticks, HOSTS / 10, HOSTS / 5);
    assert_in_range(drops, HOSTS - 10, HOSTS); /* the first burst, mostly */
}

static void pauses_grow_and_differ(void **state)
{
    (void)state;
    assert_int_equal(login_pace_pause_ms(0, 0), 200);
    assert_int_equal(login_pace_pause_ms(0, 200), 400);
    assert_int_equal(login_pace_pause_ms(3, 0), 1600);
    assert_int_equal(login_pace_pause_ms(3, 7), 1607);
    for (uint32_t i = 0; i < 100; i++)
        assert_in_range(login_pace_pause_ms(1000, i * 123457), 3200, 6400);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_ninth_login_waits_for_the_end_of_one),
        TEST(servers_are_counted_apart),
        TEST(a_host_that_gives_up_leaves_its_place),
        TEST(as_many_successes_as_it_is_wide_widen_the_window_by_one),
        TEST(drops_of_one_burst_halve_the_window_once),
        TEST(one_login_is_always_allowed),
        TEST(a_drop_is_the_hosts_own_if_the_server_never_answered),
        TEST(a_server_that_answered_a_minute_ago_is_not_busy),
        TEST(a_fleet_gets_through_with_few_drops),
        TEST(addresses_of_one_identity_are_one_server),
        TEST(other_identities_are_other_servers),
        TEST(an_identity_that_is_not_known_says_nothing),
        TEST(addresses_that_drop_are_one_server),
        TEST(a_drop_beside_another_login_is_not_the_hosts_own),
        TEST(a_fleet_of_aliases_gets_through_with_few_drops),
        cmocka_unit_test(pauses_grow_and_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
