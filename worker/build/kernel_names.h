/* kernel_names.h - the names of the kernels in an artifact or a source
 *
 * In a cubin these are the global functions of its symbol table that are marked
 * as entry points.  In a source they follow "__global__".
 */
#ifndef FA_WORKER_BUILD_KERNEL_NAMES_H
#define FA_WORKER_BUILD_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

/* Is 'entry' one of the kernels?  'names' gets all of them, joined by ", ".
 * False with no names if the bytes are not a 64-bit ELF file. */
bool kernel_names_of_cubin(const void *bytes, size_t len, const char *entry,
                           struct buf *names);
void kernel_names_of_source(const char *text, size_t len, struct buf *names);

#endif
