/* confirm_pipeline.h - what follows the screening of a sweep: proof, blocks,
 * verdict
 *
 * The finalists are proved right at the fuzz shapes, those that are not give
 * way to the next ones, and then the baseline and the finalists are compared
 * in blocks (docs/confirm.md).  Each pass is one sweep_run() over the
 * same hosts; an interrupted one is continued.
 */
#ifndef FA_COORDINATOR_TASKS_CONFIRM_PIPELINE_H
#define FA_COORDINATOR_TASKS_CONFIRM_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>

struct confirmation;
struct report_cost;
struct err;
struct report;
struct run;
struct spec_shape;

/* All of it over run->db, with the verdict on standard output.  With 'fresh'
 * a new pass starts even if one has ended.  Returns the exit code
 * of the program; an error has been printed. */
int confirm_pipeline_confirm(struct run *run, bool fresh);

/* The report of a database and what it cost; the caller frees both. */
int confirm_pipeline_look(const char *db, struct report **report,
                          struct report_cost **cost, struct err *err);
/* The blocks of a confirmation alone, at these shapes.  As
 * confirm_pipeline_confirm(), but prints no verdict. */
int confirm_pipeline_contest(struct run *run, const struct report *report,
                             struct confirmation *confirmation,
                             const struct spec_shape *shapes, size_t n_shapes);
/* A new confirmation with the rules of the sweep file, without candidates. */
void confirm_pipeline_rules(const struct run *run, const struct report *report,
                            struct confirmation *out);
/* Once all candidates are in it: no fewer blocks than can show anything. */
void confirm_pipeline_enough_blocks(const struct run *run,
                                    struct confirmation *confirmation);

#endif
