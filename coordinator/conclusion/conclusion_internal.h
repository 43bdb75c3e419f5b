/* conclusion_internal.h - makes a conclusion; for conclusion*.c and tests
 */
#ifndef FA_COORDINATOR_CONCLUSION_CONCLUSION_INTERNAL_H
#define FA_COORDINATOR_CONCLUSION_CONCLUSION_INTERNAL_H

#include <stddef.h>

#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/conclusion_samples.h"

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
