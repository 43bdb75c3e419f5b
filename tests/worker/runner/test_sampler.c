/* test_sampler.c - how many samples, which of them count, and why */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/runner/device/throttle.h"
#include "worker/runner/sampler.h"

#define IDLE 0x1
#define POWER_CAP 0x4
#define HARDWARE 0x8
#define HOT 0x40

static struct wire_result result;

static struct sampler start(unsigned least, unsigned most, double incumbent_s)
{
    const struct wire_measure want = { .least = least,
                                       .most = most,
                                       .noise = 0.01,
                                       .margin = 1.1,
                                       .incumbent_s = incumbent_s };
    struct sampler sampler;

    memset(&result, 0, sizeof(result));
    sampler_init(&sampler, &want, &result);
    return sampler;
}

/* Batches of this time until the verdict; how many there were. */
static int run(struct sampler *sampler, double seconds, uint64_t throttle)
{
    double batch[SAMPLER_BATCH];
    int batches = 0;
    size_t n;

    for (size_t i = 0; i < SAMPLER_BATCH; i++)
        batch[i] = seconds;
    for (; (n = sampler_batch(sampler)) > 0; batches++) {
        assert_in_range(batches, 0, 40);
        sampler_take(sampler, batch, n, throttle);
    }
    return batches;
}

static void calm_samples_settle_with_the_fewest(void **state)
{
    struct sampler sampler = start(5, 30, 0);

    (void)state;
    assert_int_equal(run(&sampler, 60e-6, 0), 1);
    assert_int_equal(result.n_samples, 5);
    assert_int_equal(result.sampling, WIRE_SETTLED);
    assert_string_equal(result.detail, "");
}

/* 1.2 and 1.3 against 1: neither is near the incumbent. */
static void a_loser_stops_before_it_settles(void **state)
{
    static const double slow[] = { 1.2, 1.3, 1.2, 1.3, 1.2 };
    struct sampler sampler = start(5, 30, 1);

    (void)state;
    sampler_take(&sampler, slow, 5, 0);
    assert_int_equal(result.sampling, WIRE_LOSER);
    assert_int_equal(result.n_samples, 5);
    assert_int_equal(sampler_batch(&sampler), 0);
    sampler = start(5, 30, 0);
    sampler_take(&sampler, slow, 5, 0);
    assert_int_equal(sampler_batch(&sampler), SAMPLER_STEP);
}

static void samples_that_never_agree_are_unstable(void **state)
{
    static const double noisy[] = { 1, 2, 3, 4, 5 };
    struct sampler sampler = start(5, 12, 0);
    size_t n;

    (void)state;
    while ((n = sampler_batch(&sampler)) > 0)
        sampler_take(&sampler, noisy, n, 0);
    assert_int_equal(result.n_samples, 12);
    assert_int_equal(result.sampling, WIRE_UNSTABLE);
}

static void as_many_as_asked_for_are_taken_whatever_they_say(void **state)
{
    static const double noisy[] = { 1, 9, 3, 4, 5 };
    struct sampler sampler = start(120, 120, 1e-6);

    (void)state;
    assert_int_equal(run(&sampler, 1, 0), 3); /* 50, 50, 20 */
    assert_int_equal(result.n_samples, 120);
    assert_int_equal(result.sampling, WIRE_FIXED);
    sampler = start(5, 5, 1e-6);
    sampler_take(&sampler, noisy, 5, 0);
    assert_int_equal(result.sampling, WIRE_FIXED);
}

static void what_a_hot_gpu_gave_is_taken_again(void **state)
{
    static const double slow[] = { 9, 9, 9, 9, 9 };
    struct sampler sampler = start(5, 30, 0);

    (void)state;
    sampler_take(&sampler, slow, 5, HOT | HARDWARE);
    assert_true(sampler.pausing);
    assert_int_equal(sampler_batch(&sampler), 5);
    assert_int_equal(run(&sampler, 1, POWER_CAP | IDLE), 1);
    assert_false(sampler.pausing);
    assert_int_equal(result.n_samples, 5);
    assert_true(result.samples[0] == 1);
    assert_int_equal(result.n_rejected, 5);
    assert_true(result.rejected[4] == 9);
    assert_int_equal(result.sampling, WIRE_SETTLED);
    assert_string_equal(result.detail,
                        "5 samples were rejected: hardware thermal slowdown");
}

/* It keeps its time and is marked as unstable. */
static void without_one_clean_batch_it_is_unstable(void **state)
{
    struct sampler sampler = start(5, 30, 0);

    (void)state;
    assert_int_equal(run(&sampler, 1, HOT), SAMPLER_REJECTIONS + 1);
    assert_int_equal(result.n_rejected, 5 * SAMPLER_REJECTIONS);
    assert_int_equal(result.n_samples, 5);
    assert_int_equal(result.sampling, WIRE_UNSTABLE);
    sampler = start(50, 50, 0);
    run(&sampler, 1, HOT);
    assert_int_equal(result.n_rejected, 50 * SAMPLER_REJECTIONS);
    assert_int_equal(result.n_samples, 50);
    assert_int_equal(result.sampling, WIRE_UNSTABLE);
}

static void heat_and_failing_power_spoil_a_sample_and_no_more(void **state)
{
    (void)state;
    assert_false(throttle_spoils(0));
    /* idle, application clocks, power cap, sync boost, display clocks */
    assert_false(throttle_spoils(0x1 | 0x2 | 0x4 | 0x10 | 0x100));
    assert_string_equal(throttle_name(0x8 | 0x4), "hardware slowdown");
    assert_string_equal(throttle_name(0x8 | 0x80), "power brake");
    assert_string_equal(throttle_name(0x20), "thermal slowdown by the driver");
    assert_null(throttle_name(0x4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calm_samples_settle_with_the_fewest),
        cmocka_unit_test(a_loser_stops_before_it_settles),
        cmocka_unit_test(samples_that_never_agree_are_unstable),
        cmocka_unit_test(as_many_as_asked_for_are_taken_whatever_they_say),
        cmocka_unit_test(what_a_hot_gpu_gave_is_taken_again),
        cmocka_unit_test(without_one_clean_batch_it_is_unstable),
        cmocka_unit_test(heat_and_failing_power_spoil_a_sample_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
