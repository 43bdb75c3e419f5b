/* problem.h - a problem for a strategy: a time or a failure for each point
 *
 * A recorded problem is a landscape of a file.  A synthetic one has one
 * difficulty, and instances that differ in their random numbers.
 */
#ifndef FA_BENCH_PROBLEM_H
#define FA_BENCH_PROBLEM_H

#include <stdint.h>

struct domain;
struct landscape;

struct problem {
    char name[64];
    struct domain *domain; /* of the landscape, or of the synthetic problem */
    double *times;         /* [size] 0: it fails */
    double *seconds;       /* [size] to build, check and measure it, > 0 */
    double noise;       /* of a measurement: standard deviation of log time */
    double best, worst; /* of 'times' */
    struct landscape *landscape; /* NULL: synthetic */
};

#define PROBLEM_SYNTHETIC 10 /* of problem_synthetic() */
#define PROBLEM_MAX 64

/* Fill in what follows from 'times'. */
void problem_complete(struct problem *problem);
/* Number k of the PROBLEM_SYNTHETIC problems; 'instance' >= 0. */
void problem_synthetic(struct problem *problem, int k, int instance);
/* The landscapes of a folder by name, then the synthetic problems; only those
 * whose name contains 'only', unless it is NULL.  Returns how many.  What
 * cannot be read is named on stderr and left out. */
int problem_load_all(const char *folder, const char *only, int instance,
                     struct problem out[PROBLEM_MAX]);
/* What a measurement of a point says in the run with this seed: its time with
 * noise; 0 if it fails. */
double problem_measured(const struct problem *problem, int point,
                        uint64_t seed);
void problem_fini(struct problem *problem);

#endif
