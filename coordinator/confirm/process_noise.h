/* process_noise.h - do processes differ by more than their samples explain?
 *
 * The samples of a candidate in a block are taken one after the other, in one
 * process.  If a process gets a clock, a page or an alignment of its own, its
 * samples agree with each other and differ from those of the next process:
 * then more samples teach nothing, and more processes do.
 *
 * The log time of each cell (a candidate in a block) is candidate + block +
 * rest.  If samples alone were noisy, the rests would be as large as the
 * samples inside the cells say.  Fisher's variance ratio (variance_ratio.h)
 * tests that.  Nothing that is shared by a block counts.
 *
 * Late samples would hide the processes: one in twenty that is late by 20 %
 * makes the samples inside a cell four times as noisy.  So what is fitted comes
 * from medians (Tukey, 1977), and samples farther from it than three typical
 * deviations are moved there (winsorized; Tukey, 1962).
 *
 * If they do, a pass is planned again: the same samples are spread over more
 * processes.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONFIRM_PROCESS_NOISE_H
#define FA_COORDINATOR_CONFIRM_PROCESS_NOISE_H

#include <stdbool.h>
#include <stddef.h>

struct block_sample;

/* Rests twice as large mean that processes add as much variance to a cell as
 * its samples do.  The level is strict because the test is repeated. */
#define PROCESS_NOISE_RATIO 2.0
#define PROCESS_NOISE_LEVEL 0.001

/* NAN where there are too few samples or cells to say. */
struct process_noise {
    double within;  /* relative sd of a sample inside its process, with late
                     * ones moved */
    double between; /* relative sd that each process adds; 0: none seen */
    double ratio;   /* F: of the cells over what their samples explain */
    double p;       /* of such a ratio if processes added nothing */
    bool noticed;   /* by both limits above */
};

/* samples  [n], any order, of one shape; a candidate may be missing from a
 *          block */
void process_noise_of(const struct block_sample *samples, size_t n,
                      struct process_noise *out);

/* How a pass goes on.  most <= PROCESS_PLAN_BLOCKS / PROCESS_PLAN_LEAST */
struct process_plan {
    int samples; /* of a process; at least 1 */
    int most;    /* blocks: its cap */
};

/* The cap rises by at least the first factor, and at most the second and to so
 * many blocks. */
#define PROCESS_PLAN_LEAST 2
#define PROCESS_PLAN_MOST 8
#define PROCESS_PLAN_BLOCKS 8000

/* Plan again for noise that was noticed.  Each process keeps as many samples as
 * make their noise a quarter of the variance between processes.  There are as
 * many blocks as a test at the one-sided 'level' needs to show a log ratio of
 * 'gap' with a probability of 99 % (a normal one; more if looks come between).
 * plan  as it was; changed in place */
void process_noise_plan(const struct process_noise *noise, double gap,
                        double level, struct process_plan *plan);

#endif
