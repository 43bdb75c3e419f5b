/* figures.h - what the runs of one strategy on one problem say together */
#ifndef FA_BENCH_FIGURES_H
#define FA_BENCH_FIGURES_H

struct fleet_end;

struct figures {
    double mean, median, p90; /* regret, in percent of the best time */
    double error;             /* standard error of the mean */
    double seconds;           /* mean, until the last result */
    double cpu_s;             /* mean, of a whole run */
};

/* n >= 1 runs. */
void figures_of(const struct fleet_end *runs, int n, struct figures *out);
/* The most that the mean regret with more in flight may be, in percent, when
 * it is 'one' with one in flight. */
double figures_limit(double one);

#endif
