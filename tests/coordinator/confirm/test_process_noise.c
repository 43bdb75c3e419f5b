#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/mem.h"
#include "coordinator/confirm/process_noise.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/noise.h"

#define PASSES 200

static const double logs[11] = { -9, -9.1, -9.2, -9.3 };

struct count {
    int noticed;
    double within, between; /* averages */
};

static struct count count(const struct noise *noise, size_t candidates,
                          size_t blocks)
{
    const struct noise_pass pass = { candidates, blocks, 5, 1, logs };
    struct noise_stream stream = noise_stream(candidates);
    struct block_sample *samples =
        mem_new(candidates * blocks * 5, sizeof(*samples));
    struct count count = { 0, 0, 0 };

    for (int i = 0; i < PASSES; i++) {
        size_t n = noise_measure(noise, &pass, &stream, samples);
        struct process_noise found;

        process_noise_of(samples, n, &found);
        count.noticed += found.noticed;
        count.within += found.within / PASSES;
        count.between += found.between / PASSES;
    }
    free(samples);
    return count;
}

static void samples_alone_are_not_taken_for_processes(void **state)
{
    static const struct noise drifting = { .sd = 0.01, .drift = 0.02 };
    static const struct noise late = { .sd = 0.01,
                                       .tail = 0.1,
                                       .tail_sd = 0.3 };

    (void)state;
    assert_in_range(count(&drifting, 11, 12).noticed, 0, 2);
    assert_in_range(count(&drifting, 2, 10).noticed, 0, 2);
    assert_in_range(count(&late, 11, 12).noticed, 0, 2);
}

static void skewed_samples_are_not_taken_for_processes(void **state)
{
    static const struct noise exponential = { .tail = 1, .tail_sd = 0.02 };

    (void)state;
    assert_in_range(count(&exponential, 11, 12).noticed, 0, 2);
}

/* One sample in twenty is late by 20 %: they make the plain deviation inside a
 * process four times that between processes. */
static void late_samples_do_not_hide_processes(void **state)
{
    static const struct noise late = {
        .sd = 0.01, .tail = 0.05, .tail_sd = 0.2, .process_sd = 0.015
    };
    struct count found = count(&late, 11, 12);

    (void)state;
    assert_int_equal(found.noticed, PASSES);
    assert_near(found.within, 0.014, 0.002);
    assert_near(found.between, 0.015, 0.002);
}

static void two_clocks_are_noticed(void **state)
{
    struct count many = count(&noises[n_noises - 1], 11, 12);

    (void)state;
    assert_int_equal(many.noticed, PASSES);
    assert_near(many.within, 0.005, 0.0002);
    assert_near(many.between, 0.0075, 0.0005); /* half of 1.5 % */
    assert_in_range(count(&noises[n_noises - 1], 2, 10).noticed, PASSES / 2,
                    PASSES);
}

/* Candidate 1 is only in the first two blocks; what it does in the third would
 * have to be known. */
static void a_candidate_may_be_missing(void **state)
{
    struct block_sample samples[20];
    struct process_noise found;
    size_t n = 0;

    (void)state;
    for (int block = 0; block < 3; block++)
        for (int candidate = 0; candidate < 3; candidate++)
            for (int k = 0; k < 2 && (candidate != 1 || block < 2); k++)
                samples[n++] = (struct block_sample){
                    candidate, block, 0,
                    exp(candidate + 0.1 * block + (k ? 0.001 : -0.001))
                };
    assert_int_equal(n, 16);
    process_noise_of(samples, n, &found);
    assert_near(found.within, 0.001 * sqrt(2), 1e-9);
    assert_false(found.noticed);
}

static void too_little_says_nothing(void **state)
{
    const struct block_sample one[] = { { 0, 0, 0, 1 }, { 0, 0, 0, 2 } };
    const struct block_sample each[] = {
        { 0, 0, 0, 1 }, { 1, 0, 0, 2 }, { 0, 1, 0, 2 }, { 1, 1, 0, 2 }
    };
    struct process_noise found;

    (void)state;
    process_noise_of(NULL, 0, &found);
    assert_true(isnan(found.p) && !found.noticed);
    process_noise_of(one, 2, &found);
    assert_true(isnan(found.p) && !found.noticed);
    process_noise_of(each, 4, &found); /* one sample a process */
    assert_true(isnan(found.between) && !found.noticed);
}

/* ---- the plan ---- */

static struct process_plan plan_for(double within, double between)
{
    const struct process_noise noise = { within, between, 9, 0, true };
    struct process_plan plan = { .samples = 5, .most = 70 };

    process_noise_plan(&noise, 0.005, 0.0025, &plan);
    return plan;
}

/* z(0.9975) + z(0.99) = 2.8070 + 2.3263; 1.3 of its square, 34.26, times twice
 * the variance of a process over the square of the gap. */
static void there_are_as_many_blocks_as_the_noise_needs(void **state)
{
    struct process_plan plan = plan_for(0.0001, 0.01);

    (void)state;
    assert_int_equal(plan.samples, 1);
    assert_int_equal(plan.most, 275);
    assert_int_equal(plan_for(0.0001, 0.012).most, 395);
}

/* pi / 2 of the variance of a sample, over a quarter of that of a process. */
static void samples_that_say_more_are_kept(void **state)
{
    (void)state;
    assert_int_equal(plan_for(0.001, 0.01).samples, 1);
    assert_int_equal(plan_for(0.005, 0.01).samples, 2);
    assert_int_equal(plan_for(0.006, 0.01).samples, 3);
    assert_int_equal(plan_for(0.01, 0.01).samples, 5);
    assert_int_equal(plan_for(0.005, 0.01).most, 328);
}

static void the_cap_stays_between_its_limits(void **state)
{
    const struct process_noise noise = { 0.001, 0.2, 9, 0, true };
    struct process_plan plan = { .samples = 5, .most = 4000 };

    (void)state;
    assert_int_equal(plan_for(0.0001, 0.001).most, 140);
    assert_int_equal(plan_for(0.001, 0.1).most, 560);
    process_noise_plan(&noise, 0.005, 0.0025, &plan);
    assert_int_equal(plan.most, PROCESS_PLAN_BLOCKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_alone_are_not_taken_for_processes),
        cmocka_unit_test(skewed_samples_are_not_taken_for_processes),
        cmocka_unit_test(late_samples_do_not_hide_processes),
        cmocka_unit_test(two_clocks_are_noticed),
        cmocka_unit_test(a_candidate_may_be_missing),
        cmocka_unit_test(too_little_says_nothing),
        cmocka_unit_test(there_are_as_many_blocks_as_the_noise_needs),
        cmocka_unit_test(samples_that_say_more_are_kept),
        cmocka_unit_test(the_cap_stays_between_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
