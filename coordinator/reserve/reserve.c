#include "coordinator/reserve/reserve.h"

#include <math.h>

#define S_PER_HOUR 3600.0
#define SLACK 1.25       /* over the estimate */
#define START_TIMES 3    /* a start may take, on a machine that became slower */
#define STOP_S 0.5       /* for workers to hear that they must stop */
#define STOP_MOST_S 2.0  /* then they are left */
#define OVERHEAD_S 0.005 /* of a measurement, besides what holds the GPU */
#define PROOF_TIMES 3    /* as long as a measurement of the search */

static double or_else(double s, double other)
{
    return isnan(s) ? other : s;
}

struct reserve_times reserve_times_or(struct reserve_times times,
                                      const struct reserve_times *other)
{
    return (
        struct reserve_times){ or_else(times.start_s, other->start_s),
                               or_else(times.build_s, other->build_s),
                               or_else(times.measure_s, other->measure_s),
                               or_else(times.external_s, other->external_s) };
}

/* Flash attention on an H200, nvcc 13, workers by SSH; PyTorch takes 2.2 s to
 * start as an external baseline. */
struct reserve_times reserve_times_default(bool local)
{
    return (struct reserve_times){ .start_s = local ? 1 : 5,
                                   .build_s = 0.4,
                                   .measure_s = 0.05,
                                   .external_s = 2.5 };
}

/* Where workers start slowly, they stop slowly. */
static double stop_s(const struct reserve_times *times)
{
    return fmin(fmax(times->start_s, STOP_S), STOP_MOST_S);
}

/* What each contestant adds. */
static double contestant_s(const struct reserve_pass *pass,
                           const struct reserve_times *times)
{
    double each = times->measure_s + OVERHEAD_S;

    return each * (double)(pass->blocks * pass->shapes) +
           each * PROOF_TIMES * (double)pass->proofs / (double)pass->gpus;
}

/* A start takes 'start_times' as long as it did. */
static double fixed_s(const struct reserve_pass *pass,
                      const struct reserve_times *times, double start_times)
{
    double stop = stop_s(times), step = start_times * times->start_s + stop;
    double externals =
        (double)(pass->externals * pass->external_blocks * pass->shapes) *
        times->external_s;

    return stop + step * (pass->proofs > 0 ? 2 : 1) + externals;
}

double reserve_s(const struct reserve_pass *pass,
                 const struct reserve_times *times)
{
    return SLACK * (fixed_s(pass, times, START_TIMES) +
                    (double)pass->contestants * contestant_s(pass, times));
}

double reserve_usual_s(const struct reserve_pass *pass,
                       const struct reserve_times *times)
{
    return fixed_s(pass, times, 1) +
           (double)pass->contestants * contestant_s(pass, times);
}

int64_t reserve_contestants(const struct reserve_pass *pass,
                            const struct reserve_times *times, double left_s)
{
    double fit = (left_s / SLACK - fixed_s(pass, times, START_TIMES)) /
                 contestant_s(pass, times);

    return fit >= (double)pass->contestants ? pass->contestants
           : fit > 2                        ? (int64_t)fit
                                            : 2;
}

bool reserve_has_block(const struct reserve_times *times, double block_s,
                       double left_s)
{
    return left_s >= SLACK * (block_s + stop_s(times));
}

enum reserve_step reserve_next(const struct reserve_pass *pass,
                               const struct reserve_times *times, double left_s)
{
    double ahead_s = reserve_committed_s(times);
    double kept_s = reserve_s(pass, times);
    struct reserve_pass two = *pass;

    if (left_s > ahead_s + kept_s)
        return RESERVE_SEARCH;
    if (left_s >= kept_s / 2)
        return RESERVE_CLOSE;
    two.contestants = 2;
    kept_s = reserve_s(&two, times);
    return left_s > ahead_s + kept_s  ? RESERVE_SEARCH
           : left_s >= kept_s / SLACK ? RESERVE_CLOSE
                                      : RESERVE_NONE;
}

double reserve_committed_s(const struct reserve_times *times)
{
    return times->build_s + times->measure_s;
}

int reserve_fit(int tried, double took_s, double left_s, int all)
{
    double fit = tried + fmax(left_s, 0) * tried / took_s;

    return fit < all ? (int)fit : all;
}

/* Two digits, and not below it. */
static double round_up(double number)
{
    double step = pow(10, floor(log10(number)) - 1);

    return ceil(number / step - 1e-9) * step;
}

double reserve_raised(double cap, double used, double rest)
{
    double need = isfinite(rest) ? used + rest : 2 * fmax(cap, used);

    return cap <= 0 || need <= cap ? cap : round_up(need);
}

double reserve_left_s(const struct reserve_caps *caps)
{
    double left = INFINITY;

    if (caps->max_s > 0)
        left = caps->max_s - caps->used_s;
    if (caps->max_usd > 0 && caps->usd_per_h > 0)
        left = fmin(left, (caps->max_usd - caps->used_usd) / caps->usd_per_h *
                              S_PER_HOUR);
    return left;
}
