/* reserve.h - what a capped sweep keeps back for its confirmation
 *
 * A search that uses a cap up ends without a verdict.  So it ends when what is
 * left is what the confirmation takes: the proof, the blocks, the external
 * baselines, and starting the workers for each.  That is estimated from times
 * as they are measured, and before that from defaults.
 *
 * Times are seconds; one that is not known is NaN.  Pure.
 */
#ifndef FA_COORDINATOR_RESERVE_RESERVE_H
#define FA_COORDINATOR_RESERVE_RESERVE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* So many finalists have room, if the sweep file lets there be as many.  How
 * many there are is known when the search ends; a cap may then leave out the
 * slower ones. */
#define RESERVE_FINALISTS 4

/* What the confirmation will do, at most. */
struct reserve_pass {
    int64_t contestants; /* the baseline and the finalists */
    int64_t shapes, blocks;
    int64_t proofs; /* measurements of a contestant in the proof; 0: none */
    int64_t externals, external_blocks;
    int64_t gpus; /* >= 1 */
};

struct reserve_times {
    double start_s;    /* from a command to its first lease */
    double build_s;    /* a build, on a slot */
    double measure_s;  /* a measurement, on a GPU */
    double external_s; /* a run of an external baseline */
};

#define RESERVE_TIMES_UNKNOWN                                       \
    ((struct reserve_times){ (double)NAN, (double)NAN, (double)NAN, \
                             (double)NAN })

/* 'times' where they are known, otherwise those of 'other'. */
struct reserve_times reserve_times_or(struct reserve_times times,
                                      const struct reserve_times *other);
/* Before anything is known; 'local': all hosts are this machine. */
struct reserve_times reserve_times_default(bool local);

/* How long hosts may be held for the confirmation, on a machine that becomes
 * slower, and how long they are if nothing changes.  All times are known. */
double reserve_s(const struct reserve_pass *pass,
                 const struct reserve_times *times);
double reserve_usual_s(const struct reserve_pass *pass,
                       const struct reserve_times *times);
/* How many contestants such a confirmation can have in so long, 2 or more; the
 * count in 'pass' is the most. */
int64_t reserve_contestants(const struct reserve_pass *pass,
                            const struct reserve_times *times, double left_s);
/* Is there time for a block that takes so long, and then to stop the workers?
 * 0: only to stop them. */
bool reserve_has_block(const struct reserve_times *times, double block_s,
                       double left_s);
/* A search with a cap goes on or ends, by what is left of the cap. */
enum reserve_step {
    RESERVE_SEARCH,
    RESERVE_CLOSE, /* the rest is for the confirmation */
    RESERVE_NONE,  /* not even two contestants can be confirmed */
};

/* All contestants of 'pass' are confirmed if there is time; where less than
 * half of that is left, the time of two is kept.  All times are known. */
enum reserve_step reserve_next(const struct reserve_pass *pass,
                               const struct reserve_times *times,
                               double left_s);

/* From a lease that is granted now to its result, the build before it
 * included: what is committed with it. */
double reserve_committed_s(const struct reserve_times *times);

/* How many are tried in all, at the pace of those 'tried' in 'took_s', if
 * 'left_s' more may be used; 'all' of them at most. */
int reserve_fit(int tried, double took_s, double left_s, int all);

/* How long the hosts can still be held, until the first cap; infinite without
 * one.  0: no cap.  Without a rate there are no dollars. */
struct reserve_caps {
    double max_s, used_s;
    double max_usd, used_usd, usd_per_h;
};
double reserve_left_s(const struct reserve_caps *caps);

/* The cap that a command needs to end by itself: the same if it leaves 'rest'
 * beyond what is used, or else a round number that does.  An infinite rest is
 * not known: then twice what was.  0 stays no cap. */
double reserve_raised(double cap, double used, double rest);

#endif
