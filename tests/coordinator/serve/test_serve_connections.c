#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "coordinator/serve/serve_connections.h"

#define PAIRS (SERVE_CONNECTIONS_MAX + 2)

static int ours[PAIRS], theirs[PAIRS];

static int open_pairs(void **state)
{
    (void)state;
    for (size_t i = 0; i < PAIRS; i++) {
        int pair[2];

        assert_int_equal(
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
        ours[i] = pair[0];
        theirs[i] = pair[1];
    }
    return 0;
}

static int close_pairs(void **state)
{
    (void)state;
    for (size_t i = 0; i < PAIRS; i++) {
        close(ours[i]);
        close(theirs[i]);
    }
    return 0;
}

/* Its peer reads the end. */
static int is_shut(size_t i)
{
    char byte;

    return recv(theirs[i], &byte, 1, 0) == 0;
}

static void the_oldest_makes_room(void **state)
{
    struct serve_connections open = { .n = 0 };

    (void)state;
    for (size_t i = 0; i < PAIRS; i++)
        serve_connections_add(&open, ours[i]);
    for (size_t i = 0; i < PAIRS; i++)
        assert_int_equal(is_shut(i), i < 2);
    assert_int_equal(open.n, SERVE_CONNECTIONS_MAX);
}

static void one_that_is_closed_leaves_room(void **state)
{
    struct serve_connections open = { .n = 0 };

    (void)state;
    for (size_t i = 0; i < SERVE_CONNECTIONS_MAX; i++)
        serve_connections_add(&open, ours[i]);
    serve_connections_remove(&open, ours[SERVE_CONNECTIONS_MAX - 1]);
    serve_connections_remove(&open, ours[3]);
    serve_connections_remove(&open, ours[3]); /* unknown now */
    for (size_t i = SERVE_CONNECTIONS_MAX; i < PAIRS; i++)
        serve_connections_add(&open, ours[i]);
    for (size_t i = 0; i < PAIRS; i++)
        assert_false(is_shut(i));
    assert_int_equal(open.fds[3], ours[4]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_oldest_makes_room, open_pairs,
                                        close_pairs),
        cmocka_unit_test_setup_teardown(one_that_is_closed_leaves_room,
                                        open_pairs, close_pairs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
