/* signature.h - the parameters of a built kernel against the arguments of its
 * sweep file
 *
 * A launch passes addresses of values and no types, so a kernel that is built
 * for other arguments reads what happens to lie there.  A cubin has the size of
 * each parameter in the section .nv.info.ENTRY.  A kernel for the cpu device
 * exports them (FA_EMULATION_ENTRY).  Types of the same size are not told
 * apart.  Pure; what is read is not trusted.
 */
#ifndef FA_WORKER_BUILD_SIGNATURE_H
#define FA_WORKER_BUILD_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/msg_values.h"
#include "common/msg_work.h"

#define SIGNATURE_MAX 1024 /* parameters that are read */

struct signature {
    size_t n;
    uint32_t bytes[SIGNATURE_MAX]; /* of each parameter */
};

/* Of the kernel 'entry'; false if they cannot be read. */
bool signature_of_cubin(const void *bytes, size_t len, const char *entry,
                        struct signature *out);
bool signature_of_emulated(const void *bytes, size_t len,
                           struct signature *out);

struct signature_argument {
    char name[72];
    uint32_t bytes;
};

/* The arguments of the sweep file; none when they are not known. */
struct signature_arguments {
    size_t n;
    struct signature_argument list[MSG_ARGUMENTS_MAX];
};

/* Read them as a BUILD has them, "NAME BYTES"; false if one is not like that.
 */
bool signature_read(const struct texts *texts, struct signature_arguments *out);

/* Do they fit?  Otherwise 'why' is one line for the user. */
bool signature_fits(const struct signature *kernel,
                    const struct signature_arguments *arguments,
                    const char *entry, struct buf *why);

#endif
