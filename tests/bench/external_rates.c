#include "tests/bench/external_rates.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/confirm/analysis.h"
#include "coordinator/confirm/best_set.h"
#include "coordinator/confirm/external_schedule.h"
#include "coordinator/confirm/sequential.h"
#include "tests/coordinator/noise_results.h"

#define FINALISTS 10
#define ENTRIES (FINALISTS + 1) /* 0 is the baseline */
#define EXTERNALS 2
#define ALL (ENTRIES + EXTERNALS)
#define SAMPLES 5
#define GROUP 2
#define CAP 70
#define BLOCKS_MOST (PROCESS_PLAN_MOST * CAP) /* if processes differ */
#define BLOCKS_ONCE 20
#define BLOCKS_ASKED 8 /* of an external baseline, by default */
#define NEARLY 1e-9

static const struct verdict_rules rules = VERDICT_RULES;

/* The first external baseline is as fast as the baseline.  One finalist is
 * 'best' times as fast as that, and the others 'rest' times; the second
 * external baseline is as fast as the best. */
static const struct scenario {
    const char *name;
    double best, rest;
} scenarios[] = {
    { "all just below the target", 1.0999, 1.0999 },
    { "all at the floor", 1.005, 1.005 },
    { "all equal", 1, 1 },
    { "one 1 % over the target", 1.111, 1.05 },
    { "one 2 % over the target", 1.122, 1.05 },
};

enum how {
    ONCE,   /* against the first, in a fixed number of blocks */
    BESIDE, /* looks ask about the baseline */
    LOOKED, /* looks ask about the first, which the rule is against */
    HOWS
};

struct passing {
    const struct noise *noise;
    double logs[ALL];
    struct noise_stream stream;
    struct block_sample *samples; /* of the entries, then of all */
    size_t n;
};

/* What is said of the entries over one external baseline. */
struct family {
    struct finding findings[ALL];
};

/* Counts of passes. */
struct tally {
    double success; /* of the named best, over the first external baseline */
    double wrong[EXTERNALS], held[EXTERNALS];
    double samples;
};

/* ---- the verdicts ---- */

/* The entries and one external baseline, which becomes the last contestant.
 * looks  that asked about it; NULL: none did */
static void judge_external(const struct passing *p, int external,
                           const struct sequential *looks, struct family *out)
{
    struct block_sample *kept = mem_new(p->n, sizeof(*kept));
    double levels[ENTRIES + 1];
    bool tied[ENTRIES + 1];
    struct blocks *blocks;
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++) {
        int who = p->samples[i].candidate;

        if (who >= ENTRIES && who != ENTRIES + external)
            continue;
        kept[n] = p->samples[i];
        kept[n++].candidate = who < ENTRIES ? who : ENTRIES;
    }
    blocks = blocks_new(kept, n, ENTRIES + 1);
    for (size_t c = 0; looks && c <= ENTRIES; c++) {
        levels[c] = looks->candidates[c].level;
        tied[c] = looks->tied[c];
    }
    if (looks)
        analysis_findings_at(blocks, ENTRIES, &rules,
                             &(struct analysis_look){ levels, tied },
                             out->findings);
    else
        analysis_findings(blocks, ENTRIES, &rules, out->findings);
    blocks_free(blocks);
    free(kept);
}

/* Over the baseline; 'looks' is NULL if there are none. */
static void judge_entries(const struct passing *p,
                          const struct sequential *looks, struct finding *out)
{
    struct block_sample *kept = mem_new(p->n, sizeof(*kept));
    struct blocks *blocks;
    double levels[ENTRIES];
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        if (p->samples[i].candidate < ENTRIES)
            kept[n++] = p->samples[i];
    blocks = blocks_new(kept, n, ENTRIES);
    for (size_t c = 0; looks && c < ENTRIES; c++)
        levels[c] = looks->candidates[c].level;
    if (looks)
        analysis_findings_at(blocks, 0, &rules,
                             &(struct analysis_look){ levels, looks->tied },
                             out);
    else
        analysis_findings(blocks, 0, &rules, out);
    blocks_free(blocks);
    free(kept);
}

/* Of those that tie: success by the rule before FAST before the rest. */
static size_t name_best(const struct finding *found, const struct finding *rule)
{
    struct best_set_choice choices[ENTRIES];
    int highest = 0, standing[ENTRIES];

    for (size_t c = 0; c < ENTRIES; c++) {
        standing[c] = !found[c].tied                     ? -1
                      : rule[c].success                  ? 2
                      : found[c].verdict == VERDICT_FAST ? 1
                                                         : 0;
        highest = standing[c] > highest ? standing[c] : highest;
    }
    for (size_t c = 0; c < ENTRIES; c++)
        choices[c] =
            (struct best_set_choice){ standing[c] == highest,
                                      found[c].time.seconds, "", (int64_t)c };
    return best_set_choose(choices, ENTRIES);
}

/* Is anything said of any entry over a time (log) that is not so? */
static bool is_wrong(const double *logs, const struct finding *found,
                     double over)
{
    double floor = log1p(rules.floor);

    for (size_t c = 0; c < ENTRIES; c++) {
        double truth = over - logs[c];
        enum verdict verdict = found[c].verdict;

        if ((verdict == VERDICT_FAST && truth <= floor + NEARLY) ||
            (verdict == VERDICT_SLOW && truth >= -floor - NEARLY) ||
            (verdict == VERDICT_SAME && fabs(truth) > floor + NEARLY) ||
            (found[c].success && truth < log(rules.target) - NEARLY))
            return true;
    }
    return false;
}

static bool holds(const double *logs, const struct finding *found, size_t best,
                  double over)
{
    const struct speedup *s = &found[best].speedup;
    double truth = over - logs[best];

    return log(s->lo) <= truth && truth <= log(s->hi);
}

static void judge(const struct passing *p, enum how how,
                  const struct sequential *looks, struct tally *to)
{
    struct finding found[ENTRIES];
    struct family families[EXTERNALS];
    const struct finding *rule = families[0].findings;
    size_t best;

    judge_external(p, 0, how == LOOKED ? looks : NULL, &families[0]);
    judge_external(p, 1, NULL, &families[1]);
    judge_entries(p, how == BESIDE ? looks : NULL, found);
    best = how == LOOKED ? name_best(rule, rule)
                         : name_best(found, how == ONCE ? rule : found);
    to->success += rule[best].success;
    to->samples += (double)p->n;
    for (int k = 0; k < EXTERNALS; k++) {
        double over = p->logs[ENTRIES + k];

        to->wrong[k] += is_wrong(p->logs, families[k].findings, over);
        to->held[k] += holds(p->logs, families[k].findings, best, over);
    }
}

/* ---- the passes ---- */

/* Drift is a rate: twenty blocks are one pass of 'noise'. */
static struct noise stretched(const struct noise *noise, size_t n_blocks)
{
    struct noise out = *noise;

    out.drift *= (double)n_blocks / BLOCKS_ONCE;
    return out;
}

static void run_once(struct passing *p, struct tally *to)
{
    const struct noise_pass pass = { ALL, BLOCKS_ONCE, SAMPLES, 1, p->logs };

    p->n = noise_measure(p->noise, &pass, &p->stream, p->samples);
    judge(p, ONCE, NULL, to);
}

/* What an external baseline gave that no look asked about. */
static void add_joined(struct passing *p, const struct noise_results *results,
                       size_t external, int joined)
{
    for (size_t i = 0; i < results->n; i++) {
        const struct sequential_result *r = &results->items[i];

        for (size_t k = 0;
             r->candidate == external && r->block <= joined && k < r->n; k++)
            p->samples[p->n++] = (struct block_sample){ (int)external, r->block,
                                                        r->gpu, r->seconds[k] };
    }
}

static void run_looks(struct passing *p, enum how how, struct tally *to)
{
    const struct noise_pass pass = { ALL, BLOCKS_MOST, SAMPLES, 1, p->logs };
    struct noise longer = stretched(p->noise, BLOCKS_MOST);
    const bool out[ALL] = { [ENTRIES] = how == BESIDE, [ENTRIES + 1] = true };
    struct sequential_design design = { .candidates = how == BESIDE
                                                          ? ENTRIES
                                                          : ENTRIES + 1,
                                        .over = how == LOOKED ? ENTRIES : 0,
                                        .shapes = 1,
                                        .group = GROUP,
                                        .most = CAP,
                                        .samples = SAMPLES,
                                        .rules = rules };
    int joined = external_schedule_blocks(
        BLOCKS_ASKED, verdict_blocks_needed(ENTRIES, &rules),
        sequential_first(&design), false);
    struct noise_results results;
    struct sequential *looks;

    noise_results_measure(&longer, &pass, &p->stream, &results);
    design.candidates = ALL;
    looks = sequential_replay(&design, results.items, results.n, out);
    p->n = noise_results_counted(&results, looks, p->samples);
    add_joined(p, &results, ENTRIES + 1, joined);
    if (how == BESIDE)
        add_joined(p, &results, ENTRIES, joined);
    judge(p, how, looks, to);
    sequential_free(looks);
    noise_results_fini(&results);
}

static void run(const struct noise *noise, const struct scenario *scenario,
                enum how how, size_t n_passes, struct tally *to)
{
    struct passing p = { .noise = noise, .stream = noise_stream(31) };

    p.samples =
        mem_new((size_t)ALL * BLOCKS_MOST * SAMPLES, sizeof(*p.samples));
    for (int c = 1; c < ENTRIES; c++)
        p.logs[c] = -log(c == 1 ? scenario->best : scenario->rest);
    p.logs[ENTRIES + 1] = -log(scenario->best);
    *to = (struct tally){ 0 };
    for (size_t i = 0; i < n_passes; i++)
        if (how == ONCE)
            run_once(&p, to);
        else
            run_looks(&p, how, to);
    free(p.samples);
}

void external_rates(size_t n_passes, const char *noise, const char *finalists)
{
    static const char *const names[] = { "once", "beside", "looks" };
    double n = (double)n_passes, wrong = 0, held = 1;
    size_t each = sizeof(scenarios) / sizeof(scenarios[0]);

    for (size_t i = 0; i < HOWS * each * n_noises; i++) {
        const struct noise *of = &noises[i / each / HOWS];
        const struct scenario *scenario = &scenarios[i / HOWS % each];
        enum how how = (enum how)(i % HOWS);
        struct tally t;

        if ((noise && strcmp(noise, of->name) != 0) ||
            (finalists && strcmp(finalists, scenario->name) != 0))
            continue;
        run(of, scenario, how, n_passes, &t);
        printf("{\"noise\": \"%s\", \"finalists\": \"%s\", \"external\": "
               "\"%s\", \"success\": %.4f, \"samples\": %.0f, "
               "\"wrong\": [%.4f, %.4f], \"coverage\": [%.4f, %.4f]}\n",
               of->name, scenario->name, names[how], t.success / n,
               t.samples / n, t.wrong[0] / n, t.wrong[1] / n, t.held[0] / n,
               t.held[1] / n);
        fflush(stdout);
        for (int k = 0; k < EXTERNALS; k++) {
            wrong = fmax(wrong, t.wrong[k] / n);
            held = fmin(held, t.held[k] / n);
        }
    }
    fprintf(stderr,
            "a wrong verdict over an external baseline: %.2f %% at most; the "
            "interval of the named best holds: %.2f %% at least\n",
            100 * wrong, 100 * held);
}
