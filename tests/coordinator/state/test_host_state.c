#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/state/host_state.h"

static struct host_state host, other;

static int set_up(void **state)
{
    (void)state;
    memset(&host, 0, sizeof(host));
    memset(&other, 0, sizeof(other));
    return 0;
}

static void the_first_reason_to_condemn_it_stays(void **state)
{
    (void)state;
    host_state_condemn(&host, ERR_AUTH, "it lies");
    host_state_floods(&host);
    assert_true(host.conduct.condemned);
    assert_int_equal(host.conn.code, ERR_AUTH);
    assert_string_equal(host.conn.why, "it lies");
    host_state_floods(&other);
    assert_int_equal(other.conn.code, ERR_PROTO);
}

/* A machine that is rented comes only when it is wanted. */
static void who_is_connected_or_is_to_come(void **state)
{
    static const struct {
        enum host_state_state is;
        bool connected, to_come;
    } rows[] = { { HOST_STATE_AWAY, false, true },
                 { HOST_STATE_GREETED, true, true },
                 { HOST_STATE_READY, true, false },
                 { HOST_STATE_FAILED, false, false } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        host.state = rows[i].is;
        host.conn.is_rented = host.conn.is_wanted = false;
        assert_int_equal(host_state_is_connected(&host), rows[i].connected);
        assert_int_equal(host_state_is_to_come(&host), rows[i].to_come);
        host.conn.is_rented = true;
        assert_false(host_state_is_to_come(&host));
        host.conn.is_wanted = true;
        assert_int_equal(host_state_is_to_come(&host), rows[i].to_come);
    }
}

/* The process of that number, since the machine was booted. */
static void a_worker_is_the_same_in_one_boot(void **state)
{
    (void)state;
    snprintf(host.worker.boot_id, sizeof(host.worker.boot_id), "b1");
    snprintf(other.worker.boot_id, sizeof(other.worker.boot_id), "b1");
    assert_false(host_state_same_worker(&host, &other)); /* none is known */
    host.worker.pid = other.worker.pid = 7;
    assert_true(host_state_same_worker(&host, &other));
    other.worker.pid = 8;
    assert_false(host_state_same_worker(&host, &other));
    other.worker.pid = 7;
    snprintf(other.worker.boot_id, sizeof(other.worker.boot_id), "b2");
    assert_false(host_state_same_worker(&host, &other));
}

static void what_it_ran_is_forgotten(void **state)
{
    (void)state;
    host.worker.running = mem_new(2, sizeof(*host.worker.running));
    host.worker.running[0] = mem_strdup("one");
    host.worker.running[1] = mem_strdup("two");
    host.worker.n_running = 2;
    host_state_forget_running(&host);
    assert_null(host.worker.running);
    assert_int_equal(host.worker.n_running, 0);
}

#define CASE(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_first_reason_to_condemn_it_stays),
        CASE(who_is_connected_or_is_to_come),
        CASE(a_worker_is_the_same_in_one_boot),
        CASE(what_it_ran_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
