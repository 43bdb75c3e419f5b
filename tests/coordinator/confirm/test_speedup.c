/* Simulated passes; 'all' as an argument runs each kind 2,000 times, which
 * is enough to tell 95 % from 93.5 %. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/mem.h"
#include "coordinator/confirm/speedup.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/noise.h"

static size_t n_passes = 2000;
static size_t stride = 7; /* of all kinds, every seventh */

/* The share of the 95 % intervals that contain the true 2 %. */
static double coverage(const struct noise *noise, size_t n_gpus,
                       size_t n_blocks, size_t n_samples)
{
    static const double logs[] = { -9.02, -9 };
    const struct noise_pass pass = { 2, n_blocks, n_samples, n_gpus, logs };
    struct noise_stream stream = noise_stream(n_gpus * n_blocks);
    struct block_sample *samples =
        mem_new(2 * n_blocks * n_samples * n_gpus, sizeof(*samples));
    size_t held = 0;

    for (size_t i = 0; i < n_passes; i++) {
        size_t n = noise_measure(noise, &pass, &stream, samples);
        struct blocks *blocks = blocks_new(samples, n, 2);
        struct speedup s;

        speedup_of(blocks, 0, 1, 0.95, &s);
        held += log(s.lo) <= 0.02 && 0.02 <= log(s.hi);
        blocks_free(blocks);
    }
    free(samples);
    return (double)held / (double)n_passes;
}

static void intervals_hold_the_truth_as_often_as_they_say(void **state)
{
    static const size_t shapes[][3] = {
        { 1, 5, 3 },  { 1, 8, 3 }, { 1, 20, 5 },
        { 1, 50, 1 }, { 2, 5, 3 }, { 2, 25, 2 }
    };
    size_t kind = 0;

    (void)state;
    for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++)
        for (size_t i = 0; i < n_noises; i++) {
            double share;

            if (kind++ % stride != 0)
                continue;
            share =
                coverage(&noises[i], shapes[k][0], shapes[k][1], shapes[k][2]);
            print_message("%zu GPU x %2zu blocks, %-20s %.4f\n", shapes[k][0],
                          shapes[k][1], noises[i].name, share);
            assert_near(share, 0.95, 0.015);
        }
}

static void a_ratio_is_above_one_where_the_first_is_faster(void **state)
{
    struct block_sample samples[12];
    struct blocks *blocks;
    struct speedup s;

    (void)state;
    for (int i = 0; i < 12; i++)
        samples[i] =
            (struct block_sample){ i % 2, i / 2, i / 6, i % 2 ? 1.25 : 1 };
    blocks = blocks_new(samples, 12, 2);
    speedup_of(blocks, 0, 1, 0.95, &s);
    assert_near(s.value, 1.25, 1e-12);
    assert_near(s.p, 2.0 / 64, 1e-12);
    assert_int_equal(s.n_blocks, 6);
    speedup_of(blocks, 1, 0, 0.95, &s);
    assert_near(s.hi, 0.8, 1e-12);
    speedup_on(blocks, 0, 1, 1, 0.95, &s);
    assert_true(s.n_blocks == 3 && s.lo == 0 && isinf(s.hi));
    blocks_free(blocks);
}

/* Six blocks, all of them with 1.25: the only sign pattern of 64 as far from
 * 1.2, and from 1.3 on the other side. */
static void p_is_of_a_ratio_beyond_a_bound(void **state)
{
    struct block_sample samples[12];
    struct blocks *blocks;

    (void)state;
    for (int i = 0; i < 12; i++)
        samples[i] = (struct block_sample){ i % 2, i / 2, 0,
                                            (i % 2 ? 1.25 : 1) + 1e-6 * i };
    blocks = blocks_new(samples, 12, 2);
    assert_near(speedup_p_above(blocks, 0, 1, 1.2), 1.0 / 64, 1e-12);
    assert_near(speedup_p_above(blocks, 0, 1, 1.3), 1, 1e-12);
    assert_near(speedup_p_above(blocks, 1, 0, 1 / 1.3), 1.0 / 64, 1e-12);
    blocks_free(blocks);
}

int main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_hold_the_truth_as_often_as_they_say),
        cmocka_unit_test(p_is_of_a_ratio_beyond_a_bound),
        cmocka_unit_test(a_ratio_is_above_one_where_the_first_is_faster),
    };

    (void)argv;
    if (argc > 1)
        stride = 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
