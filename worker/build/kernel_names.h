/* kernel_names.h - the names of the kernels in an artifact or a source
 *
 * In a cubin these are the global functions of its symbol table that are marked
 * as entry points.  In a kernel for the cpu device "__global__" hides them
 * (fa/emulation.h), so that they are local; others may be local, too.  In a
 * source they follow "__global__".  Pure.
 */
#ifndef FA_WORKER_BUILD_KERNEL_NAMES_H
#define FA_WORKER_BUILD_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

enum kernel_names_file {
    KERNEL_NAMES_CUBIN,
    KERNEL_NAMES_EMULATED
};

struct kernel_names {
    bool found;         /* 'entry' is one of them */
    bool plain;         /* 'entry' is a function, and no kernel */
    struct buf all;     /* joined by ", " */
    struct buf mangled; /* those that are 'entry' with C++ linkage, likewise */
};

void kernel_names_init(struct kernel_names *names);
void kernel_names_fini(struct kernel_names *names);

/* Of an artifact; none if the bytes are not a 64-bit ELF file. */
void kernel_names_find(const void *bytes, size_t len,
                       enum kernel_names_file kind, const char *entry,
                       struct kernel_names *out);
void kernel_names_of_source(const char *text, size_t len, struct buf *names);

#endif
