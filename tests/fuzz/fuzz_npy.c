#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/source/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Any file can be named by a sweep file.  What is read lies within it. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *copy = mem_dup(bytes, len), why[NPY_WHY_BYTES];
    struct npy npy;

    if (npy_read(copy, len, &npy, why) == 0) {
        assert(npy.at <= len);
        assert((uint64_t)npy.count * npy.item_bytes == len - npy.at);
        (void)npy_check_type(&npy, "fp32", why);
    }
    free(copy);
    return 0;
}
