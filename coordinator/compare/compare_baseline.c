#include "coordinator/compare/compare_baseline.h"

#include <string.h>

#include "coordinator/compare/compare.h"
#include "coordinator/compare/compare_side.h"
#include "coordinator/result/report.h"
#include "coordinator/stats/location_shift.h"

static bool has_blocks(const struct compare_side *side, const char *key,
                       size_t shape)
{
    const struct compare_blocks *blocks = compare_side_blocks(side, key, shape);

    return blocks && blocks->n >= COMPARE_BLOCKS_LEAST;
}

/* Hosts with other compilers build other machine code in one sweep. */
static size_t codes_of(const struct compare_side *side, const char *key)
{
    size_t n = 0;

    for (size_t i = 0; i < side->n_codes; i++)
        n += strcmp(side->codes[i].config, key) == 0;
    return n;
}

enum compare_baseline compare_baseline_of(const struct compare_side *a,
                                          size_t shape_a,
                                          const struct compare_side *b,
                                          size_t shape_b)
{
    const struct report_config *in_a = report_baseline(a->report);
    const struct report_config *in_b = report_baseline(b->report);

    if (!in_a || !in_b || strcmp(in_a->key, in_b->key) != 0)
        return COMPARE_BASELINE_OTHER;
    if (codes_of(a, in_a->key) != 1 || codes_of(b, in_b->key) != 1 ||
        strcmp(compare_side_code(a, in_a->key),
               compare_side_code(b, in_b->key)) != 0)
        return COMPARE_BASELINE_CHANGED;
    return has_blocks(a, in_a->key, shape_a) &&
                   has_blocks(b, in_b->key, shape_b)
               ? COMPARE_BASELINE_COMMON
               : COMPARE_BASELINE_AWAY;
}

const char *compare_baseline_why(enum compare_baseline is)
{
    static const char *const whys[] = {
        [COMPARE_BASELINE_COMMON] =
            "few blocks have both the configuration and the baseline",
        [COMPARE_BASELINE_OTHER] = "the baselines are different configurations",
        [COMPARE_BASELINE_CHANGED] =
            "the machine code of the baseline differs or is not known",
        [COMPARE_BASELINE_AWAY] = "the baseline is in too few blocks",
    };

    return whys[is];
}

/* Both are in the order of their rounds, and a round is one block. */
size_t compare_baseline_ratios(const struct compare_blocks *of,
                               const struct compare_blocks *baseline,
                               struct location_shift_value *out)
{
    size_t n = 0;

    for (size_t i = 0, j = 0; i < of->n; i++) {
        while (j < baseline->n && baseline->rounds[j] < of->rounds[i])
            j++;
        if (j == baseline->n || baseline->rounds[j] != of->rounds[i] ||
            baseline->medians[j].stratum != of->medians[i].stratum)
            continue;
        out[n] = of->medians[i];
        out[n++].value -= baseline->medians[j].value;
    }
    return n;
}
