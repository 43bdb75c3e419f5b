#include "worker/runner/emulator/secret.h"

#include <errno.h>
#include <sys/mman.h>

void *secret_new(size_t bytes)
{
    void *map = mmap(nullptr, bytes > 0 ? bytes : 1, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED)
        return nullptr;
    if (madvise(map, bytes > 0 ? bytes : 1, MADV_DONTFORK) < 0) {
        const int saved = errno;

        secret_free(map, bytes);
        errno = saved;
        return nullptr;
    }
    return map;
}

void secret_free(void *secret, size_t bytes)
{
    if (secret)
        munmap(secret, bytes > 0 ? bytes : 1);
}
