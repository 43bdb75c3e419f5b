/* report_fixture.h - a small finished sweep, row by row, and golden texts */
#ifndef FA_TESTS_COORDINATOR_RESULT_REPORT_FIXTURE_H
#define FA_TESTS_COORDINATOR_RESULT_REPORT_FIXTURE_H

#include <stdio.h>

#include "coordinator/store/store.h"

/* The keys of its configurations. */
#define REPORT_BASELINE "f86959d949699441188d7625501e452b"
#define REPORT_FASTER "21e74603efe52337c74c99b3af18d1ff"
#define REPORT_UNBUILT "839c3d01696c48bf7795c6a40bca9e7b"
#define REPORT_WRONG "196bd99c0e2fd710ae71a4d28ff936ec"
#define REPORT_PENDING "de0a6564eaf28ed5fbb1acf32ecd9035"

#define REPORT_FIXTURE_EPOCH INT64_C(1699999999999999999) /* of its run */

/* Five configurations on two hosts: the baseline, one that is faster, one
 * that does not build, one that is wrong for the second shape, one pending.
 * Returns the database, committed and still open. */
struct store *report_fixture(const char *path);
/* The same sweep in which every configuration failed. */
struct store *report_fixture_negative(const char *path);

/* Compare the output with tests/coordinator/golden/NAME; with FA_GOLDEN=write
 * in the environment, write it there instead. */
void golden_check(const char *name, const char *text);

#endif
