/* space_fixture.h - the space of a small sweep, for the tests that ask it */
#ifndef FA_TESTS_COORDINATOR_SPACE_SPACE_FIXTURE_H
#define FA_TESTS_COORDINATOR_SPACE_SPACE_FIXTURE_H

#include "common/err.h"
#include "coordinator/space/space.h"
#include "tests/coordinator/spec/spec_fixture.h"

/* Of the test that runs; teardown() closes them. */
extern struct spec *spec;
extern struct space *space;
extern struct err err;

/* As space_open(), on an sm_89. */
int open_parts(const struct spec_parts *parts);
/* ... of what has no flaw; the test fails when it has. */
void open_fine(const struct spec_parts *parts);
int teardown(void **state); /* a cmocka teardown */

#endif
