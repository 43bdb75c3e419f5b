/* bench.h - a baseline and a winner at each shape, from the blocks of a bench
 *
 * Opinions over a conclusion of a contest of two, and the floors of the
 * report it was loaded with.
 */
#ifndef FA_COORDINATOR_BENCH_H
#define FA_COORDINATOR_BENCH_H

#include <stdio.h>

struct conclusion;
struct report;

/* A table with a row a shape; an object for programs (docs/confirm.md). */
void bench_print(const struct conclusion *conclusion,
                 const struct report *report, FILE *to);
void bench_json(const struct conclusion *conclusion,
                const struct report *report, FILE *to);

#endif
