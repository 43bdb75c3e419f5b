/* failure_pattern.h - what all failures of one kind have in common
 *
 * The result is a set of values that every failure has and that separates the
 * failures from the correct configurations.  It is the smallest set that
 * excludes as many correct ones as all common values together.  "All 12 share
 * SWIZZLE=1 HALF2=1, and 0 of 36 correct ones share them" points to a cause;
 * "30 of 36 correct ones share them" does not.
 *
 * A value that every correct configuration shares cannot be judged: it was not
 * varied.  Such values are listed separately, because a sweep in which
 * everything failed has no others.
 *
 * Single values are preferred.  Sets of values ("BLOCK_M is 128 or 256") are
 * used if they let at most half as many correct configurations pass.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_STATS_FAILURE_PATTERN_H
#define FA_COORDINATOR_STATS_FAILURE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#define FAILURE_PATTERN_AXES_MAX 64
#define FAILURE_PATTERN_LEVELS_MAX                 \
    64 /* of an axis that sets are made of; of one \
          with more levels single values only */

enum failure_pattern_side {
    FAILURE_PATTERN_OTHER, /* neither failed nor correct: ignored */
    FAILURE_PATTERN_FAILURE,
    FAILURE_PATTERN_RIGHT,
};

struct failure_pattern_points {
    size_t axes; /* at most FAILURE_PATTERN_AXES_MAX */
    const size_t *sizes;
    size_t n;
    const uint16_t *levels;     /* [n][axes] */
    const unsigned char *sides; /* [n], enum failure_pattern_side */
};

struct failure_pattern_term {
    size_t axis;
    uint16_t *levels; /* values of the failures, ascending */
    size_t n;
};

struct failure_pattern {
    size_t failures;
    size_t right, right_sharing;        /* correct ones; those that match all of
                                         * 'terms' */
    struct failure_pattern_term *terms; /* in the order of the axes */
    size_t n_terms;
    struct failure_pattern_term *unvaried; /* shared by all; one value each */
    size_t n_unvaried;
    /* No 'terms': one message may have several causes.  Then this is the one
     * value or pair of values with which nothing is correct and most of these
     * fail. */
    struct failure_pattern_term *part;
    size_t n_part;        /* 0: none has _PART_LEAST failures */
    size_t part_failures; /* failures that match it */
};

#define FAILURE_PATTERN_PART_LEAST 3

void failure_pattern_of(const struct failure_pattern_points *points,
                        struct failure_pattern *out);
void failure_pattern_fini(struct failure_pattern *conjunction);

#endif
