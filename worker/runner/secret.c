#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* MADV_DONTFORK */
#endif
#include "worker/runner/secret.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What functions that a launch has not called any more left on the stack. */
#define STACK_BYTES ((size_t)128 << 10)

void *secret_new(size_t bytes)
{
    size_t len = bytes > 0 ? bytes : 1;
    void *map = mmap(NULL, len, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int saved;

    if (map == MAP_FAILED)
        return NULL;
    if (madvise(map, len, MADV_DONTFORK) == 0)
        return map;
    saved = errno;
    secret_free(map, bytes);
    errno = saved;
    return NULL;
}

void *secret_need(size_t bytes)
{
    void *secret = secret_new(bytes);

    if (!secret)
        abort(); /* as mem_new() */
    return secret;
}

void secret_free(void *secret, size_t bytes)
{
    if (secret)
        munmap(secret, bytes > 0 ? bytes : 1);
}

void secret_wipe(void *memory, size_t bytes)
{
    volatile unsigned char *at = memory;

    while (bytes-- > 0)
        *at++ = 0;
}

__attribute__((noinline)) void secret_wipe_stack(void)
{
    unsigned char below[STACK_BYTES];

    memset(below, 0, sizeof(below));
    __asm__ volatile("" : : "r"(below) : "memory"); /* it is used */
}
