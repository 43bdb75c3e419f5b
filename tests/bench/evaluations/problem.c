#include "tests/bench/evaluations/problem.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/search/domain.h"
#include "coordinator/stats/prng.h"

static void find_best(struct problem *problem)
{
    problem->best = 0;
    for (int i = 0; i < domain_size(problem->domain); i++)
        if (problem->times[i] > 0 &&
            (problem->best == 0 || problem->times[i] < problem->best))
            problem->best = problem->times[i];
}

void problem_of_landscape(struct problem *problem, const char *file_name,
                          struct landscape **landscape)
{
    int size = domain_size((*landscape)->domain);

    *problem = (struct problem){ .domain = (*landscape)->domain,
                                 .landscape = *landscape };
    *landscape = NULL;
    snprintf(problem->name, sizeof(problem->name), "%.*s",
             (int)strcspn(file_name, "."), file_name);
    problem->times = mem_new((size_t)size, sizeof(double));
    for (int i = 0; i < size; i++)
        problem->times[i] = problem->landscape->configs[i].time_s;
    find_best(problem);
}

void problem_fini(struct problem *problem)
{
    if (problem->landscape)
        landscape_free(problem->landscape);
    else
        domain_free(problem->domain);
    free(problem->times);
}

/* ---- synthetic problems: each has one difficulty */

struct shape {
    const char *name;
    int tunables;
    struct domain_tunable tunable[12];
    double kept; /* share of the product that random rules of pairs leave */
    double (*time)(const struct shape *shape, const double *u,
                   const double *noise);
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

static const struct shape shapes[PROBLEM_SYNTHETIC] = {
    { "additive-6d",
      6,
      { ORDERED(8), ORDERED(6), ORDERED(5), ORDERED(4), OTHER(3), OTHER(2) },
      0.6,
      additive },
    { "additive-11d",
      11,
      { ORDERED(4), ORDERED(4), ORDERED(4), ORDERED(3), ORDERED(3), OTHER(3),
        OTHER(2), OTHER(2), OTHER(2), OTHER(2), OTHER(2) },
      0.7,
      additive },
    { "plateau-7d",
      7,
      { ORDERED(8), ORDERED(6), ORDERED(6), ORDERED(5), ORDERED(3), OTHER(2),
        OTHER(2) },
      0.7,
      plateau },
    { "deceptive-5d",
      5,
      { ORDERED(12), ORDERED(8), ORDERED(8), ORDERED(6), ORDERED(4) },
      0.5,
      deceptive },
    { "failing-8d",
      8,
      { ORDERED(6), ORDERED(5), ORDERED(5), ORDERED(4), ORDERED(4), OTHER(3),
        OTHER(2), OTHER(2) },
      0.6,
      failing },
    { "switched-8d",
      8,
      { OTHER(4), OTHER(3), ORDERED(8), ORDERED(6), ORDERED(5), ORDERED(4),
        ORDERED(3), OTHER(2) },
      0.6,
      switched },
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

void problem_synthetic(struct problem *problem, int k)
{
    const struct shape *shape = &shapes[k];
    double noise[NOISES], u[12];
    bool forbidden[12 * 64];
    uint16_t levels[12] = { 0 };
    size_t cap = 0;
    struct prng prng;

    *problem = (struct problem){ .landscape = NULL };
    snprintf(problem->name, sizeof(problem->name), "%s", shape->name);
    prng_init(&prng, 1000 + (uint64_t)k);
    draw(&prng, shape, noise, forbidden);
    problem->domain = domain_new(shape->tunable, shape->tunables);
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
        }
        problem->times[point] = shape->time(shape, u, noise);
    } while (advance(shape, levels));
    find_best(problem);
}
