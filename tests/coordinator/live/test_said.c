#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "coordinator/live/said.h"

static void a_text_is_new_once_for_each_host(void **state)
{
    struct said *said = said_new();

    (void)state;
    assert_true(said_is_new(said, "a", "ready"));
    assert_false(said_is_new(said, "a", "ready"));
    assert_true(said_is_new(said, "a", "ready: 2 GPUs"));
    assert_true(said_is_new(said, "b", "ready"));
    assert_false(said_is_new(said, "b", "ready"));
    said_free(said);
}

static void what_is_forgotten_is_new_again(void **state)
{
    struct said *said = said_new();

    (void)state;
    assert_true(said_is_new(said, "a", "ready"));
    assert_true(said_is_new(said, "b", "ready"));
    assert_true(said_is_new(said, "a", "warning"));
    said_forget(said, "a");
    assert_true(said_is_new(said, "a", "warning"));
    assert_true(said_is_new(said, "a", "ready"));
    assert_false(said_is_new(said, "b", "ready"));
    said_free(said);
}

static void many_are_remembered(void **state)
{
    struct said *said = said_new();
    char host[16];

    (void)state;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < 100; i++) {
            snprintf(host, sizeof(host), "host%d", i);
            assert_int_equal(said_is_new(said, host, "ready"), turn == 0);
        }
    said_free(said);
    said_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_new_once_for_each_host),
        cmocka_unit_test(what_is_forgotten_is_new_again),
        cmocka_unit_test(many_are_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
