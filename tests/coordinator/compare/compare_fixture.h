/* compare_fixture.h - a finished sweep with times chosen by the test
 *
 * Twelve configurations of one kernel on one GPU: the fastest is 1.5 x as fast
 * as the baseline, one fails.  It has screening samples and, if 'blocks' is
 * set, canaries and a confirmation pass of the fastest and the baseline.  The
 * same plan gives the same database.
 */
#ifndef FA_TESTS_COORDINATOR_COMPARE_COMPARE_FIXTURE_H
#define FA_TESTS_COORDINATOR_COMPARE_COMPARE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#define COMPARE_CONFIGS 12
#define COMPARE_BASELINE 0
#define COMPARE_SECOND 4
#define COMPARE_FASTEST 5
#define COMPARE_FAILED 10

struct compare_plan {
    uint64_t seed;
    double factor;  /* of all times */
    double noise;   /* relative deviation of a sample */
    bool late;      /* one screening sample of each is 100 x slower */
    int blocks;     /* of the confirmation pass; 0: no pass */
    int most;       /* its cap, with looks after every second block; 0: it has
                     * no looks */
    int finalists;  /* of the pass, one or more; 0: one */
    bool close;     /* the second takes 1 % longer than the fastest */
    double drift;   /* log time, from the first block to the last */
    double fastest; /* factor of the fastest one; 0: none */
    bool same_code; /* the same cubins in every database with this flag */
    int slow;       /* this one takes 1.2 x as long; 0: none */
    int fails;      /* this one fails too; 0: none */
    bool pending;   /* the fastest was not measured */
    /* NULL: the default */
    const char *device, *arch, *uuid, *driver, *l2, *name;
};

/* Makes the database; the test fails if that is impossible. */
void compare_fixture(const char *path, const struct compare_plan *plan);

/* The databases of tests/fixtures/compare. */
struct compare_named {
    const char *name; /* NULL ends the list */
    struct compare_plan plan;
};
extern const struct compare_named compare_named[];

#endif
