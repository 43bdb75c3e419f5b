/* confirm_pipeline.h - the steps after screening: proof, blocks, verdict
 *
 * The finalists are checked at the fuzz shapes; wrong ones are replaced by the
 * next ones.  Then the baseline and the finalists are compared in blocks
 * (docs/confirm.md). Each pass is one sweep_run() over the same hosts.  An
 * interrupted pass is resumed.
 */
#ifndef FA_COORDINATOR_TASKS_CONFIRM_PIPELINE_H
#define FA_COORDINATOR_TASKS_CONFIRM_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>

struct conclusion;
struct confirmation;
struct report_cost;
struct err;
struct report;
struct run;
struct spec_shape;

/* Run all steps over run->db, and print the verdict on standard output.  With
 * 'fresh', a new pass starts even if one is complete.  Returns the exit code of
 * the program; an error has been printed.
 * early  there is a verdict, but a cap ended its blocks */
int confirm_pipeline_confirm(struct run *run, bool fresh, bool *early);
/* Print what it prints with --json; the verdict is null for NULL. */
void confirm_pipeline_json(const struct run *run,
                           const struct conclusion *conclusion);

/* Load the report of a database and its cost; the caller frees both. */
int confirm_pipeline_look(const char *db, struct report **report,
                          struct report_cost **cost, struct err *err);
/* Run only the blocks of a confirmation at these shapes.  Like
 * confirm_pipeline_confirm(), but prints no verdict. */
int confirm_pipeline_contest(struct run *run, const struct report *report,
                             struct confirmation *confirmation,
                             const struct spec_shape *shapes, size_t n_shapes);
/* Make a confirmation with the rules of the sweep file, without candidates. */
void confirm_pipeline_rules(const struct run *run, const struct report *report,
                            struct confirmation *out);
/* Call it when all candidates are in: raises the number of blocks to the
 * minimum that can show a difference. */
void confirm_pipeline_enough_blocks(const struct run *run,
                                    struct confirmation *confirmation);

#endif
