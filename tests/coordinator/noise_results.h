/* noise_results.h - a simulated pass as the results of its blocks
 *
 * The blocks of several GPUs are numbered in turns, as a pass would.
 */
#ifndef FA_TESTS_COORDINATOR_NOISE_RESULTS_H
#define FA_TESTS_COORDINATOR_NOISE_RESULTS_H

#include <stddef.h>

#include "coordinator/confirm/sequential.h"
#include "tests/coordinator/noise.h"

struct noise_results {
    struct sequential_result *items; /* [n], by block, at shape 0 */
    size_t n;
    double *seconds; /* of all of them */
};

void noise_results_measure(const struct noise *noise,
                           const struct noise_pass *pass,
                           struct noise_stream *s, struct noise_results *out);
void noise_results_fini(struct noise_results *results);

/* The samples that belong to the last look.  'out' has room for all samples;
 * returns how many. */
size_t noise_results_counted(const struct noise_results *results,
                             const struct sequential *sequential,
                             struct block_sample *out);

#endif
