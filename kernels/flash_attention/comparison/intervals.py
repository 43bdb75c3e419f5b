"""How many times as fast one contestant is as another, with an interval.

The method of docs/statistics.md for one GPU: a block's samples of a contestant become one median,
the log ratio of two medians of a block is one difference.  The estimate is that of Hodges and
Lehmann, the interval comes from Wilcoxon's signed-rank distribution, which is exact.
"""
import functools
import math
import statistics

CONFIDENCE = 0.95
MISS_SLACK = 1.5  # an interval whose best level misses by more than this times is not given


@functools.lru_cache(maxsize=None)
def rank_sums(n):
    """P(sum of the positive ranks <= k) for k = 0 to half of the largest sum."""
    half = n * (n + 1) // 4
    probability = [1.0] + [0.0] * half
    for rank in range(1, n + 1):
        for k in range(half, -1, -1):
            probability[k] = 0.5 * (probability[k] + (probability[k - rank] if k >= rank else 0.0))
    for k in range(1, half + 1):
        probability[k] += probability[k - 1]
    return probability


def walsh_averages(values):
    return sorted((a + b) / 2 for i, a in enumerate(values) for b in values[i:])


def interval_of(averages, n, confidence):
    """Between two steps of the distribution the ends are interpolated."""
    miss = (1 - confidence) / 2
    if 0.5 ** n > MISS_SLACK * miss:
        return -math.inf, math.inf
    below = rank_sums(n)
    k = 0
    while k < len(below) - 1 and below[k] <= miss:
        k += 1
    reached = below[k - 1] if k > 0 else 0.0
    share = min(1.0, (miss - reached) / (below[k] - reached))
    inner = averages[k], averages[-1 - k]
    if k > 0:
        outer = averages[k - 1], averages[-k]
    else:
        outer = 2 * averages[0] - averages[1], 2 * averages[-1] - averages[-2]
    return tuple(far + share * (near - far) for far, near in zip(outer, inner))


def signed_rank(differences, confidence=CONFIDENCE):
    """(estimate, low end, high end) of the centre of 'differences'."""
    averages = walsh_averages(differences)
    low, high = interval_of(averages, len(differences), confidence)
    return statistics.median(averages), low, high


def speedup(ours, theirs, confidence=CONFIDENCE):
    """time(theirs) / time(ours) and its interval, of two lists of blocks of seconds."""
    differences = [math.log(statistics.median(b) / statistics.median(a)) for a, b in zip(ours, theirs)]
    return tuple(math.exp(value) for value in signed_rank(differences, confidence))
