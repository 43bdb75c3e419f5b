/* kernel_check.h - is what a compiler wrote the kernel that was asked for?
 *
 * Its entry is there under its own name, and its parameters have the sizes of
 * the sweep file's arguments.  Pure.
 */
#ifndef FA_WORKER_BUILD_KERNEL_CHECK_H
#define FA_WORKER_BUILD_KERNEL_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "worker/build/kernel_names.h"
#include "worker/build/signature.h"

struct kernel_check {
    const char *entry, *source; /* borrowed */
    enum kernel_names_file kind;
    const struct signature_arguments *arguments; /* none: not checked */
};

enum kernel_check_answer {
    KERNEL_CHECK_FITS,
    KERNEL_CHECK_WRONG,   /* 'why' is one line for the user */
    KERNEL_CHECK_UNKNOWN, /* its parameters cannot be read: 'why' says so */
};

enum kernel_check_answer kernel_check(const struct kernel_check *want,
                                      const void *bytes, size_t len,
                                      struct buf *why);

/* 'names' are the kernels that there are instead. */
void kernel_check_say_missing(const char *entry, const char *source,
                              const char *names, struct buf *why);

#endif
