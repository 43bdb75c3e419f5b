#include "tests/bench/evaluations/plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/stats/prng.h"
#include "tests/bench/evaluations/course.h"
#include "tests/bench/evaluations/problem.h"

#define POPULATION 20
#define MUTATION 10     /* one level in ten mutates */
#define IDLE_MAX 100000 /* tries in a row that evaluate nothing new */

static double fitness(struct course *course, int point)
{
    double time = course_try(course, point);

    return time > 0 ? time : INFINITY;
}

static int anywhere(const struct course *course, struct prng *prng)
{
    return (int)prng_below(prng,
                           (uint64_t)domain_size(course->problem->domain));
}

struct one {
    int point;
    double time;
};

static int by_time(const void *a, const void *b)
{
    double x = ((const struct one *)a)->time, y = ((const struct one *)b)->time;

    return (x > y) - (x < y);
}

/* Rank-weighted choice: the first of n is n times as likely as the last. */
static const struct one *choose(const struct one *all, struct prng *prng)
{
    uint64_t at = prng_below(prng, POPULATION * (POPULATION + 1) / 2);
    int i = 0;

    for (uint64_t weight = POPULATION; at >= weight; weight--) {
        at -= weight;
        i++;
    }
    return &all[i];
}

/* Uniform crossover and mutation, repeated until the child is legal. */
static int child(const struct domain *domain, const struct one *a,
                 const struct one *b, struct prng *prng)
{
    uint16_t levels[DOMAIN_TUNABLES_MAX];
    int point = -1;

    for (int i = 0; i < 100 && point < 0; i++) {
        for (int t = 0; t < domain_tunables(domain); t++) {
            uint64_t n = (uint64_t)domain_tunable(domain, t)->levels;

            levels[t] = domain_point(domain, prng_below(prng, 2) ? a->point
                                                                 : b->point)[t];
            if (prng_below(prng, MUTATION) == 0)
                levels[t] = (uint16_t)prng_below(prng, n);
        }
        point = domain_find(domain, levels);
    }
    return point >= 0 ? point : a->point;
}

void plain_genetic(struct course *course, uint64_t seed)
{
    const struct domain *domain = course->problem->domain;
    struct one all[POPULATION], born[POPULATION];
    struct prng prng;
    int idle = 0;

    prng_init(&prng, seed);
    for (int i = 0; i < POPULATION && !course_is_over(course); i++) {
        all[i].point = anywhere(course, &prng);
        all[i].time = fitness(course, all[i].point);
    }
    while (!course_is_over(course) && idle < IDLE_MAX) {
        int before = course->n;

        qsort(all, POPULATION, sizeof(*all), by_time);
        for (int i = 0; i < POPULATION && !course_is_over(course); i++) {
            born[i].point =
                child(domain, choose(all, &prng), choose(all, &prng), &prng);
            born[i].time = fitness(course, born[i].point);
        }
        memcpy(all, born, sizeof(all));
        idle = course->n == before ? idle + 1 : 0;
    }
}

/* Start at a random point.  Visit the neighbours that differ in one tunable, in
 * random order, and move to the first faster one.  If there is none, start
 * again at another point. */
void plain_local(struct course *course, uint64_t seed)
{
    const struct domain *domain = course->problem->domain;
    int *hood = mem_new((size_t)domain_hood_max(domain), sizeof(int));
    struct prng prng;

    prng_init(&prng, seed);
    while (!course_is_over(course)) {
        int here = anywhere(course, &prng);
        double time = fitness(course, here);
        bool moved = true;

        while (moved && !course_is_over(course)) {
            int n = domain_neighbours(domain, here, false, hood);

            moved = false;
            prng_shuffle(&prng, hood, (size_t)n);
            for (int i = 0; i < n && !moved && !course_is_over(course); i++) {
                moved = fitness(course, hood[i]) < time;
                if (moved)
                    here = hood[i];
            }
            time = fitness(course, here);
        }
    }
    free(hood);
}
