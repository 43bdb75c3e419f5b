#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zmq.h>

#include "coordinator/link/wake.h"

static void *context, *near, *far;
static struct wake wake;

static int set_up(void **state)
{
    (void)state;
    context = zmq_ctx_new();
    near = zmq_socket(context, ZMQ_PAIR);
    far = zmq_socket(context, ZMQ_PAIR);
    assert_int_equal(zmq_bind(near, "inproc://pair"), 0);
    assert_int_equal(zmq_connect(far, "inproc://pair"), 0);
    wake = wake_of(near);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    zmq_close(near);
    zmq_close(far);
    zmq_ctx_term(context);
    return 0;
}

static void receive(const char *text)
{
    char got[8] = "";

    assert_true(zmq_recv(near, got, sizeof(got) - 1, ZMQ_DONTWAIT) > 0);
    assert_string_equal(got, text);
    wake_touch(&wake);
}

/* Is its descriptor readable, or becomes so? */
static int is_woken(int ms)
{
    struct pollfd fd = wake_poll(&wake);
    int n = poll(&fd, 1, ms);

    wake_polled(&wake, &fd);
    return n;
}

static void what_comes_to_a_quiet_socket_wakes(void **state)
{
    (void)state;
    assert_false(wake_has(&wake));
    assert_true(wake.quiet);
    assert_int_equal(is_woken(0), 0);
    assert_true(wake.quiet);
    zmq_send(far, "one", 3, 0);
    assert_int_equal(is_woken(5000), 1);
    assert_true(wake_has(&wake));
    receive("one");
    assert_false(wake_has(&wake));
}

static void what_is_left_needs_no_waking(void **state)
{
    (void)state;
    assert_false(wake_has(&wake));
    zmq_send(far, "one", 3, 0);
    zmq_send(far, "two", 3, 0);
    assert_int_equal(is_woken(5000), 1);
    receive("one");
    assert_true(wake_has(&wake));
    receive("two");
    assert_false(wake_has(&wake));
}

/* Sending takes in that something has come: the descriptor says nothing. */
static void a_call_on_the_socket_is_a_reason_to_look(void **state)
{
    (void)state;
    assert_false(wake_has(&wake));
    zmq_send(far, "one", 3, 0);
    zmq_send(near, "back", 4, 0);
    wake_touch(&wake);
    assert_true(wake_has(&wake));
    receive("one");
    assert_false(wake_has(&wake));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_comes_to_a_quiet_socket_wakes),
        CASE(what_is_left_needs_no_waking),
        CASE(a_call_on_the_socket_is_a_reason_to_look),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
