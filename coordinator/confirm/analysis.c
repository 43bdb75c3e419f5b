#include "coordinator/confirm/analysis.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/confirm/best_set.h"

/* Before the first look: no interval is finite. */
#define NO_LEVEL 1e-12

static void put_times(const struct blocks *blocks, double confidence,
                      struct finding *out)
{
    size_t n = blocks_contestants(blocks);
    struct block_time *times = mem_new(n, sizeof(*times));

    blocks_times(blocks, confidence, times);
    for (size_t c = 0; c < n; c++)
        out[c].time = times[c];
    free(times);
}

static void put_ranks(const struct blocks *blocks, size_t baseline,
                      struct finding *out)
{
    size_t n = blocks_count(blocks);
    double *mine = mem_new(n, sizeof(*mine)), *its = mem_new(n, sizeof(*its));
    size_t n_its = blocks_medians(blocks, baseline, its);

    for (size_t c = 0; c < blocks_contestants(blocks); c++) {
        size_t n_mine = blocks_medians(blocks, c, mine);

        if (n_mine > 0 && n_its > 0)
            mann_whitney(mine, n_mine, its, n_its, &out[c].rank);
        else
            out[c].rank = (struct mann_whitney){ .p = NAN, .delta = NAN };
    }
    free(its);
    free(mine);
}

double analysis_confidence(size_t n, double alpha)
{
    return 1 - (n > 1 ? alpha / (double)n : alpha);
}

/* Holm over the finalists on one side of the floor: faster or slower.  The two
 * sides share alpha, so each p counts twice. */
static void correct_side(const struct blocks *blocks, size_t baseline,
                         double floor, bool faster, const double *scales,
                         struct finding *out)
{
    size_t n = blocks_contestants(blocks), kept = 0;
    double *p = mem_new(n, sizeof(*p)), most = 1 + floor;

    for (size_t c = 0; c < n; c++)
        if (c != baseline)
            p[kept++] = fmin(
                1, 2 * (scales ? scales[c] : 1) *
                       (faster ? speedup_p_above(blocks, c, baseline, most)
                               : speedup_p_above(blocks, baseline, c, most)));
    mann_whitney_holm(p, kept, p);
    for (size_t c = n; c-- > 0;)
        if (c != baseline)
            out[c].p_holm = fmin(out[c].p_holm, p[--kept]);
    free(p);
}

/* scales  [contestants] factors of p; NULL: all are 1 */
static void put_corrected(const struct blocks *blocks, size_t baseline,
                          double floor, const double *scales,
                          struct finding *out)
{
    for (size_t c = 0; c < blocks_contestants(blocks); c++)
        out[c].p_holm = 1;
    correct_side(blocks, baseline, floor, true, scales, out);
    correct_side(blocks, baseline, floor, false, scales, out);
}

static size_t put_ties(const struct blocks *blocks, size_t baseline,
                       const struct verdict_rules *rules, struct finding *out)
{
    size_t n = blocks_contestants(blocks), leader;
    bool *eligible = mem_new(n, sizeof(*eligible));
    bool *tied = mem_new(n, sizeof(*tied));

    for (size_t c = 0; c < n; c++)
        eligible[c] = c != baseline && out[c].speedup.n_blocks > 0;
    leader = best_set_of(blocks, eligible, rules, tied);
    for (size_t c = 0; c < n; c++)
        out[c].tied = tied[c];
    free(tied);
    free(eligible);
    return leader;
}

static void put_verdicts(size_t n, const struct verdict_rules *rules,
                         struct finding *out)
{
    for (size_t c = 0; c < n; c++) {
        out[c].verdict = verdict_of(&out[c].speedup, out[c].p_holm, rules);
        out[c].success =
            verdict_is_success(out[c].verdict, &out[c].speedup, rules);
    }
}

size_t analysis_findings(const struct blocks *blocks, size_t baseline,
                         const struct verdict_rules *rules, struct finding *out)
{
    size_t n = blocks_contestants(blocks);
    double joint = analysis_confidence(n - 1, rules->alpha);

    assert(baseline < n);
    put_times(blocks, 1 - rules->alpha, out);
    put_ranks(blocks, baseline, out);
    for (size_t c = 0; c < n; c++)
        speedup_of(blocks, c, baseline, joint, &out[c].speedup);
    put_corrected(blocks, baseline, rules->floor, NULL, out);
    put_verdicts(n, rules, out);
    return put_ties(blocks, baseline, rules, out);
}

/* A p is to the level of its look as the scaled one is to that of a single
 * test. */
static double scale_of_look(size_t n, const struct verdict_rules *rules,
                            double level)
{
    return (1 - analysis_confidence(n - 1, rules->alpha)) / level;
}

size_t analysis_findings_at(const struct blocks *blocks, size_t baseline,
                            const struct verdict_rules *rules,
                            const struct analysis_look *look,
                            struct finding *out)
{
    size_t n = blocks_contestants(blocks), leader = BEST_SET_NONE;
    double *scales = mem_new(n, sizeof(*scales)), least = INFINITY;

    assert(baseline < n);
    for (size_t c = 0; c < n; c++) {
        double level = fmax(look->levels[c], NO_LEVEL);

        scales[c] = scale_of_look(n, rules, level);
        least = fmin(least, scales[c]);
        speedup_of(blocks, c, baseline, 1 - level, &out[c].speedup);
    }
    put_times(blocks, 1 - rules->alpha / least, out);
    put_ranks(blocks, baseline, out);
    put_corrected(blocks, baseline, rules->floor, scales, out);
    put_verdicts(n, rules, out);
    for (size_t c = 0; c < n; c++) {
        out[c].tied = c != baseline && look->tied[c];
        if (out[c].tied && (leader == BEST_SET_NONE ||
                            out[c].time.seconds < out[leader].time.seconds))
            leader = c;
    }
    free(scales);
    return leader;
}
