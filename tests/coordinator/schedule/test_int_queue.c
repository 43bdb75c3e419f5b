#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/schedule/int_queue.h"

static void expect(const struct int_queue *queue, int from, int n)
{
    assert_int_equal(queue->n, n);
    for (int i = 0; i < n; i++)
        assert_int_equal(int_queue_peek(queue, i), from + i);
}

/* 64 places at first, of which the ring uses all. */
static void it_grows_when_it_is_full_and_keeps_its_order(void **state)
{
    struct int_queue queue = { 0 };

    (void)state;
    for (int i = 0; i < 64; i++)
        int_queue_push(&queue, i);
    assert_int_equal(queue.cap, 64);
    int_queue_remove(&queue, 0);
    int_queue_push(&queue, 64);
    assert_int_equal(queue.cap, 64);
    expect(&queue, 1, 64);
    int_queue_push(&queue, 65);
    assert_int_equal(queue.cap, 128);
    expect(&queue, 1, 65);
    int_queue_fini(&queue);
    assert_int_equal(queue.n, 0);
}

static void the_front_goes_before_all(void **state)
{
    struct int_queue queue = { 0 };

    (void)state;
    for (int i = 70; i > 0; i--)
        int_queue_push_front(&queue, i);
    int_queue_push(&queue, 71);
    expect(&queue, 1, 71);
    int_queue_fini(&queue);
}

static void what_is_taken_from_the_middle_closes_up(void **state)
{
    struct int_queue queue = { 0 };

    (void)state;
    for (int i = 0; i < 5; i++)
        int_queue_push(&queue, i == 3 ? 99 : i < 3 ? i : i - 1);
    int_queue_remove(&queue, 3);
    expect(&queue, 0, 4);
    int_queue_remove(&queue, 0);
    expect(&queue, 1, 3);
    int_queue_remove(&queue, 2);
    expect(&queue, 1, 2);
    int_queue_fini(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_grows_when_it_is_full_and_keeps_its_order),
        cmocka_unit_test(the_front_goes_before_all),
        cmocka_unit_test(what_is_taken_from_the_middle_closes_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
