/* device_kind.h - the kinds of device that kernels run on, and their words
 *
 * Messages, rows and the command line carry the words.  An artifact that is not
 * for a GPU has the word as its architecture.  Depends on libc only: fa-runner
 * is compiled with it.
 */
#ifndef FA_COMMON_DEVICE_KIND_H
#define FA_COMMON_DEVICE_KIND_H

#include <stdbool.h>

enum device_kind {
    DEVICE_KIND_CUDA,
    DEVICE_KIND_CPU,    /* emulated */
    DEVICE_KIND_REPLAY, /* answers with recorded times */
    DEVICE_KINDS,
};

/* The name of the GPU that DEVICE_KIND_CPU is. */
#define DEVICE_KIND_EMULATED_GPU "emulation"

const char *device_kind_name(enum device_kind kind);
bool device_kind_read(const char *name, enum device_kind *out);
bool device_kind_is(const char *name, enum device_kind kind);

#endif
