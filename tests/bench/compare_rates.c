#include "tests/bench/compare_rates.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/compare/compare.h"
#include "coordinator/compare/compare_interval.h"
#include "coordinator/confirm/analysis.h"
#include "coordinator/confirm/look_level.h"
#include "coordinator/stats/location_shift.h"
#include "coordinator/stats/mann_whitney.h"
#include "tests/bench/named_best.h"
#include "tests/coordinator/noise_results.h"

#define FINALISTS 10
#define ALL (FINALISTS + 1)
#define SAMPLES 5
#define BLOCKS 20
#define GROUP 2
#define CAP 70
#define BLOCKS_MOST (PROCESS_PLAN_MOST * CAP) /* if processes differ */
#define NEARLY 1e-9

static const struct verdict_rules rules = VERDICT_RULES;
static const struct compare_rules compare_rules_used = COMPARE_RULES;

/* The finalists of a side: so many are equally fast, the others slower by 4 %;
 * the baseline is slower by 10 %, and the same in A and B. */
#define GAP 0.04
#define BASELINE 0.1

static const struct scenario {
    const char *name;
    size_t equal_a, equal_b;
    double slower;    /* B than A, log time */
    double threshold; /* 0: that of compare.h */
} scenarios[] = {
    { "ten and ten, equal", FINALISTS, FINALISTS, 0, 0 },
    { "ten and one, equal", FINALISTS, 1, 0, 0 },
    { "one and ten, equal", 1, FINALISTS, 0, 0 },
    { "ten and ten, slower by the threshold", FINALISTS, FINALISTS, 0.0295, 0 },
    { "ten and one, slower by the threshold", FINALISTS, 1, 0.0295, 0 },
    { "one and ten, faster by the threshold", 1, FINALISTS, -0.0295, 0 },
    { "ten and ten, slower by 5 %", FINALISTS, FINALISTS, 0.0488, 0 },
    { "ten and ten, slower by 2 %, threshold 1 %", FINALISTS, FINALISTS, 0.0198,
      0.01 },
};

/* One confirmation, and what it named. */
struct side {
    double logs[ALL]; /* the truth */
    struct blocks *blocks;
    struct sequential *looks; /* NULL: a fixed number of blocks */
    size_t best;
};

/* Counts of comparisons. */
struct tally {
    double regression, faster;     /* is said */
    double false_slow, false_fast; /* ... and is not so */
    double held, kept_held, kept;  /* the interval has the truth */
};

/* What is compared, and whether it is as if nothing had been chosen. */
enum method {
    TIMES,
    RATIOS,
    RATIOS_ALONE,
    METHODS,
};

static const char *const methods[METHODS] = { "times", "ratios",
                                              "ratios_alone" };

struct tallies {
    struct tally of[METHODS];
};

static void measure_fixed(const struct noise *noise, struct noise_stream *s,
                          struct block_sample *samples, struct side *side)
{
    const struct noise_pass pass = { ALL, BLOCKS, SAMPLES, 1, side->logs };
    size_t n = noise_measure(noise, &pass, s, samples);

    side->looks = NULL;
    side->blocks = blocks_new(samples, n, ALL);
}

static void measure_looks(const struct noise *noise, struct noise_stream *s,
                          struct block_sample *samples, struct side *side)
{
    const struct sequential_design design = { .candidates = ALL,
                                              .shapes = 1,
                                              .group = GROUP,
                                              .most = CAP,
                                              .samples = SAMPLES,
                                              .rules = rules };
    const struct noise_pass pass = { ALL, CAP, SAMPLES, 1, side->logs };
    struct noise_results results;
    size_t n;

    side->looks = noise_results_pass(noise, &pass, &design, s, &results);
    n = noise_results_counted(&results, side->looks, samples);
    side->blocks = blocks_new(samples, n, ALL);
    noise_results_fini(&results);
}

static void find_best(struct side *side)
{
    struct finding found[ALL];
    double levels[ALL];

    if (!side->looks) {
        analysis_findings(side->blocks, 0, &rules, found);
    } else {
        for (size_t c = 0; c < ALL; c++)
            levels[c] = side->looks->candidates[c].level;
        analysis_findings_at(
            side->blocks, 0, &rules,
            &(struct analysis_look){ levels, side->looks->tied }, found);
    }
    side->best = named_best(found, ALL);
    /* winner.h */
    if (found[side->best].verdict != VERDICT_FAST)
        side->best = 0;
}

static void free_side(struct side *side)
{
    blocks_free(side->blocks);
    sequential_free(side->looks);
}

static double after_looks(const struct side *of, size_t candidate, double alpha)
{
    return of->looks ? look_level(of->looks, candidate, alpha) : alpha;
}

static double level_of(const struct side *a, size_t in_a, const struct side *b,
                       size_t in_b, double alpha)
{
    return fmin(after_looks(a, in_a, after_looks(b, in_b, alpha)),
                after_looks(b, in_b, after_looks(a, in_a, alpha)));
}

/* As compare_ratio.c takes them: ratios are over the baseline, candidate 0. */
static size_t values_of(const struct side *side, size_t candidate,
                        enum method method, struct location_shift_value *out)
{
    size_t count = blocks_count(side->blocks), n;
    double *medians = mem_new(count, sizeof(*medians));
    struct difference *d = mem_new(count, sizeof(*d));

    if (method == TIMES) {
        n = blocks_medians(side->blocks, candidate, medians);
        for (size_t i = 0; i < n; i++)
            out[i] = (struct location_shift_value){ log(medians[i]), 0 };
    } else {
        n = blocks_differences(side->blocks, candidate, 0, d);
        for (size_t i = 0; i < n; i++)
            out[i] = (struct location_shift_value){ -d[i].value, 0 };
    }
    free(d);
    free(medians);
    return n;
}

/* One side is the baseline, at ratio 1. */
static void compare_one(const struct side *side, size_t candidate, bool of_a,
                        double alpha, const struct compare_levels *levels,
                        struct speedup *out)
{
    struct difference *d = mem_new(blocks_count(side->blocks), sizeof(*d));
    size_t n = of_a ? blocks_differences(side->blocks, 0, candidate, d)
                    : blocks_differences(side->blocks, candidate, 0, d);

    compare_interval_of_differences(d, n, alpha, levels, out);
    free(d);
}

static void compare_two(const struct side *a, size_t in_a, const struct side *b,
                        size_t in_b, double alpha, struct compare_chosen among,
                        enum method method, struct speedup *out)
{
    struct location_shift_value of_a[BLOCKS_MOST], of_b[BLOCKS_MOST];
    const struct compare_evidence evidence = {
        of_a, of_b, values_of(a, in_a, method, of_a),
        values_of(b, in_b, method, of_b)
    };
    struct compare_levels levels = compare_interval_levels(alpha, among);
    struct compare_interval found = { { 1, 1, 1, 1, 0 }, 0, 0 };

    levels.lo = level_of(a, in_a, b, in_b, levels.lo);
    levels.hi = level_of(a, in_a, b, in_b, levels.hi);
    if (method == TIMES || (in_a && in_b))
        compare_interval_of_blocks(&evidence, alpha, &levels, &found);
    else if (in_a)
        compare_one(a, in_a, true, alpha, &levels, &found.speedup);
    else if (in_b)
        compare_one(b, in_b, false, alpha, &levels, &found.speedup);
    *out = found.speedup;
}

static bool holds(const struct speedup *s, double truth)
{
    return log(s->lo) <= truth + NEARLY && truth - NEARLY <= log(s->hi);
}

/* The rows of the winner, as compare.c judges them. */
static void compare_sides(const struct side *a, const struct side *b,
                          enum method method, double threshold,
                          struct tally *to)
{
    const struct verdict_rules used = { .alpha = compare_rules_used.alpha,
                                        .floor = threshold,
                                        .target = 1 };
    const size_t among = method == RATIOS_ALONE ? 1 : FINALISTS;
    size_t in_b[] = { b->best, a->best }, n = a->best == b->best ? 1 : 2;
    double limit = log1p(used.floor), p[2];
    struct speedup s[2];
    bool slow = false, fast = false, no_slow = false, no_fast = false;

    for (size_t i = 0; i < n; i++) {
        compare_two(a, a->best, b, in_b[i], used.alpha / (double)n,
                    (struct compare_chosen){ among, i == 0 ? among : 1 },
                    method, &s[i]);
        p[i] = s[i].p;
    }
    mann_whitney_holm(p, n, p);
    for (size_t i = 0; i < n; i++) {
        double truth = a->logs[a->best] - b->logs[in_b[i]];
        enum verdict verdict = verdict_of(&s[i], p[i], &used);

        slow = slow || verdict == VERDICT_SLOW;
        fast = fast || verdict == VERDICT_FAST;
        no_slow =
            no_slow || (verdict == VERDICT_SLOW && truth >= -limit - NEARLY);
        no_fast =
            no_fast || (verdict == VERDICT_FAST && truth <= limit + NEARLY);
        if (i == 0)
            to->held += holds(&s[i], truth);
        else
            to->kept_held += holds(&s[i], truth);
    }
    to->kept += n == 2;
    to->regression += slow;
    to->faster += fast;
    to->false_slow += no_slow;
    to->false_fast += no_fast;
}

static void set_logs(size_t equal, double slower, double *logs)
{
    for (size_t c = 1; c <= FINALISTS; c++)
        logs[c] = slower - BASELINE + (c <= equal ? 0 : GAP);
    logs[0] = 0;
}

static void run(const struct noise *noise, const struct scenario *scenario,
                bool with_looks, size_t n_passes, struct tallies *to)
{
    const double threshold = scenario->threshold > 0
                                 ? scenario->threshold
                                 : compare_rules_used.threshold;
    struct noise_stream stream = noise_stream(scenario->equal_a + 7);
    struct noise other = *noise; /* B's drift runs the other way */
    struct block_sample *samples =
        mem_new((size_t)ALL * BLOCKS_MOST * SAMPLES, sizeof(*samples));

    other.drift = -other.drift;
    other.swing = -other.swing;
    other.step = -other.step;
    *to = (struct tallies){ .of = { { 0 } } };
    for (size_t i = 0; i < n_passes; i++) {
        struct side sides[2];

        set_logs(scenario->equal_a, 0, sides[0].logs);
        set_logs(scenario->equal_b, scenario->slower, sides[1].logs);
        for (int k = 0; k < 2; k++) {
            (with_looks ? measure_looks : measure_fixed)(
                k == 0 ? noise : &other, &stream, samples, &sides[k]);
            find_best(&sides[k]);
        }
        for (enum method m = TIMES; m < METHODS; m++)
            compare_sides(&sides[0], &sides[1], m, threshold, &to->of[m]);
        free_side(&sides[0]);
        free_side(&sides[1]);
    }
    free(samples);
}

static void print_tally(const char *name, const struct tally *t, double n)
{
    printf(", \"%s\": {\"regression\": %.4f, \"faster\": %.4f, "
           "\"false_regression\": %.4f, \"false_faster\": %.4f, "
           "\"coverage\": %.4f, \"kept_coverage\": %.4f}",
           name, t->regression / n, t->faster / n, t->false_slow / n,
           t->false_fast / n, t->held / n,
           t->kept > 0 ? t->kept_held / t->kept : 1);
}

/* The worst of all. */
struct worst {
    double wrong, held;
};

static void note(struct worst *worst, const struct tally *t, double n)
{
    worst->wrong = fmax(worst->wrong, fmax(t->false_slow, t->false_fast) / n);
    worst->held = fmin(worst->held, t->held / n);
    if (t->kept > 0)
        worst->held = fmin(worst->held, t->kept_held / t->kept);
}

void compare_rates(size_t n_passes, const char *noise, bool with_looks)
{
    struct worst worst[METHODS];
    double n = (double)n_passes;
    size_t each = sizeof(scenarios) / sizeof(scenarios[0]);

    for (enum method m = TIMES; m < METHODS; m++)
        worst[m] = (struct worst){ 0, 1 };
    for (size_t i = 0; i < each * n_noises; i++) {
        const struct noise *of = &noises[i / each];
        const struct scenario *scenario = &scenarios[i % each];
        struct tallies t;

        if (noise && strcmp(noise, of->name) != 0)
            continue;
        run(of, scenario, with_looks, n_passes, &t);
        printf("{\"noise\": \"%s\", \"winners\": \"%s\", \"looks\": %s",
               of->name, scenario->name, with_looks ? "true" : "false");
        for (enum method m = TIMES; m < METHODS; m++) {
            print_tally(methods[m], &t.of[m], n);
            note(&worst[m], &t.of[m], n);
        }
        printf("}\n");
        fflush(stdout);
    }
    for (enum method m = TIMES; m < METHODS; m++)
        fprintf(stderr,
                "%s: a false verdict in %.2f %% at most; an interval of the "
                "named winners holds in %.2f %% at least\n",
                methods[m], 100 * worst[m].wrong, 100 * worst[m].held);
}
