/* t1.h - reads a tuning problem in the T1 format, and makes a sweep file of it
 *
 * T1 is the problem format of the auto-tuning community: tunables, conditions
 * in Python, and the kernel with its arguments.  Its expressions are evaluated
 * here, without Python (py_expression.h), and become gates.
 * Source: TuningSchema.json of github.com/odgaard/TuningSchema, and the T1
 * files of Kernel Tuner and the benchmark hub.
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_PROBLEM_T1_H
#define FA_COORDINATOR_PROBLEM_T1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct t1;

/* Whether the file is JSON with a "ConfigurationSpace", whatever else it
 * holds. */
bool t1_is(const char *path);

/* Read a problem.  A condition that cannot be a gate is an error; 'lenient'
 * leaves it out, and notes it.  A condition that has no value for a
 * configuration, such as a division by zero, is an error; 'lenient' rejects the
 * configuration.
 * Returns 0, or ERR_INPUT with file, line and a caret. */
int t1_load(const char *path, bool lenient, struct t1 **out, struct err *err);
void t1_free(struct t1 *problem); /* NULL is fine */

const char *t1_name(const struct t1 *problem);
/* Configurations before and after the conditions; -1: too many to count. */
int64_t t1_points(const struct t1 *problem);
int64_t t1_passing(const struct t1 *problem);
/* What was left out or assumed, one sentence each. */
size_t t1_notes(const struct t1 *problem, const char *const **out);

/* A sweep file (docs/sweep-file.md).  T1 has no reference kernel: the file
 * names one that the user writes. */
void t1_sweep_text(const struct t1 *problem, struct buf *out);

#endif
