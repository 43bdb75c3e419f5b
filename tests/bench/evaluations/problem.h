/* problem.h - a problem for a strategy: a time or a failure for each point */
#ifndef FA_BENCH_PROBLEM_H
#define FA_BENCH_PROBLEM_H

struct domain;
struct landscape;

struct problem {
    char name[64];
    struct domain *domain; /* of the landscape, or of the synthetic problem */
    double *times;         /* [size] 0: it fails */
    double best;
    struct landscape *landscape; /* NULL: synthetic */
};

void problem_of_landscape(struct problem *problem, const char *file_name,
                          struct landscape **landscape);
/* Number k of the PROBLEM_SYNTHETIC problems. */
#define PROBLEM_SYNTHETIC 6
void problem_synthetic(struct problem *problem, int k);
void problem_fini(struct problem *problem);

#endif
