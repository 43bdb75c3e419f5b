/* Threads that do not wait for each other share stacks, and no thread loses its
 * local variables to another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/kernels/fixture.h"

#define SOURCE "tests/fixtures/kernels/stacks.cu"

enum {
    BLOCKS = 3,
    THREADS = 100, /* the last warp is not whole */
    N = BLOCKS * THREADS,
    LIMIT_S = 60
};

static struct device_kernel *kernel;
static struct device_buffer *pages, *kept;

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Launch it; in how many pages the first block had its local variables. */
static int count_pages(int wait)
{
    void *p[2] = { device_address(pages), device_address(kept) };
    void *args[3] = { &p[0], &p[1], &wait };
    const struct device_launch launch = { .kernel = kernel,
                                          .grid = { BLOCKS, 1, 1 },
                                          .block = { THREADS, 1, 1 },
                                          .args = args,
                                          .n_args = 3 };
    struct device_err err;
    uint32_t *page = p[0];
    int n = 1;

    if (device_run(NULL, &launch, LIMIT_S, &err) < 0)
        fail_msg("%s", err.text);
    qsort(page, THREADS, sizeof(*page), compare);
    for (int i = 1; i < THREADS; i++)
        n += page[i] != page[i - 1];
    return n;
}

static void assert_kept(int wait)
{
    const uint32_t *sums = device_address(kept);

    for (uint32_t i = 0; i < N; i++) {
        const uint32_t lane = i % THREADS;

        assert_int_equal(sums[i], wait == 2 && lane % 3 == 0 ? 0 : 64 * i);
    }
}

static void threads_that_do_not_wait_share_two_stacks(void **state)
{
    (void)state;
    assert_in_range(count_pages(0), 1, 2);
    assert_kept(0);
}

static void threads_that_wait_have_one_each(void **state)
{
    (void)state;
    assert_int_equal(count_pages(1), THREADS);
    assert_kept(1);
}

static void what_ended_threads_leave_is_nobody_elses(void **state)
{
    (void)state;
    assert_in_range(count_pages(2), THREADS - THREADS / 3 - 1, THREADS);
    assert_kept(2);
}

static int start(void **state)
{
    (void)state;
    pages = fixture_buffer("pages", ELEMENT_INT32, N);
    kept = fixture_buffer("kept", ELEMENT_INT32, N);
    kernel = fixture_load("stacks", SOURCE, "stacks", "");
    return 0;
}

static int end(void **state)
{
    (void)state;
    device_unload(NULL, kernel);
    device_free(NULL, pages);
    device_free(NULL, kept);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_do_not_wait_share_two_stacks),
        cmocka_unit_test(threads_that_wait_have_one_each),
        cmocka_unit_test(what_ended_threads_leave_is_nobody_elses),
    };

    return cmocka_run_group_tests(tests, start, end);
}
