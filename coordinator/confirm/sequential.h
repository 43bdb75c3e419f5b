/* sequential.h - as many blocks as the question needs
 *
 * A confirmation is looked at after groups of blocks.  At each look, finalists
 * that cannot be the best any more are dropped, so that later blocks are spent
 * on those that can, and the pass ends if its question is answered
 * (sequential_end.h):
 *
 *      blocks:  |--- first ---|- group -|- group -|--- ... ---|  most
 *                             look      look                  look
 *
 * A pass that is closed earlier, by what is no result of it, has its last look
 * at the blocks it has.
 *
 * Looking often at growing evidence would make errors more frequent.  So the
 * interval of each look is wide enough for all looks together: repeated
 * confidence intervals (Jennison and Turnbull, 1989), by the levels of
 * spending.h.  They hold at every look, whatever decided to stop or to drop.
 * The finalists share alpha (Bonferroni), and so do the m - 1 comparisons that
 * could drop the true best.  'clear' may use a rule of thumb where it claims
 * nothing.
 *
 * All of it is a function of the results: a pass that was killed and a report
 * make the same looks again.  Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONFIRM_SEQUENTIAL_H
#define FA_COORDINATOR_CONFIRM_SEQUENTIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/confirm/process_noise.h"
#include "coordinator/confirm/sequential_end.h"
#include "coordinator/confirm/verdict.h"

struct sequential_design {
    size_t candidates; /* with those that are out; 0 is the baseline */
    /* What the speedups are over: 0, or the last one, an external baseline.  A
     * block may lack it; the baseline is compared with it.  Both stay. */
    size_t over;
    size_t shapes; /* each is a family of its own; 0 is the headline */
    bool over_all; /* ask about their geometric mean, too, a further family:
                    * a candidate has one value of it a block */
    int group;     /* blocks from look to look, at least */
    int most;      /* blocks: the cap */
    int samples;   /* of a candidate in a block */
    bool closed;   /* there are no more blocks than the results have */
    struct verdict_rules rules;
};

/* What a candidate did in a block at a shape. */
struct sequential_result {
    size_t candidate, shape;
    int block, gpu;
    const double *seconds; /* [n], > 0 */
    size_t n;
};

struct sequential_block {
    int number, gpu;
    bool complete; /* it has all candidates that were active */
};

struct sequential_candidate {
    bool dropped; /* at some look; not if it is out */
    int last;     /* the last block that counts for it */
    int looks;    /* that it was measured for */
    double level; /* two-sided, of its intervals over 'over' */
};

struct sequential {
    enum sequential_end end;
    int looks;
    int *looked;      /* [looks] complete blocks at each */
    bool last;        /* the last look spent all that was left (spending.h) */
    int complete;     /* blocks; those after the end are not counted */
    int used;         /* complete blocks at the last look */
    int next;         /* the same at the next look; at the end, 'used' */
    int most;         /* the cap, raised if processes differ */
    int samples;      /* in later blocks, fewer if processes differ */
    double tie_level; /* one-sided, of slower than the leader */
    struct process_noise noise;      /* at the headline, at the last look */
    struct sequential_block *blocks; /* in the order of their numbers */
    size_t n_blocks;
    struct sequential_candidate *candidates;
    bool *tied; /* [shapes][candidates] with the best, at the last look; the
                 * geometric mean is the row after the shapes */
};

/* The first look: the first multiple of 'group' at which a rank test of as many
 * blocks can reach its level, however far that is. */
int sequential_first(const struct sequential_design *design);

/* results  [n], in the order of their blocks; those of candidates that are out
 *          are not looked at
 * out      [candidates]
 * Free with sequential_free(). */
struct sequential *sequential_replay(const struct sequential_design *design,
                                     const struct sequential_result *results,
                                     size_t n, const bool *out);
void sequential_free(struct sequential *sequential); /* NULL is fine */

/* For a pass that goes on: no look is made again unless 'out' or old results
 * changed.  Give it all results; what it returns lasts until the next call. */
struct sequential_course;
struct sequential_course *
sequential_course_new(const struct sequential_design *design);
void sequential_course_free(struct sequential_course *course); /* NULL: fine */
const struct sequential *
sequential_course_go_on(struct sequential_course *course,
                        const struct sequential_result *results, size_t n,
                        const bool *out);

/* Do results of this candidate in this block count?  Those of complete blocks
 * do, until it is dropped, or until the end. */
bool sequential_counts(const struct sequential *sequential, size_t candidate,
                       int block);

#endif
