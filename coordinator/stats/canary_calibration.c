#include "coordinator/stats/canary_calibration.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/stats/stats.h"

/* One canary measurement as a log time; 'line' is the value of the line
 * there. */
struct knot {
    double at_s, log_s, line;
};

struct curve {
    int gpu;
    struct knot *knots; /* [n], a slice of the calibration's knots, n >= 1 */
    size_t n;
    double level; /* median of log_s */
    double noise; /* NAN with fewer than three knots */
};

struct canary_calibration {
    struct knot *knots; /* of all GPUs */
    struct curve *curves;
    size_t n;
    double level; /* median of the curves' */
};

/* Deviations beyond this many standard deviations are not noise. */
#define NOISE_SIGMAS 4

static int in_order(const void *a, const void *b)
{
    const struct canary *x = a, *y = b;

    if (x->gpu != y->gpu)
        return (x->gpu > y->gpu) - (x->gpu < y->gpu);
    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

static double middle(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Hampel's rule: replace a point by the median of three only if noise does not
 * explain its deviation.  Replacing every point would cut the peaks off a
 * drift. */
static double without_oddity(double log_s, double expected, double noise)
{
    return fabs(log_s - expected) > NOISE_SIGMAS * noise ? expected : log_s;
}

static void draw_line(struct curve *curve)
{
    struct knot *k = curve->knots, *last = &k[curve->n - 1];
    double noise = curve->noise;

    k[0].line = k[0].log_s;
    last->line = last->log_s;
    if (curve->n < 3)
        return;
    for (size_t i = 1; i + 1 < curve->n; i++)
        k[i].line = without_oddity(
            k[i].log_s, middle(k[i - 1].log_s, k[i].log_s, k[i + 1].log_s),
            noise);
    /* An end has one neighbour.  The point beyond it is extrapolated from the
     * line (Tukey's rule for the ends of a smooth). */
    k[0].line = without_oddity(
        k[0].log_s,
        middle(k[0].log_s, k[1].line, 3 * k[1].line - 2 * k[2].line), noise);
    last->line = without_oddity(last->log_s,
                                middle(last->log_s, last[-1].line,
                                       3 * last[-1].line - 2 * last[-2].line),
                                noise);
}

/* Noise from the scatter of the steps between canaries around the median step.
 * So neither a steady drift nor one odd canary (two steps) affects it. */
static double find_noise(const struct curve *curve, double *scratch)
{
    struct summary steps;

    if (curve->n < 3)
        return NAN;
    for (size_t i = 1; i < curve->n; i++)
        scratch[i - 1] = curve->knots[i].log_s - curve->knots[i - 1].log_s;
    stats_summary(scratch, curve->n - 1, &steps);
    return steps.spread / M_SQRT2;
}

static void find_curve(struct curve *curve, double *scratch)
{
    struct summary summary;

    for (size_t i = 0; i < curve->n; i++)
        scratch[i] = curve->knots[i].log_s;
    stats_summary(scratch, curve->n, &summary);
    curve->level = summary.median;
    curve->noise = find_noise(curve, scratch);
    draw_line(curve);
}

static double middle_level(const struct canary_calibration *calibration,
                           size_t but, double *scratch)
{
    struct summary summary;
    size_t n = 0;

    for (size_t i = 0; i < calibration->n; i++)
        if (i != but)
            scratch[n++] = calibration->curves[i].level;
    stats_summary(scratch, n, &summary);
    return summary.median;
}

struct canary_calibration *canary_calibration_new(const struct canary *canaries,
                                                  size_t n)
{
    struct canary_calibration *c = mem_new(1, sizeof(*c));
    struct canary *sorted = mem_dup(canaries, n * sizeof(*canaries));
    double *scratch = mem_new(n, sizeof(*scratch));

    qsort(sorted, n, sizeof(*sorted), in_order);
    c->knots = mem_new(n, sizeof(*c->knots));
    c->curves = mem_new(n, sizeof(*c->curves));
    for (size_t i = 0; i < n; i++) {
        assert(sorted[i].seconds > 0);
        c->knots[i] = (struct knot){ .at_s = sorted[i].at_s,
                                     .log_s = log(sorted[i].seconds) };
        if (i == 0 || sorted[i].gpu != sorted[i - 1].gpu)
            c->curves[c->n++] =
                (struct curve){ .gpu = sorted[i].gpu, .knots = &c->knots[i] };
        c->curves[c->n - 1].n++;
    }
    for (size_t i = 0; i < c->n; i++)
        find_curve(&c->curves[i], scratch);
    if (c->n > 0)
        c->level = middle_level(c, c->n, scratch);
    free(scratch);
    free(sorted);
    return c;
}

void canary_calibration_free(struct canary_calibration *calibration)
{
    if (!calibration)
        return;
    free(calibration->curves);
    free(calibration->knots);
    free(calibration);
}

static const struct curve *
find_gpu(const struct canary_calibration *calibration, int gpu)
{
    for (size_t i = 0; i < calibration->n; i++)
        if (calibration->curves[i].gpu == gpu)
            return &calibration->curves[i];
    return NULL;
}

static double line_at(const struct curve *curve, double at_s)
{
    size_t lo = 0, hi = curve->n - 1;
    const struct knot *k = curve->knots;

    if (at_s <= k[lo].at_s)
        return k[lo].line;
    if (at_s >= k[hi].at_s)
        return k[hi].line;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;

        if (k[mid].at_s <= at_s)
            lo = mid;
        else
            hi = mid;
    }
    return k[lo].line + (k[hi].line - k[lo].line) * (at_s - k[lo].at_s) /
                            (k[hi].at_s - k[lo].at_s);
}

double
canary_calibration_normalise(const struct canary_calibration *calibration,
                             double raw_s, int gpu, double at_s)
{
    const struct curve *curve = find_gpu(calibration, gpu);

    return curve ? raw_s * exp(calibration->level - line_at(curve, at_s)) : NAN;
}

size_t canary_calibration_gpus(const struct canary_calibration *calibration)
{
    return calibration->n;
}

static double others_level(const struct canary_calibration *calibration,
                           size_t i)
{
    double *scratch, level;

    if (calibration->n < 2)
        return calibration->level;
    scratch = mem_new(calibration->n, sizeof(*scratch));
    level = middle_level(calibration, i, scratch);
    free(scratch);
    return level;
}

void canary_calibration_gpu(const struct canary_calibration *calibration,
                            size_t i,
                            const struct canary_calibration_rules *rules,
                            struct canary_calibration_gpu *out)
{
    const struct curve *curve = &calibration->curves[i];
    double lo = INFINITY, hi = -INFINITY;

    assert(i < calibration->n);
    for (size_t k = 0; k < curve->n; k++) {
        lo = fmin(lo, curve->knots[k].line);
        hi = fmax(hi, curve->knots[k].line);
    }
    *out = (struct canary_calibration_gpu){
        .gpu = curve->gpu,
        .n_canaries = curve->n,
        .level_s = exp(curve->level),
        .offset = expm1(curve->level - others_level(calibration, i)),
        .fastest = expm1(lo - curve->level),
        .slowest = expm1(hi - curve->level),
        .trend = expm1(curve->knots[curve->n - 1].line - curve->knots[0].line),
        .noise = curve->noise,
    };
    out->drifts = out->slowest > rules->drift || -out->fastest > rules->drift;
}

static size_t add_windows(const struct curve *curve, double jump, size_t n,
                          struct canary_calibration_window *out)
{
    double noise = isnan(curve->noise) ? 0 : curve->noise;
    double least = fmax(log1p(jump), NOISE_SIGMAS * M_SQRT2 * noise);
    bool is_open = false;

    for (size_t i = 1; i < curve->n; i++) {
        const struct knot *k = &curve->knots[i];
        double change = k->log_s - k[-1].log_s;

        if (fabs(change) <= least) {
            is_open = false;
            continue;
        }
        if (!is_open)
            out[n++] =
                (struct canary_calibration_window){ .gpu = curve->gpu,
                                                    .from_s = k[-1].at_s };
        is_open = true;
        out[n - 1].to_s = k->at_s;
        if (fabs(change) > fabs(log1p(out[n - 1].change)))
            out[n - 1].change = expm1(change);
    }
    return n;
}

size_t canary_calibration_windows(const struct canary_calibration *calibration,
                                  const struct canary_calibration_rules *rules,
                                  struct canary_calibration_window *out)
{
    size_t n = 0;

    for (size_t i = 0; i < calibration->n; i++)
        n = add_windows(&calibration->curves[i], rules->jump, n, out);
    return n;
}
