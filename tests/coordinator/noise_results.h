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
    double *later;   /* of those after the first look, if it asked for others */
};

void noise_results_measure(const struct noise *noise,
                           const struct noise_pass *pass,
                           struct noise_stream *s, struct noise_results *out);
/* A pass that does what its looks ask for: if processes differ at the first
 * one, later blocks have fewer samples, and there are as many as it may take.
 * pass  as it is planned; its blocks are the most without such noise, and its
 *       drift is that over so many blocks
 * Returns its looks, to be freed. */
struct sequential *noise_results_pass(const struct noise *noise,
                                      const struct noise_pass *pass,
                                      const struct sequential_design *design,
                                      struct noise_stream *s,
                                      struct noise_results *out);
void noise_results_fini(struct noise_results *results);

/* The samples that belong to the last look.  'out' has room for all samples;
 * returns how many. */
size_t noise_results_counted(const struct noise_results *results,
                             const struct sequential *sequential,
                             struct block_sample *out);

#endif
