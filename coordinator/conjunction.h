/* conjunction.h - what all failures of one kind have in common
 *
 * The values that every failure has and that set them apart from what is
 * right: the fewest that still leave out every right configuration which all
 * common values together leave out.  "All 12 share SWIZZLE=1 HALF2=1, and 0
 * of 36 right ones do" is a cause to look at; "and 30 of 36 right ones do" is
 * none.
 *
 * A value that the right ones have as well, all of them, cannot be judged:
 * nobody varied it.  It is listed by itself, for a sweep in which everything
 * failed has nothing else to say.
 *
 * One value of a tunable first; where sets of values ("BLOCK_M is 128 or 256")
 * let at most half as many right ones pass, sets.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_CONJUNCTION_H
#define FA_COORDINATOR_CONJUNCTION_H

#include <stddef.h>
#include <stdint.h>

#define CONJUNCTION_AXES_MAX 64
#define CONJUNCTION_LEVELS_MAX                     \
    64 /* of an axis that sets are made of; of one \
          with more levels single values only */

enum conjunction_side {
    CONJUNCTION_OTHER, /* neither: not looked at */
    CONJUNCTION_FAILURE,
    CONJUNCTION_RIGHT,
};

struct conjunction_points {
    size_t axes; /* at most CONJUNCTION_AXES_MAX */
    const size_t *sizes;
    size_t n;
    const uint16_t *levels;     /* [n][axes] */
    const unsigned char *sides; /* [n], enum conjunction_side */
};

struct conjunction_term {
    size_t axis;
    uint16_t *levels; /* that the failures have, ascending */
    size_t n;
};

struct conjunction {
    size_t failures;
    size_t right, right_sharing;    /* of them: all of 'terms' as well */
    struct conjunction_term *terms; /* in the order of the axes */
    size_t n_terms;
    struct conjunction_term *unvaried; /* one value each */
    size_t n_unvaried;
    /* Without 'terms', several causes may be behind one message.  Then: the one
     * or two values with which nothing is right and most of these fail. */
    struct conjunction_term *part;
    size_t n_part;        /* 0: there are none with PART_LEAST failures */
    size_t part_failures; /* that have them */
};

#define CONJUNCTION_PART_LEAST 3

void conjunction_of(const struct conjunction_points *points,
                    struct conjunction *out);
void conjunction_fini(struct conjunction *conjunction);

#endif
