#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/main/peer_program.h"

static void is_named(const char *link, const char *name)
{
    char text[100];

    snprintf(text, sizeof(text), "%s", link);
    assert_string_equal(peer_program_name(text), name);
}

static void a_program_is_named_by_its_file(void **state)
{
    (void)state;
    is_named("/home/u/.cache/fa-coord/fa-worker-12ab", "fa-worker-12ab");
    is_named("/w/fa-worker-12ab (deleted)", "fa-worker-12ab");
    is_named(" (deleted)", " (deleted)");
    is_named("fa-worker", "fa-worker");
}

static void the_same_program_does_not_differ(void **state)
{
    int pair[2];
    pid_t pid = 0;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_false(peer_program_differs(pair[0], &pid));
    assert_int_equal(pid, getpid());
    close(pair[0]);
    close(pair[1]);
}

static void what_is_no_socket_does_not_differ(void **state)
{
    pid_t pid;

    (void)state;
    assert_false(peer_program_differs(-1, &pid));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_named_by_its_file),
        cmocka_unit_test(the_same_program_does_not_differ),
        cmocka_unit_test(what_is_no_socket_does_not_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
