/* kernel_names.h - the kernels that an artifact or a source has, by name
 *
 * For a cubin the global functions of its symbol table that are marked as
 * entry points; for a source, what follows "__global__".
 */
#ifndef FA_WORKER_BUILD_KERNEL_NAMES_H
#define FA_WORKER_BUILD_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

/* Whether 'entry' is one; 'names' takes them all, joined by ", ".  False with
 * no names when the bytes are no 64-bit ELF file. */
bool kernel_names_of_cubin(const void *bytes, size_t len, const char *entry,
                           struct buf *names);
void kernel_names_of_source(const char *text, size_t len, struct buf *names);

#endif
