#include "tests/bench/verdict_rates.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/confirm/analysis.h"
#include "coordinator/confirm/best_set.h"
#include "tests/coordinator/noise.h"

#define MOST 30 /* finalists */
#define BLOCKS 20
#define SAMPLES 5
#define SEEDS 10
#define GAP 0.001 /* between neighbours in a set of unequal finalists */

static const struct verdict_rules rules = VERDICT_RULES;

/* What a pass claims about its finalists.  'alone_' is what it would claim if
 * it judged each finalist alone, by its value or by its own interval. */
struct claims {
    bool success, alone_success;
    bool fast, alone_fast;
    bool sided; /* faster or slower than the baseline */
};

static struct blocks *measure(const struct noise *noise, const double *logs,
                              size_t n_finalists, struct noise_stream *stream)
{
    const struct noise_pass pass = { n_finalists + 1, BLOCKS, SAMPLES, 1,
                                     logs };
    struct block_sample *samples =
        mem_new((n_finalists + 1) * BLOCKS * SAMPLES, sizeof(*samples));
    size_t n = noise_measure(noise, &pass, stream, samples);
    struct blocks *blocks = blocks_new(samples, n, n_finalists + 1);

    free(samples);
    return blocks;
}

static struct claims judge(const struct blocks *blocks)
{
    size_t n = blocks_contestants(blocks), leader;
    struct finding found[MOST + 1];
    struct claims claims = { 0 };
    double floor = 1 + rules.floor;

    leader = analysis_findings(blocks, 0, &rules, found);
    for (size_t c = 1; c < n; c++) {
        const struct speedup *s = &found[c].speedup;
        struct speedup own;

        speedup_of(blocks, c, 0, 1 - rules.alpha, &own);
        claims.success = claims.success || found[c].success;
        claims.fast = claims.fast || found[c].verdict == VERDICT_FAST;
        claims.alone_fast = claims.alone_fast || own.lo > floor;
        claims.sided = claims.sided || s->lo > 1 || s->hi < 1;
    }
    claims.alone_success = found[leader].speedup.value >= rules.target;
    return claims;
}

struct rates {
    double success, alone_success, fast, alone_fast, sided;
};

/* Rates for 'n' finalists that are all faster than the baseline by 'truth'. */
static struct rates rates_at(const struct noise *noise, size_t n, double truth,
                             size_t n_passes)
{
    struct noise_stream stream = noise_stream(n);
    struct rates rates = { 0 };
    double logs[MOST + 1] = { 0 }, each = 1 / (double)n_passes;

    for (size_t c = 1; c <= n; c++)
        logs[c] = -log(truth);
    for (size_t i = 0; i < n_passes; i++) {
        struct blocks *blocks = measure(noise, logs, n, &stream);
        struct claims claims = judge(blocks);

        rates.success += each * claims.success;
        rates.alone_success += each * claims.alone_success;
        rates.fast += each * claims.fast;
        rates.alone_fast += each * claims.alone_fast;
        rates.sided += each * claims.sided;
        blocks_free(blocks);
    }
    return rates;
}

/* How much slower than the fastest finalist the named one is, on average; and
 * the same for one that is picked from the tie without regard to its time. */
static void regret_of(const struct noise *noise, size_t n, size_t n_passes,
                      double *named, double *any)
{
    struct noise_stream stream = noise_stream(n);
    double logs[MOST + 1] = { 0.1 };

    *named = *any = 0;
    for (size_t c = 1; c <= n; c++)
        logs[c] = GAP * (double)(c - 1);
    for (size_t i = 0; i < n_passes; i++) {
        struct blocks *blocks = measure(noise, logs, n, &stream);
        struct best_set_choice choices[MOST + 1];
        struct finding found[MOST + 1];
        double sum = 0, tied = 0;

        analysis_findings(blocks, 0, &rules, found);
        for (size_t c = 0; c <= n; c++) {
            choices[c] =
                (struct best_set_choice){ found[c].tied, found[c].time.seconds,
                                          "", (int64_t)c };
            sum += found[c].tied ? logs[c] : 0;
            tied += found[c].tied;
        }
        *named += logs[best_set_choose(choices, n + 1)] / (double)n_passes;
        *any += sum / tied / (double)n_passes;
        blocks_free(blocks);
    }
}

/* Counts the passes that succeed, of passes that differ only in their seed. */
static size_t count_seeds(const struct noise *noise, size_t n, double truth)
{
    double logs[MOST + 1] = { 0 };
    size_t yes = 0;

    for (size_t c = 1; c <= n; c++)
        logs[c] = -log(truth);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct noise_stream stream = noise_stream(seed);
        struct blocks *blocks = measure(noise, logs, n, &stream);

        yes += judge(blocks).success;
        blocks_free(blocks);
    }
    return yes;
}

/* Totals over all kinds of passes. */
struct total {
    double most, sum;
    size_t n;
};

struct totals {
    struct total success, alone_success, fast, alone_fast, sided;
};

static void add(struct total *total, double rate)
{
    total->most = fmax(total->most, rate);
    total->sum += rate;
    total->n++;
}

static void print_total(const char *what, const struct total *total)
{
    fprintf(stderr, "%-44s %6.2f %% on average, %6.2f %% at most\n", what,
            100 * total->sum / (double)total->n, 100 * total->most);
}

static void print_rates(const struct noise *noise, size_t n, size_t n_passes,
                        struct totals *totals)
{
    struct rates near = rates_at(noise, n, 1.095, n_passes);
    struct rates below = rates_at(noise, n, 1.0999, n_passes);
    struct rates floor = rates_at(noise, n, 1.005, n_passes);
    struct rates none = rates_at(noise, n, 1, n_passes);
    struct rates above = rates_at(noise, n, 1.12, n_passes);
    double named, any;

    regret_of(noise, n, n_passes, &named, &any);
    printf("{\"noise\": \"%s\", \"finalists\": %zu, "
           "\"success_at_1.095\": %.4f, \"alone_success_at_1.095\": %.4f, "
           "\"success_at_1.0999\": %.4f, \"success_at_1.12\": %.4f, "
           "\"fast_at_1.005\": %.4f, \"alone_fast_at_1.005\": %.4f, "
           "\"side_at_1\": %.4f, \"named_slower\": %.5f, "
           "\"any_of_tie_slower\": %.5f, ",
           noise->name, n, near.success, near.alone_success, below.success,
           above.success, floor.fast, floor.alone_fast, none.sided, named, any);
    printf("\"yes_of_%d_seeds\": {\"1.095\": %zu, \"1.15\": %zu}}\n", SEEDS,
           count_seeds(noise, n, 1.095), count_seeds(noise, n, 1.15));
    fflush(stdout);
    add(&totals->success, below.success);
    add(&totals->alone_success, near.alone_success);
    add(&totals->fast, floor.fast);
    add(&totals->alone_fast, floor.alone_fast);
    add(&totals->sided, none.sided);
}

void verdict_rates(size_t n_passes)
{
    static const size_t sizes[] = { 1, 2, 5, 10, 20, MOST };
    struct totals totals = { 0 };

    for (size_t i = 0; i < n_noises; i++)
        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
            print_rates(&noises[i], sizes[k], n_passes, &totals);
    print_total("success below the target", &totals.success);
    print_total("... by the value alone, at 1.095", &totals.alone_success);
    print_total("some FAST at the floor", &totals.fast);
    print_total("... by an interval of its own", &totals.alone_fast);
    print_total("some side of 1 for equals", &totals.sided);
}
