/* failure_pattern.h - what all failures of one kind have in common
 *
 * The values that every failure has and that set the failures apart from the
 * correct configurations: the fewest that still leave out every correct one
 * that all common values together leave out.  "All 12 share SWIZZLE=1
 * HALF2=1, and 0 of 36 correct ones share them" points to a cause; "30 of 36
 * correct ones share them" does not.
 *
 * A value that all correct ones have as well cannot be judged: it was not
 * varied.  It is listed by itself, for a sweep in which everything
 * failed has nothing else to say.
 *
 * One value of a tunable first; where sets of values ("BLOCK_M is 128 or 256")
 * let at most half as many right ones pass, sets.
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
    FAILURE_PATTERN_OTHER, /* neither: not looked at */
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
    uint16_t *levels; /* that the failures have, ascending */
    size_t n;
};

struct failure_pattern {
    size_t failures;
    size_t right, right_sharing;        /* of them: all of 'terms' as well */
    struct failure_pattern_term *terms; /* in the order of the axes */
    size_t n_terms;
    struct failure_pattern_term *unvaried; /* one value each */
    size_t n_unvaried;
    /* Without 'terms', several causes may be behind one message.  Then: the one
     * or two values with which nothing is right and most of these fail. */
    struct failure_pattern_term *part;
    size_t n_part;        /* 0: there are none with PART_LEAST failures */
    size_t part_failures; /* that have them */
};

#define FAILURE_PATTERN_PART_LEAST 3

void failure_pattern_of(const struct failure_pattern_points *points,
                        struct failure_pattern *out);
void failure_pattern_fini(struct failure_pattern *conjunction);

#endif
