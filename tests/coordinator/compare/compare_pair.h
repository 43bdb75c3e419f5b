/* compare_pair.h - two databases to compare
 *
 * What is made of a plan (compare_fixture.h) is in a file that is unlinked at
 * once.
 */
#ifndef FA_TESTS_COORDINATOR_COMPARE_COMPARE_PAIR_H
#define FA_TESTS_COORDINATOR_COMPARE_COMPARE_PAIR_H

#include "common/err.h"
#include "coordinator/compare/compare_side.h"
#include "tests/coordinator/compare/compare_fixture.h"

struct compare;

struct compare_pair {
    struct compare_side a, b;
    struct compare *compare;
    struct err err;
    int rc; /* of compare_make() by the default rules */
};

/* Little noise, and blocks; they differ in the seed. */
extern const struct compare_plan compare_pair_calm, compare_pair_calm_too;

/* The test fails if the databases cannot be made; the caller must end 'out'. */
void compare_pair_make(struct compare_plan a, struct compare_plan b,
                       struct compare_pair *out);
void compare_pair_end(struct compare_pair *pair);

/* One side; the test fails if that is impossible.  NAME.db of
 * tests/fixtures/compare, or the database of a plan. */
void compare_pair_open_fixture(const char *name, struct compare_side *side);
void compare_pair_make_side(const struct compare_plan *plan,
                            struct compare_side *side);

#endif
