#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/process/event_queue.h"

static void add(struct event_queue *queue, int number)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", number);
    event_queue_add(queue, text, strlen(text));
}

static int take(struct event_queue *queue)
{
    char *text = event_queue_take(queue);
    int number = text ? atoi(text) : -1;

    free(text);
    return number;
}

static void the_oldest_comes_first(void **state)
{
    struct event_queue queue = { .n = 0 };

    (void)state;
    assert_int_equal(take(&queue), -1);
    for (int i = 0; i < 3 * EVENT_QUEUE_MAX; i++) {
        add(&queue, i);
        assert_int_equal(take(&queue), i);
    }
    assert_int_equal(queue.dropped, 0);
}

static void a_full_one_drops_the_oldest(void **state)
{
    struct event_queue queue = { .n = 0 };

    (void)state;
    for (int i = 0; i < EVENT_QUEUE_MAX + 5; i++)
        add(&queue, i);
    assert_int_equal(queue.dropped, 5);
    assert_int_equal(queue.n, EVENT_QUEUE_MAX);
    for (int i = 5; i < EVENT_QUEUE_MAX + 5; i++)
        assert_int_equal(take(&queue), i);
}

static void the_last_can_be_kept_alone(void **state)
{
    struct event_queue queue = { .n = 0 };

    (void)state;
    event_queue_keep_last(&queue);
    assert_int_equal(queue.dropped, 0);
    for (int i = 0; i < 4; i++)
        add(&queue, i);
    event_queue_keep_last(&queue);
    assert_int_equal(queue.dropped, 3);
    assert_int_equal(take(&queue), 3);
    add(&queue, 7);
    event_queue_fini(&queue);
    assert_int_equal(take(&queue), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_comes_first),
        cmocka_unit_test(a_full_one_drops_the_oldest),
        cmocka_unit_test(the_last_can_be_kept_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
