#include "tests/bench/evaluations/problem.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/stats/prng.h"

/* Synthetic problems: each has one difficulty. */
struct shape {
    const char *name;
    int tunables;
    struct domain_tunable tunable[12];
    double kept; /* share of the product that random rules of pairs leave */
    double (*time)(const struct shape *shape, const double *u,
                   const double *noise);
    double noise; /* of a measurement */
};

#define ORDERED(n)                   \
    {                                \
        .levels = n, .ordered = true \
    }
#define OTHER(n)    \
    {               \
        .levels = n \
    }

#define NOISES 256 /* normal random coefficients of one problem */

/* Effects of single levels and of pairs, on the logarithm of the time. */
static double additive(const struct shape *shape, const double *u,
                       const double *noise)
{
    double sum = 0;

    for (int t = 0; t < shape->tunables; t++) {
        double phase = noise[t] * 3;

        sum += noise[20 + t] * cos(phase + 3 * u[t]) * 0.4;
        for (int s = 0; s < t; s++)
            sum +=
                0.2 * noise[40 + t * 12 + s] * (u[t] - 0.5) * (u[s] - 0.5) * 4;
    }
    return exp(sum);
}

/* Steps, as from whole waves of blocks and whole units of a resource. */
static double plateau(const struct shape *shape, const double *u,
                      const double *noise)
{
    double tile = exp2(floor(u[0] * 5)) * exp2(floor(u[1] * 4));
    double waves = ceil(600 / tile),
           fit = floor(24 / (1 + u[2] * 10 + tile / 16));
    double factor = 1;

    for (int t = 3; t < shape->tunables; t++)
        factor *= 1 + 0.25 * floor(fabs(u[t] - 0.3 - 0.1 * noise[t]) * 4);
    return fit < 1 ? 0 : waves * (1 + 4 / fit) * tile / 64 * factor;
}

/* A wide basin leads away from a narrow one, which is a third faster. */
static double deceptive(const struct shape *shape, const double *u,
                        const double *noise)
{
    double wide = 0, narrow = 0;

    for (int t = 0; t < shape->tunables; t++) {
        double goal = 0.5 + 0.4 * tanh(noise[t]);

        wide += fabs(u[t] - goal) / shape->tunables;
        narrow += fabs(u[t] - (1 - goal)) / shape->tunables;
    }
    return 1.5 + 3 * wide - 0.5 * exp(-40 * narrow * narrow) * 2;
}

/* The faster a point, the nearer it is to a region where everything fails. */
static double failing(const struct shape *shape, const double *u,
                      const double *noise)
{
    double load = 0, time = additive(shape, u, noise);

    for (int t = 0; t < shape->tunables; t++)
        load += u[t] * (1 + 0.3 * noise[200 + t]);
    return load > 0.5 * shape->tunables ? 0 : time * exp(-0.5 * load);
}

/* Two categories decide which of the other tunables matter, and how. */
static double switched(const struct shape *shape, const double *u,
                       const double *noise)
{
    int variant = (int)(u[0] * 3.999), layout = (int)(u[1] * 2.999);
    double sum = 0.3 * noise[variant] + 0.2 * noise[8 + layout];

    for (int t = 2; t < shape->tunables; t++) {
        double weight = noise[20 + variant * 12 + t];
        double goal = 0.5 + 0.5 * tanh(noise[80 + layout * 12 + t]);

        if (weight > 0)
            sum += 0.6 * weight * fabs(u[t] - goal);
    }
    return exp(sum);
}

/* A random effect of a pair of levels: nothing about near levels follows. */
static double pair_effect(const double *noise, int t, int s, const double *u)
{
    unsigned a = (unsigned)lround(u[t] * 16), b = (unsigned)lround(u[s] * 16);
    unsigned mixed = ((unsigned)t * 12 + (unsigned)s) * 2654435761U;

    mixed = (mixed ^ (a * 40503U + b * 9176U)) * 2246822519U;
    return noise[(mixed >> 16) % NOISES];
}

/* What is right for one tunable is decided by the others. */
static double interacting(const struct shape *shape, const double *u,
                          const double *noise)
{
    double sum = 0;

    for (int t = 0; t < shape->tunables; t++)
        for (int s = 0; s < t; s++)
            sum += 0.12 * pair_effect(noise, t, s, u);
    return exp(sum);
}

/* Tunables without an order: own effects, and those of each next pair. */
static double categories(const struct shape *shape, const double *u,
                         const double *noise)
{
    double sum = 0;

    for (int t = 0; t < shape->tunables; t++) {
        sum += 0.2 * pair_effect(noise, t, t, u);
        if (t > 0)
            sum += 0.15 * pair_effect(noise, t, t - 1, u);
    }
    return exp(sum);
}

/* A narrow valley that bends: Rosenbrock's, between other ends. */
static double valley(const struct shape *shape, const double *u,
                     const double *noise)
{
    double sum = 1;

    for (int t = 1; t < shape->tunables; t++) {
        double bend = u[t] - u[t - 1] * u[t - 1] - 0.05 * noise[t];
        double ahead = u[t - 1] - 0.7 - 0.1 * tanh(noise[20 + t]);

        sum += 4 * bend * bend + 0.2 * ahead * ahead;
    }
    return sum;
}

static const struct shape shapes[PROBLEM_SYNTHETIC] = {
    { "additive-6d",
      6,
      { ORDERED(8), ORDERED(6), ORDERED(5), ORDERED(4), OTHER(3), OTHER(2) },
      0.6,
      additive,
      0 },
    { "additive-11d",
      11,
      { ORDERED(4), ORDERED(4), ORDERED(4), ORDERED(3), ORDERED(3), OTHER(3),
        OTHER(2), OTHER(2), OTHER(2), OTHER(2), OTHER(2) },
      0.7,
      additive,
      0 },
    { "plateau-7d",
      7,
      { ORDERED(8), ORDERED(6), ORDERED(6), ORDERED(5), ORDERED(3), OTHER(2),
        OTHER(2) },
      0.7,
      plateau,
      0 },
    { "deceptive-5d",
      5,
      { ORDERED(12), ORDERED(8), ORDERED(8), ORDERED(6), ORDERED(4) },
      0.5,
      deceptive,
      0 },
    { "failing-8d",
      8,
      { ORDERED(6), ORDERED(5), ORDERED(5), ORDERED(4), ORDERED(4), OTHER(3),
        OTHER(2), OTHER(2) },
      0.6,
      failing,
      0 },
    { "switched-8d",
      8,
      { OTHER(4), OTHER(3), ORDERED(8), ORDERED(6), ORDERED(5), ORDERED(4),
        ORDERED(3), OTHER(2) },
      0.6,
      switched,
      0 },
    { "interacting-7d",
      7,
      { ORDERED(6), ORDERED(5), ORDERED(4), ORDERED(4), OTHER(3), OTHER(3),
        OTHER(2) },
      0.8,
      interacting,
      0 },
    { "categories-9d",
      9,
      { OTHER(5), OTHER(4), OTHER(4), OTHER(3), OTHER(3), OTHER(3), OTHER(2),
        OTHER(2), OTHER(2) },
      0.7,
      categories,
      0 },
    { "valley-5d",
      5,
      { ORDERED(12), ORDERED(10), ORDERED(10), ORDERED(8), ORDERED(6) },
      0.7,
      valley,
      0 },
    { "noisy-6d",
      6,
      { ORDERED(8), ORDERED(6), ORDERED(5), ORDERED(4), OTHER(3), OTHER(2) },
      0.6,
      additive,
      0.03 },
};

/* A rule forbids some combinations of two tunables. */
static bool is_legal(const struct shape *shape, const uint16_t *levels,
                     const bool *forbidden)
{
    for (int t = 1; t < shape->tunables; t++)
        if (forbidden[(t * 64) + levels[t] * 8 + levels[t - 1] % 8])
            return false;
    return true;
}

static void draw(struct prng *prng, const struct shape *shape, double *noise,
                 bool *forbidden)
{
    double pair = 1 - pow(shape->kept, 1.0 / (shape->tunables - 1));

    for (int i = 0; i < NOISES; i++)
        noise[i] = prng_normal(prng);
    for (int i = 0; i < 12 * 64; i++)
        forbidden[i] = prng_unit(prng) < pair;
}

static bool advance(const struct shape *shape, uint16_t *levels)
{
    int t = shape->tunables - 1;

    while (t >= 0 && ++levels[t] == shape->tunable[t].levels)
        levels[t--] = 0;
    return t >= 0;
}

/* Builds take 0.1 to 18 s: more with larger tiles and more unrolling, which
 * says little about how fast the kernel is. */
#define BUILD_LEAST_S 0.1
#define BUILD_SPAN 180.0

static double build_seconds(const struct shape *shape, const double *u,
                            const double *weights)
{
    double sum = 0;

    for (int t = 0; t < shape->tunables; t++)
        sum += weights[t] * (u[t] - 0.5);
    return BUILD_LEAST_S * pow(BUILD_SPAN, 1 / (1 + exp(-1.5 * sum)));
}

static void fill(struct problem *problem, const struct shape *shape,
                 const double *noise, const bool *forbidden,
                 const double *weights)
{
    uint16_t levels[12] = { 0 };
    double u[12];
    size_t cap = 0;

    do {
        int point = is_legal(shape, levels, forbidden)
                        ? domain_add(problem->domain, levels)
                        : -1;

        for (int t = 0; t < shape->tunables; t++)
            u[t] = levels[t] / (double)(shape->tunable[t].levels - 1);
        if (point < 0)
            continue;
        if ((size_t)point == cap) {
            cap = 2 * cap + 1024;
            problem->times =
                mem_grow(problem->times, cap, sizeof(*problem->times));
            problem->seconds =
                mem_grow(problem->seconds, cap, sizeof(*problem->seconds));
        }
        problem->times[point] = shape->time(shape, u, noise);
        problem->seconds[point] = build_seconds(shape, u, weights);
    } while (advance(shape, levels));
}

void problem_synthetic(struct problem *problem, int k, int instance)
{
    const struct shape *shape = &shapes[k];
    double noise[NOISES], weights[12];
    bool forbidden[12 * 64];
    struct prng prng;

    *problem = (struct problem){ .noise = shape->noise };
    snprintf(problem->name, sizeof(problem->name), "%s", shape->name);
    prng_init(&prng, 1000 + (uint64_t)k + 100 * (uint64_t)instance);
    draw(&prng, shape, noise, forbidden);
    for (int t = 0; t < shape->tunables; t++)
        weights[t] = prng_normal(&prng);
    problem->domain = domain_new(shape->tunable, shape->tunables);
    fill(problem, shape, noise, forbidden, weights);
    problem_complete(problem);
}
