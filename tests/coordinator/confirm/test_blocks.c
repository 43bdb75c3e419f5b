#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/confirm/blocks.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/noise.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* candidate, block, gpu, seconds */
static const struct block_sample mixed[] = {
    { 0, 1, 0, 4 }, { 1, 1, 0, 8 }, { 0, 2, 0, 2 }, { 0, 1, 0, 5 },
    { 0, 1, 0, 3 }, { 1, 1, 7, 6 }, { 0, 1, 7, 3 }, { 2, 1, 7, 9 },
};

static void samples_of_a_block_are_one_median(void **state)
{
    struct blocks *blocks = blocks_new(mixed, COUNT(mixed), 3);
    double medians[3];
    int gpus[3];

    (void)state;
    assert_int_equal(blocks_count(blocks), 3);
    assert_int_equal(blocks_contestants(blocks), 3);
    assert_int_equal(blocks_gpus(blocks, gpus), 2);
    assert_true(gpus[0] == 0 && gpus[1] == 7);
    assert_int_equal(blocks_medians(blocks, 0, medians), 3);
    assert_near(medians[0], 4, 1e-12);
    assert_near(medians[1], 2, 1e-12);
    assert_near(medians[2], 3, 1e-12);
    blocks_free(blocks);
}

static void a_block_counts_where_both_were_measured(void **state)
{
    struct blocks *blocks = blocks_new(mixed, COUNT(mixed), 3);
    struct difference d[3];

    (void)state;
    assert_int_equal(blocks_differences(blocks, 0, 1, d), 2);
    assert_near(d[0].value, log(2), 1e-12);
    assert_near(d[1].value, log(2), 1e-12);
    assert_true(d[0].stratum == 0 && d[1].stratum == 7);
    assert_int_equal(blocks_differences(blocks, 1, 2, d), 1);
    blocks_free(blocks);
}

static void no_samples_are_no_blocks(void **state)
{
    struct blocks *blocks = blocks_new(NULL, 0, 2);
    struct block_time times[2];

    (void)state;
    assert_int_equal(blocks_count(blocks), 0);
    blocks_times(blocks, 0.95, times);
    assert_true(isnan(times[1].seconds) && times[1].lo == 0);
    assert_true(isinf(times[1].hi));
    blocks_free(blocks);
    blocks_free(NULL);
}

/* Ten blocks that each slow down by 2 %, on cards that differ by 8 %: without
 * levels, the times of 1.00 and 1.05 would overlap. */
static void levels_of_blocks_do_not_widen_a_time(void **state)
{
    struct block_sample samples[40];
    struct block_time times[2];
    struct blocks *blocks;

    (void)state;
    for (int i = 0; i < 40; i++)
        samples[i] = (struct block_sample){
            .candidate = i % 2,
            .block = i / 4,
            .gpu = i / 2 % 2,
            .seconds = (i % 2 ? 1.05 : 1) * pow(1.02, i / 4) *
                       (i / 2 % 2 ? 1.08 : 1) * (1 + 1e-4 * (i * 7 % 5)),
        };
    blocks = blocks_new(samples, 40, 2);
    blocks_times(blocks, 0.95, times);
    assert_true(times[0].hi < times[1].lo);
    assert_near(times[1].seconds / times[0].seconds, 1.05, 1e-3);
    assert_true(times[0].hi / times[0].lo < 1.001);
    blocks_free(blocks);
}

/* The slow one is missing from half of the blocks; the others must not look
 * faster in those. */
static void a_missing_contestant_shifts_no_level(void **state)
{
    struct block_sample samples[25];
    struct block_time times[3];
    struct blocks *blocks;
    size_t n = 0;

    (void)state;
    for (int block = 0; block < 10; block++)
        for (int c = 0; c < (block % 2 ? 3 : 2); c++)
            samples[n++] = (struct block_sample){ c, block, 0, 1 + c };
    blocks = blocks_new(samples, n, 3);
    blocks_times(blocks, 0.95, times);
    assert_near(times[1].seconds / times[0].seconds, 2, 1e-6);
    assert_near(times[2].seconds / times[0].seconds, 3, 1e-6);
    assert_near(times[0].hi / times[0].lo, 1, 1e-6);
    blocks_free(blocks);
}

/* 20 blocks on a card that drifts by 1 % from block to block.  The last of 'n'
 * candidates is 'noisy' times as noisy as the others, which have 0.4 %. */
struct passes {
    double half_width; /* of the first, mean */
    int covered;       /* of PASSES: its interval contains the truth */
};

#define PASSES 400
#define LONG_RUN 20

static double log_middle(const double *levels)
{
    struct difference d[LONG_RUN];
    struct signed_rank rank;

    for (int i = 0; i < LONG_RUN; i++)
        d[i] = (struct difference){ levels[i], 0 };
    signed_rank(d, LONG_RUN, 0.95, &rank);
    return rank.estimate;
}

static struct passes simulate(int n, double noisy)
{
    struct noise_stream stream = noise_stream((uint64_t)n);
    struct passes found = { 0 };

    for (int pass = 0; pass < PASSES; pass++) {
        struct block_sample samples[LONG_RUN * 12];
        double levels[LONG_RUN], level = -9, truth;
        struct block_time times[12];
        struct blocks *blocks;

        for (int b = 0; b < LONG_RUN; b++) {
            levels[b] = level += 0.01 * noise_normal(&stream);
            for (int c = 0; c < n; c++) {
                double sd = c == n - 1 ? 0.004 * noisy : 0.004;

                samples[b * n + c] = (struct block_sample){
                    c, b, 0, exp(level + sd * noise_normal(&stream))
                };
            }
        }
        blocks = blocks_new(samples, (size_t)(LONG_RUN * n), (size_t)n);
        blocks_times(blocks, 0.95, times);
        truth = exp(log_middle(levels));
        found.half_width += log(times[0].hi / times[0].lo) / 2 / PASSES;
        found.covered += times[0].lo <= truth && truth <= times[0].hi;
        blocks_free(blocks);
    }
    print_message("%d contestants, one of %g times the noise: +-%.3f %%, %d "
                  "of %d\n",
                  n, noisy, 100 * found.half_width, found.covered, PASSES);
    return found;
}

static void a_noisy_contestant_widens_no_other_ones_time(void **state)
{
    (void)state;
    for (int n = 3; n <= 12; n += 3) {
        struct passes calm = simulate(n, 1), noisy = simulate(n, 10);

        assert_near(noisy.half_width, calm.half_width, 1e-4);
        /* 380 of 400 are promised; small samples get slightly fewer */
        assert_in_range(calm.covered, 355, 400);
        assert_in_range(noisy.covered, 355, 400);
    }
}

/* With two candidates, nobody knows which one is noisy. */
static void of_two_contestants_both_are_widened(void **state)
{
    struct passes calm = simulate(2, 1), noisy = simulate(2, 10);

    (void)state;
    assert_in_range(calm.covered, 355, 400);
    assert_true(noisy.half_width > 4 * calm.half_width);
    assert_in_range(noisy.covered, 355, 400);
}

static void a_single_candidate_has_the_interval_of_its_blocks(void **state)
{
    struct block_sample samples[20];
    struct block_time times[2];
    struct blocks *blocks;

    (void)state;
    for (int i = 0; i < 20; i++)
        samples[i] = (struct block_sample){ 1, i, 0, 1 + 0.001 * (i - 9.5) };
    blocks = blocks_new(samples, 20, 2);
    blocks_times(blocks, 0.95, times);
    assert_true(isnan(times[0].seconds));
    assert_near(times[1].seconds, 1, 1e-4);
    assert_true(times[1].lo < 0.998 && times[1].hi > 1.002);
    blocks_free(blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_of_a_block_are_one_median),
        cmocka_unit_test(a_block_counts_where_both_were_measured),
        cmocka_unit_test(no_samples_are_no_blocks),
        cmocka_unit_test(levels_of_blocks_do_not_widen_a_time),
        cmocka_unit_test(a_missing_contestant_shifts_no_level),
        cmocka_unit_test(a_noisy_contestant_widens_no_other_ones_time),
        cmocka_unit_test(of_two_contestants_both_are_widened),
        cmocka_unit_test(a_single_candidate_has_the_interval_of_its_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
