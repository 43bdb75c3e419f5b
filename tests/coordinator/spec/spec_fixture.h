/* spec_fixture.h - small sweep files for tests */
#ifndef FA_TESTS_COORDINATOR_SPEC_SPEC_FIXTURE_H
#define FA_TESTS_COORDINATOR_SPEC_SPEC_FIXTURE_H

#include "coordinator/spec/spec.h"

/* The parts of a sweep file; a NULL part has the default in its comment. */
struct spec_parts {
    const char *tunables;  /* "A": [1, 2], "B": [1, 2] */
    const char *derived;   /* nothing */
    const char *gates;     /* nothing */
    const char *grid;      /* "1" */
    const char *shapes;    /* { "name": "s", "N": 100 } */
    const char *arguments; /* one output of N elements */
    const char *baseline;  /* "A": 1, "B": 1 */
    const char *more;      /* nothing; begins with a comma */
};

/* A spec; the test fails if the text has an error. */
struct spec *spec_fixture(const struct spec_parts *parts);

#endif
