/* conclusion_internal.h - how a conclusion is made; for conclusion*.c and tests
 */
#ifndef FA_COORDINATOR_CONCLUSION_CONCLUSION_INTERNAL_H
#define FA_COORDINATOR_CONCLUSION_CONCLUSION_INTERNAL_H

#include <stddef.h>

#include "coordinator/conclusion/conclusion.h"

/* One measurement of a complete block. */
struct conclusion_sample {
    size_t shape;
    struct block_sample sample; /* of an entry */
};

/* From entries, confirmation, state, emulated, complete and n_gpus: the rest
 * but the sentences. */
void conclusion_judge(struct conclusion *conclusion,
                      const struct conclusion_sample *samples, size_t n);

/* After it, conclusion_sentence.c: what is known, in words. */
void conclusion_say(struct conclusion *conclusion);

#endif
