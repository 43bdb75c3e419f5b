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
 * the baseline is slower by 10 %. */
#define GAP 0.04
#define BASELINE 0.1

static const struct scenario {
    const char *name;
    size_t equal_a, equal_b;
    double slower; /* B than A, log time */
} scenarios[] = {
    { "ten and ten, equal", FINALISTS, FINALISTS, 0 },
    { "ten and one, equal", FINALISTS, 1, 0 },
    { "one and ten, equal", 1, FINALISTS, 0 },
    { "ten and ten, slower by the threshold", FINALISTS, FINALISTS, 0.0295 },
    { "ten and one, slower by the threshold", FINALISTS, 1, 0.0295 },
    { "one and ten, faster by the threshold", 1, FINALISTS, -0.0295 },
    { "ten and ten, slower by 5 %", FINALISTS, FINALISTS, 0.0488 },
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

struct tallies {
    struct tally adjusted, alone; /* alone: as if nothing had been chosen */
};

static void measure_fixed(const struct noise *noise, struct noise_stream *s,
                          struct block_sample *samples, struct side *side)
{
    const struct noise_pass pass = { ALL, BLOCKS, SAMPLES, 1, side->logs };
    size_t n = noise_measure(noise, &pass, s, samples);

    side->looks = NULL;
    side->blocks = blocks_new(samples, n, ALL);
}

/* What drifts over a pass would differ between two that end at other times:
 * then the occasions differ, which no interval of their times allows for. */
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
    struct noise steady = *noise;
    struct noise_results results;
    size_t n;

    steady.drift = steady.swing = steady.step = 0;
    side->looks = noise_results_pass(&steady, &pass, &design, s, &results);
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

static size_t logs_of(const struct side *side, size_t candidate,
                      struct location_shift_value *out)
{
    double *medians = mem_new(blocks_count(side->blocks), sizeof(*medians));
    size_t n = blocks_medians(side->blocks, candidate, medians);

    for (size_t i = 0; i < n; i++)
        out[i] = (struct location_shift_value){ log(medians[i]), 0 };
    free(medians);
    return n;
}

static void compare_two(const struct side *a, size_t in_a, const struct side *b,
                        size_t in_b, double alpha, struct compare_chosen among,
                        struct speedup *out)
{
    struct location_shift_value of_a[BLOCKS_MOST], of_b[BLOCKS_MOST];
    const struct compare_evidence evidence = { of_a, of_b,
                                               logs_of(a, in_a, of_a),
                                               logs_of(b, in_b, of_b) };
    struct compare_levels levels = compare_interval_levels(alpha, among);
    struct compare_interval found;

    levels.lo = level_of(a, in_a, b, in_b, levels.lo);
    levels.hi = level_of(a, in_a, b, in_b, levels.hi);
    compare_interval_of_blocks(&evidence, alpha, &levels, &found);
    *out = found.speedup;
}

static bool holds(const struct speedup *s, double truth)
{
    return log(s->lo) <= truth + NEARLY && truth - NEARLY <= log(s->hi);
}

/* The rows of the winner, as compare.c judges them. */
static void compare_sides(const struct side *a, const struct side *b,
                          struct compare_chosen among, struct tally *to)
{
    const struct verdict_rules used = { .alpha = compare_rules_used.alpha,
                                        .floor = compare_rules_used.threshold,
                                        .target = 1 };
    size_t in_b[] = { b->best, a->best }, n = a->best == b->best ? 1 : 2;
    double limit = log1p(used.floor), p[2];
    struct speedup s[2];
    bool slow = false, fast = false, no_slow = false, no_fast = false;

    for (size_t i = 0; i < n; i++) {
        compare_two(a, a->best, b, in_b[i], used.alpha / (double)n,
                    (struct compare_chosen){ among.a, i == 0 ? among.b : 1 },
                    &s[i]);
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
    logs[0] = slower;
}

static void run(const struct noise *noise, const struct scenario *scenario,
                bool with_looks, size_t n_passes, struct tallies *to)
{
    struct noise_stream stream = noise_stream(scenario->equal_a + 7);
    struct block_sample *samples =
        mem_new((size_t)ALL * BLOCKS_MOST * SAMPLES, sizeof(*samples));

    *to = (struct tallies){ .adjusted = { 0 } };
    for (size_t i = 0; i < n_passes; i++) {
        struct side sides[2];

        set_logs(scenario->equal_a, 0, sides[0].logs);
        set_logs(scenario->equal_b, scenario->slower, sides[1].logs);
        for (int k = 0; k < 2; k++) {
            (with_looks ? measure_looks : measure_fixed)(noise, &stream,
                                                         samples, &sides[k]);
            find_best(&sides[k]);
        }
        compare_sides(&sides[0], &sides[1],
                      (struct compare_chosen){ FINALISTS, FINALISTS },
                      &to->adjusted);
        compare_sides(&sides[0], &sides[1], (struct compare_chosen){ 1, 1 },
                      &to->alone);
        free_side(&sides[0]);
        free_side(&sides[1]);
    }
    free(samples);
}

static void print_tally(const char *name, const struct tally *t, double n)
{
    printf("\"%s\": {\"regression\": %.4f, \"faster\": %.4f, "
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

static void print_worst(const char *name, const struct worst *worst)
{
    fprintf(stderr,
            "%s: a false verdict in %.2f %% at most; an interval of the named "
            "winners holds in %.2f %% at least\n",
            name, 100 * worst->wrong, 100 * worst->held);
}

void compare_rates(size_t n_passes, const char *noise, bool with_looks)
{
    struct worst adjusted = { 0, 1 }, alone = { 0, 1 };
    double n = (double)n_passes;
    size_t each = sizeof(scenarios) / sizeof(scenarios[0]);

    for (size_t i = 0; i < each * n_noises; i++) {
        const struct noise *of = &noises[i / each];
        const struct scenario *scenario = &scenarios[i % each];
        struct tallies t;

        if (noise && strcmp(noise, of->name) != 0)
            continue;
        run(of, scenario, with_looks, n_passes, &t);
        printf("{\"noise\": \"%s\", \"winners\": \"%s\", \"looks\": %s, ",
               of->name, scenario->name, with_looks ? "true" : "false");
        print_tally("adjusted", &t.adjusted, n);
        printf(", ");
        print_tally("alone", &t.alone, n);
        printf("}\n");
        fflush(stdout);
        note(&adjusted, &t.adjusted, n);
        note(&alone, &t.alone, n);
    }
    print_worst("adjusted for the choice", &adjusted);
    print_worst("not adjusted", &alone);
}
