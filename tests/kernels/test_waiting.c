/* Blocks that wait for each other run in turns, and keep what they have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/kernels/fixture.h"

#define SOURCE "tests/fixtures/kernels/waiting.cu"

enum {
    BLOCKS = 7,
    N = BLOCKS * 64,
    LIMIT_S = 60 /* a busy machine must not end what is right */
};

static void blocks_that_wait_keep_what_they_have(void **state)
{
    struct device_buffer *in = fixture_buffer("in", ELEMENT_INT32, N);
    struct device_buffer *out = fixture_buffer("out", ELEMENT_INT32, N);
    struct device_buffer *arrived = fixture_buffer("arrived", ELEMENT_INT32, 1);
    void *p[3] = { device_address(in), device_address(out),
                   device_address(arrived) };
    void *args[3] = { &p[0], &p[1], &p[2] };
    struct device_launch launch = { .grid = { BLOCKS, 1, 1 },
                                    .block = { 64, 1, 1 },
                                    .smem = 512,
                                    .args = args,
                                    .n_args = 3 };
    struct device_err err;

    (void)state;
    for (int i = 0; i < N; i++)
        ((int *)p[0])[i] = 3 * i;
    launch.kernel = fixture_load("waiting", SOURCE, "waiting", "");
    for (int order = 0; order < 5; order++) { /* forward, in reverse, drawn */
        *(int *)p[2] = 0;
        if (device_run(NULL, &launch, LIMIT_S, &err) < 0)
            fail_msg("launch %d: %s", order, err.text);
        for (int i = 0; i < N; i++) {
            const int from = N - 1 - i; /* its thread reads that of 63 - t */
            const int other = from / 64 * 64 + 63 - from % 64;

            assert_int_equal(((int *)p[1])[i], 3 * other + 120 + 3 * i);
        }
    }
    device_unload(NULL, launch.kernel);
    device_free(NULL, in);
    device_free(NULL, out);
    device_free(NULL, arrived);
}

static void fixture_builds_for_a_gpu_as_well(void **state)
{
    (void)state;
    assert_true(fixture_builds_for_gpu("waiting", SOURCE, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_that_wait_keep_what_they_have),
        cmocka_unit_test(fixture_builds_for_a_gpu_as_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
