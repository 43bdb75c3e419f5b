/* pairwise_cover.h - a small set of points that has every pair of values
 *
 * Most faults of a configuration depend on one value, or on two together.  A
 * cover of a set of points is a subset that contains every pair of values of
 * two tunables that occurs in the set.  A space of 2,592 points needs some
 * dozens.  (With one tunable: each of its values.)
 *
 * Every point is looked at once, to learn which pairs occur.  Points with a
 * pair that no earlier point had are kept; they are enough for a cover.  Of the
 * others, up to PAIRWISE_COVER_SAMPLE_MAX are kept, chosen by a hash of their
 * numbers.  Then the point that covers the most missing pairs is chosen,
 * repeatedly.  That number only falls, so a point is counted again only when
 * its last count is the highest.  400,000 points of 14 tunables take a quarter
 * of a second.
 *
 * Pure and deterministic: the same points in the same order and the same seed
 * give the same cover; the seed decides ties and the sample.
 * Thread rule: a cover belongs to one thread.
 */
#ifndef FA_COORDINATOR_SPACE_PAIRWISE_COVER_H
#define FA_COORDINATOR_SPACE_PAIRWISE_COVER_H

#include <stddef.h>
#include <stdint.h>

struct pairwise_cover;

#define PAIRWISE_COVER_SAMPLE_MAX 131072

/* 'sizes' are the numbers of values of the axes, 1 to 4,096 each.  The last
 * axis varies fastest in a point's number. */
struct pairwise_cover *pairwise_cover_new(const size_t *sizes, size_t axes,
                                          uint64_t seed);
void pairwise_cover_free(struct pairwise_cover *cover); /* NULL is fine */

/* Add every point once. */
void pairwise_cover_add(struct pairwise_cover *cover, int64_t number);

/* The chosen points, in order of number, for the caller to free; returns how
 * many.  Call it once. */
size_t pairwise_cover_choose(struct pairwise_cover *cover, int64_t **out);

#endif
