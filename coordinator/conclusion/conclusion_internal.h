/* conclusion_internal.h - makes a conclusion; for conclusion*.c and tests
 */
#ifndef FA_COORDINATOR_CONCLUSION_CONCLUSION_INTERNAL_H
#define FA_COORDINATOR_CONCLUSION_CONCLUSION_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_checked.h"
#include "coordinator/conclusion/conclusion_samples.h"

/* The checked launches of an entry at a shape of the confirmation,
 * or at OBJECTIVE_ALL (objective.h). */
struct conclusion_checked
conclusion_checked_of(const struct conclusion *conclusion,
                      const struct conclusion_entry *entry, int at);

/* What the looks of the pass left of each entry, at a shape of the confirmation
 * or OBJECTIVE_ALL; only if it has looks.
 * levels, tied  [conclusion->n], as analysis.h takes them */
void conclusion_after_looks(const struct conclusion *conclusion, int at,
                            double *levels, bool *tied);

void conclusion_entry_fini(struct conclusion_entry *entry);

/* From entries, confirmation, state, emulated, complete, n_gpus and the times
 * of the external baselines, derive all other members except the sentences.
 * objective  the shape that comes first, or OBJECTIVE_ALL (objective.h): before
 *            the shapes comes the geometric mean of all
 * samples    of the entries, in complete blocks */
void conclusion_judge(struct conclusion *conclusion, int objective,
                      const struct conclusion_sample *samples, size_t n);

/* conclusion_sentence.c: write the sentences.  Call it after
 * conclusion_judge(). */
void conclusion_say(struct conclusion *conclusion);

#endif
