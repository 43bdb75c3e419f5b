/* How often a pass with looks finds a winner, and how often it is mistaken. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/mem.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/confirm/speedup.h"
#include "tests/coordinator/noise_results.h"

#define PASSES 30
#define CANDIDATES 11 /* ten finalists and the baseline */
#define MOST_BLOCKS 70

static const bool none[CANDIDATES] = { false };
static const struct noise calm = { .sd = 0.01 };
static const struct sequential_design design = { .candidates = CANDIDATES,
                                                 .shapes = 1,
                                                 .group = 2,
                                                 .most = MOST_BLOCKS,
                                                 .samples = 5,
                                                 .rules = VERDICT_RULES };

struct rates {
    int fast, wrong; /* passes in which some finalist is FAST, or wrongly so */
    double samples;  /* average */
};

/* Ten finalists, of which the first 'n_fast' are faster by 'ratio'.  'early':
 * a cap ends the passes after 6 to 35 blocks. */
static struct rates rates_of(size_t n_fast, double ratio, bool early)
{
    struct sequential_design rules = design;
    double logs[CANDIDATES] = { 0 };
    const struct noise_pass pass = { CANDIDATES, 2 * MOST_BLOCKS, 5, 1, logs };
    struct block_sample *samples =
        mem_new((size_t)2 * MOST_BLOCKS * CANDIDATES * 5, sizeof(*samples));
    struct rates rates = { 0, 0, 0 };

    rules.closed = early;
    for (size_t c = 1; c <= n_fast; c++)
        logs[c] = -log(ratio);
    for (int i = 0; i < PASSES; i++) {
        struct noise_stream stream = noise_stream((uint64_t)i + 1);
        struct noise_results results;
        struct sequential *found;
        struct blocks *blocks;
        size_t n;
        bool fast = false, wrong = false;

        noise_results_measure(&calm, &pass, &stream, &results);
        if (early)
            results.n = (size_t)(6 + i) * CANDIDATES;
        found = sequential_replay(&rules, results.items, results.n, none);
        n = noise_results_counted(&results, found, samples);
        blocks = blocks_new(samples, n, CANDIDATES);
        for (size_t c = 1; c < CANDIDATES; c++) {
            struct speedup over;

            speedup_of(blocks, c, 0, 1 - found->candidates[c].level, &over);
            fast = fast || over.lo > 1.005;
            wrong = wrong || over.lo > exp(-logs[c]) || over.hi < exp(-logs[c]);
        }
        rates.fast += fast;
        rates.wrong += wrong;
        rates.samples += (double)n / PASSES;
        blocks_free(blocks);
        sequential_free(found);
        noise_results_fini(&results);
    }
    print_message("%zu faster by %.3f: FAST %d, wrong %d of %d, %.0f samples\n",
                  n_fast, ratio, rates.fast, rates.wrong, PASSES,
                  rates.samples);
    free(samples);
    return rates;
}

/* 20 blocks of all ten are 1,100 samples, and find it in 46 %. */
static void one_percent_is_found_with_fewer_samples(void **state)
{
    struct rates rates = rates_of(1, 1.01, false);

    (void)state;
    assert_in_range(rates.fast, 28, PASSES);
    assert_in_range(rates.wrong, 0, 5); /* 1.5 are allowed, three sigma more */
    assert_true(rates.samples < 1100);
}

static void looking_often_makes_no_winner(void **state)
{
    (void)state;
    assert_in_range(rates_of(10, 1.005, false).fast, 0,
                    3); /* 0.75 are allowed */
}

static void ending_early_makes_no_winner_either(void **state)
{
    struct rates rates = rates_of(10, 1.005, true);

    (void)state;
    assert_in_range(rates.fast, 0, 3);
    assert_in_range(rates.wrong, 0, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_percent_is_found_with_fewer_samples),
        cmocka_unit_test(looking_often_makes_no_winner),
        cmocka_unit_test(ending_early_makes_no_winner_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
