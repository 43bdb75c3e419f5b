/* ptxas.h - what an entry of a cubin uses, as "ptxas -v" said it
 *
 * The compiler's output is kept with a build, so the worker that built and
 * the coordinator that asks later read the same words the same way.
 */
#ifndef FA_COMMON_PTXAS_H
#define FA_COMMON_PTXAS_H

#include <stdint.h>

struct ptxas_use {
    int64_t registers;    /* a thread; 0 where 'entry' is not spoken of */
    int64_t stack_bytes;  /* a thread: spills, and arrays of its own */
    int64_t spill_stores; /* bytes a thread */
    int64_t spill_loads;
    int64_t static_smem; /* bytes a block */
};

struct ptxas_use ptxas_use(const char *output, const char *entry);

#endif
