/* report_fixture.h - a small finished sweep, row by row, and golden texts */
#ifndef FA_TESTS_COORDINATOR_RESULT_REPORT_FIXTURE_H
#define FA_TESTS_COORDINATOR_RESULT_REPORT_FIXTURE_H

#include <stdio.h>

#include "coordinator/store/store.h"

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
