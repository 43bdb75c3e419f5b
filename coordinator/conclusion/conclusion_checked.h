/* conclusion_checked.h - on how many checked launches a verdict rests
 *
 * A checked launch is one whose outputs were compared and found right.  Each
 * measurement counts its own, and knows whether the same inputs gave the same
 * bits each time (docs/measuring.md).  Those of older versions did not count.
 * The launches of the proof, at other shapes, belong to the sum, but a shape is
 * not better known by them.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONCLUSION_CONCLUSION_CHECKED_H
#define FA_COORDINATOR_CONCLUSION_CONCLUSION_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conclusion_checked {
    int64_t launches;       /* of the measurements that counted them */
    size_t measured, known; /* measurements; known: those that counted */
    bool varied;            /* in bits with the same inputs, in one of them */
    int64_t proof;          /* of 'launches': at the fuzz shapes */
    bool partly; /* some inputs or elements judged nothing (OUTCOME_UNJUDGED) */
};

/* Add a measurement.
 * launches  -1: not counted
 * varied    0 or 1; not used without 'launches' */
void conclusion_checked_add(struct conclusion_checked *sum, int64_t launches,
                            int64_t varied);
/* Add a configuration's proof, likewise; it is no measurement of a shape. */
void conclusion_checked_add_proof(struct conclusion_checked *sum,
                                  int64_t launches, int64_t varied);
void conclusion_checked_join(struct conclusion_checked *sum,
                             const struct conclusion_checked *other);

/* The largest N, of two digits and zeros, so that a fault in one launch of N
 * would have been seen in so many launches with a probability of 95 %; 0 for
 * less than 2.  1 - (1 - 1/N)^launches >= 0.95 */
int64_t conclusion_checked_one_in(int64_t launches);

/* What a sentence is about. */
struct conclusion_checked_claim {
    const char *who; /* "It was", "They were" */
    struct conclusion_checked sum;
    size_t n_shapes;
    const char *at; /* the shape with the fewest launches */
    int64_t least;  /* the launches there, without the proof */
    int64_t wanted; /* at each shape; 0: any number */
    bool rates;     /* say which faults would have been found */
};

/* The sentence, without a full stop, for the caller to free; NULL if nothing
 * was measured. */
char *conclusion_checked_say(const struct conclusion_checked_claim *claim);

#endif
