/* space_fixture.h - the space of a small sweep, for tests */
#ifndef FA_TESTS_COORDINATOR_SPACE_SPACE_FIXTURE_H
#define FA_TESTS_COORDINATOR_SPACE_SPACE_FIXTURE_H

#include "common/err.h"
#include "coordinator/space/space.h"
#include "tests/coordinator/spec/spec_fixture.h"

/* Of the current test; teardown() closes them. */
extern struct spec *spec;
extern struct space *space;
extern struct err err;

/* As space_open(), for sm_89. */
int open_parts(const struct spec_parts *parts);
/* The same for a correct sweep file; the test fails if it has an error. */
void open_fine(const struct spec_parts *parts);
int teardown(void **state); /* a cmocka teardown */

#endif
