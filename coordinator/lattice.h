/* lattice.h - the points of a product that no rule rejects
 *
 * A rule is a table: a bit for each combination of levels of the axes that it
 * names, set where it hits, in order, the last axis fastest.  Points have
 * numbers in the same order.  Each rule is looked at as soon as the last of
 * its axes has a level, for 64 levels at once, so what it rejects costs
 * nothing further in.
 *
 * Pure; one thread.
 */
#ifndef FA_COORDINATOR_LATTICE_H
#define FA_COORDINATOR_LATTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lattice;

#define LATTICE_AXES_MAX 64
#define LATTICE_RULES_MAX 64

struct lattice_rule {
    uint64_t axes;        /* bit a: it names axis a */
    const uint64_t *hits; /* [lattice_words()] */
};

/* Words of a table of so many combinations: one more than its bits need. */
size_t lattice_words(int64_t combinations);

/* sizes      [n_axes], levels of each axis, >= 1; their product < 2^63
 * rejecting  bit r: points that rule r hits are left out
 * warning    bit r: they are told; in neither set: rule r is not looked at
 * The tables outlive the lattice. */
struct lattice *lattice_new(const size_t *sizes, size_t n_axes,
                            const struct lattice_rule *rules,
                            uint64_t rejecting, uint64_t warning);
void lattice_free(struct lattice *lattice); /* NULL is fine */

enum lattice_step {
    LATTICE_END,
    LATTICE_POINT,
    LATTICE_LATER, /* ask again: after so many steps, for a look at the clock */
};
#define LATTICE_STEPS (1 << 20)

/* The next point, in order of number, and the warning rules that hit it.
 * After the end it begins again. */
enum lattice_step lattice_next(struct lattice *lattice, int64_t *number,
                               uint64_t *warned);

/* Add to '*n' how many points there are; LATTICE_END when it is done.  Not
 * while walking. */
enum lattice_step lattice_count(struct lattice *lattice, int64_t *n);

#endif
