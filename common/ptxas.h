/* ptxas.h - the resources of an entry, from the output of "ptxas -v"
 *
 * The compiler's output is stored with a build.  The worker that builds and the
 * coordinator that reads the build later use this same parser.
 */
#ifndef FA_COMMON_PTXAS_H
#define FA_COMMON_PTXAS_H

#include <stdint.h>

struct ptxas_use {
    int64_t registers;    /* per thread; 0 if 'entry' is not mentioned */
    int64_t stack_bytes;  /* per thread: spills and local arrays */
    int64_t spill_stores; /* bytes per thread */
    int64_t spill_loads;
    int64_t static_smem; /* bytes per block */
};

struct ptxas_use ptxas_use(const char *output, const char *entry);

#endif
