/* Any bytes are a cubin or a library whose kernels have parameters, or are not;
 * what ptxas printed of them is any text. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/mem.h"
#include "common/ptxas.h"
#include "worker/build/signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct signature signature;
    char *text = mem_dup(data, size);

    if (signature_of_cubin(data, size, "k", &signature))
        assert(signature.n <= SIGNATURE_MAX);
    if (signature_of_emulated(data, size, &signature))
        assert(signature.n <= SIGNATURE_MAX);
    (void)ptxas_use(text, "k");
    free(text);
    return 0;
}
