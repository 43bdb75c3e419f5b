/* passes.h - what follows the screening of a sweep: proof, blocks, verdict
 *
 * The finalists are proved right at the fuzz shapes, those that are not give
 * way to the next ones, and then the baseline and the finalists are compared
 * in blocks (docs/confirm.md).  Each pass is one sweep_run() over the
 * same hosts; one that was interrupted is gone on with.
 */
#ifndef FA_COORDINATOR_PASSES_H
#define FA_COORDINATOR_PASSES_H

#include <stdbool.h>
#include <stddef.h>

struct contest;
struct cost;
struct err;
struct report;
struct run;
struct spec_shape;

/* All of it over run->db, with the verdict on standard output.  With 'anew'
 * a pass that ended is no reason not to make another.  Returns the exit code
 * of the program; an error has been printed. */
int passes_confirm(struct run *run, bool anew);

/* The report of a database and what it cost; the caller frees both. */
int passes_look(const char *db, struct report **report, struct cost **cost,
                struct err *err);
/* The blocks of a contest alone, at these shapes.  As passes_confirm(), but
 * prints no verdict. */
int passes_contest(struct run *run, const struct report *report,
                   struct contest *contest, const struct spec_shape *shapes,
                   size_t n_shapes);
/* A new contest with the rules of the sweep file, without contestants. */
void passes_rules(const struct run *run, const struct report *report,
                  struct contest *out);
/* Once all contestants are in it: no fewer blocks than can show anything. */
void passes_enough_blocks(const struct run *run, struct contest *contest);

#endif
