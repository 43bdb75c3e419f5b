/* pairwise_cover.h - a few points of a space that show every pair of values
 *
 * Most faults of a configuration need one value, or two together.  A cover of
 * a set of points is a subset in which each pair of values of two tunables
 * that stands in any of the points stands in one of the chosen; a space of
 * 2,592 needs some dozens.  (With one tunable: each of its values.)
 *
 * Every point is looked at once, to learn which pairs there are.  Of the
 * points themselves are kept those that had a pair nobody before them had,
 * which are enough for a cover, and of the others up to
 * PAIRWISE_COVER_SAMPLE_MAX, chosen by a hash of their numbers.  Among those
 * the one with the most pairs still missing is taken again and again; since
 * that number only falls, a point is looked at again only when its last known
 * number is the highest. 400,000 points of 14 tunables take a quarter of a
 * second.
 *
 * Pure and deterministic: the same points in the same order and the same seed
 * give the same cover; the seed settles ties and what is sampled.
 * Thread rule: a cover belongs to one thread.
 */
#ifndef FA_COORDINATOR_SPACE_PAIRWISE_COVER_H
#define FA_COORDINATOR_SPACE_PAIRWISE_COVER_H

#include <stddef.h>
#include <stdint.h>

struct pairwise_cover;

#define PAIRWISE_COVER_SAMPLE_MAX 131072

/* 'sizes' are the numbers of values of the axes, >= 1 and at most 4,096 each,
 * the last one fastest in a point's number. */
struct pairwise_cover *pairwise_cover_new(const size_t *sizes, size_t axes,
                                          uint64_t seed);
void pairwise_cover_free(struct pairwise_cover *cover); /* NULL is fine */

/* Every point once. */
void pairwise_cover_add(struct pairwise_cover *cover, int64_t number);

/* The chosen points, in order of number, for the caller to free; how many.
 * To be called once. */
size_t pairwise_cover_choose(struct pairwise_cover *cover, int64_t **out);

#endif
