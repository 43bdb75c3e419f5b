#include "tests/bench/sequential_rates.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/confirm/analysis.h"
#include "coordinator/confirm/sequential.h"
#include "tests/bench/named_best.h"
#include "tests/coordinator/noise_results.h"

#define FINALISTS 10
#define ALL (FINALISTS + 1)
#define SAMPLES 5
#define GROUP 2
#define BLOCKS_ONCE 20

static const struct verdict_rules rules = VERDICT_RULES;

/* How many of the finalists are faster than the baseline, and by what. */
static const struct scenario {
    const char *name;
    size_t n_faster;
    double ratio;
} scenarios[] = {
    { "one faster by 1 %", 1, 1.01 },
    { "all faster by 1 %", FINALISTS, 1.01 },
    { "all equal", FINALISTS, 1 },
    { "all at the floor", FINALISTS, 1.005 },
    { "all below the target", FINALISTS, 1.0999 },
};

/* Counts of passes; the rest are sums. */
struct tally {
    double fast, wrong, held; /* of the named best: FAST; its interval holds */
    double noticed, samples, blocks;
    double once_fast, once_wrong; /* with 20 blocks and one look */
};

/* Is anything claimed of any finalist that is not so? */
static bool is_wrong(const struct finding *found, const double *logs)
{
    double floor = log1p(rules.floor), nearly = 1e-9;

    for (size_t c = 1; c < ALL; c++)
        if ((found[c].verdict == VERDICT_FAST && -logs[c] <= floor + nearly) ||
            (found[c].verdict == VERDICT_SLOW && logs[c] <= floor + nearly) ||
            (found[c].verdict == VERDICT_SAME &&
             fabs(logs[c]) > floor + nearly) ||
            (found[c].success && -logs[c] < log(rules.target) - nearly))
            return true;
    return false;
}

static void judge(const struct sequential *looks,
                  const struct block_sample *samples, size_t n,
                  const double *logs, struct tally *to)
{
    struct blocks *blocks = blocks_new(samples, n, ALL);
    struct finding found[ALL];
    double levels[ALL];
    const struct speedup *s;
    size_t best;

    for (size_t c = 0; c < ALL; c++)
        levels[c] = looks->candidates[c].level;
    analysis_findings_at(blocks, 0, &rules,
                         &(struct analysis_look){ levels, looks->tied }, found);
    best = named_best(found, ALL);
    s = &found[best].speedup;
    to->fast += found[best].verdict == VERDICT_FAST;
    to->held += log(s->lo) <= -logs[best] && -logs[best] <= log(s->hi);
    to->wrong += is_wrong(found, logs);
    to->noticed += looks->noise.noticed;
    to->samples += (double)n;
    to->blocks += looks->used;
    blocks_free(blocks);
}

static void judge_once(const struct block_sample *samples, size_t n,
                       const double *logs, struct tally *to)
{
    struct blocks *blocks = blocks_new(samples, n, ALL);
    struct finding found[ALL];

    analysis_findings(blocks, 0, &rules, found);
    to->once_fast += found[named_best(found, ALL)].verdict == VERDICT_FAST;
    to->once_wrong += is_wrong(found, logs);
    blocks_free(blocks);
}

/* Drift is a rate: twenty blocks are one pass of 'noise'. */
static struct noise stretched(const struct noise *noise, int n_blocks)
{
    struct noise out = *noise;

    out.drift *= (double)n_blocks / BLOCKS_ONCE;
    return out;
}

/* The samples of one pass; there is room for all. */
struct passing {
    int cap; /* blocks */
    struct noise_stream stream;
    struct block_sample *samples;
};

static void run_looks(const struct noise *noise, const double *logs,
                      struct passing *p, struct tally *to)
{
    const struct sequential_design design = { .candidates = ALL,
                                              .shapes = 1,
                                              .group = GROUP,
                                              .most = p->cap,
                                              .samples = SAMPLES,
                                              .rules = rules };
    const struct noise_pass pass = { ALL, (size_t)p->cap, SAMPLES, 1, logs };
    struct noise longer = stretched(noise, p->cap);
    struct noise_results results;
    struct sequential *looks =
        noise_results_pass(&longer, &pass, &design, &p->stream, &results);
    size_t n = noise_results_counted(&results, looks, p->samples);

    judge(looks, p->samples, n, logs, to);
    sequential_free(looks);
    noise_results_fini(&results);
}

static void run_once(const struct noise *noise, const double *logs,
                     struct passing *p, struct tally *to)
{
    const struct noise_pass pass = { ALL, BLOCKS_ONCE, SAMPLES, 1, logs };
    size_t n = noise_measure(noise, &pass, &p->stream, p->samples);

    judge_once(p->samples, n, logs, to);
}

static void run(const struct noise *noise, const struct scenario *scenario,
                size_t n_passes, int cap, struct tally *to)
{
    /* if processes differ, the cap is raised */
    size_t most = (size_t)PROCESS_PLAN_MOST * (size_t)cap * ALL * SAMPLES;
    struct passing p = { cap, noise_stream(scenario->n_faster + 100),
                         mem_new(most, sizeof(*p.samples)) };
    double logs[ALL] = { 0 };

    *to = (struct tally){ 0 };
    for (size_t c = 1; c <= scenario->n_faster; c++)
        logs[c] = -log(scenario->ratio);
    for (size_t i = 0; i < n_passes; i++) {
        run_looks(noise, logs, &p, to);
        run_once(noise, logs, &p, to);
    }
    free(p.samples);
}

static bool is_asked(const char *only, const char *name)
{
    return !only || strcmp(only, name) == 0;
}

void sequential_rates(size_t n_passes, const char *noise, const char *finalists,
                      int cap)
{
    double each = 1 / (double)n_passes, wrong = 0, held = 1;

    for (size_t i = 0; i < n_noises; i++)
        for (size_t k = 0; k < sizeof(scenarios) / sizeof(scenarios[0]); k++) {
            struct tally t;

            if (!is_asked(noise, noises[i].name) ||
                !is_asked(finalists, scenarios[k].name))
                continue;
            run(&noises[i], &scenarios[k], n_passes, cap, &t);
            printf("{\"noise\": \"%s\", \"finalists\": \"%s\", "
                   "\"fast\": %.4f, \"samples\": %.0f, \"blocks\": %.1f, "
                   "\"wrong\": %.4f, \"coverage\": %.4f, "
                   "\"processes_noticed\": %.4f, "
                   "\"fast_once\": %.4f, \"samples_once\": %d, "
                   "\"wrong_once\": %.4f}\n",
                   noises[i].name, scenarios[k].name, each * t.fast,
                   each * t.samples, each * t.blocks, each * t.wrong,
                   each * t.held, each * t.noticed, each * t.once_fast,
                   ALL * SAMPLES * BLOCKS_ONCE, each * t.once_wrong);
            fflush(stdout);
            wrong = fmax(wrong, each * t.wrong);
            held = fmin(held, each * t.held);
        }
    fprintf(stderr,
            "a wrong verdict: %.2f %% at most; the interval of the named best "
            "holds: %.2f %% at least\n",
            100 * wrong, 100 * held);
}
