/* kernel_find.h - where a kernel is declared in a CUDA source
 *
 * Reads the text only: no macro is expanded, and nothing is included.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SOURCE_KERNEL_FIND_H
#define FA_COORDINATOR_SOURCE_KERNEL_FIND_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct kernel_found {
    const char *name, *parameters; /* behind its '('; both in the text */
    size_t len;
    bool is_c;        /* extern "C" */
    bool is_template; /* of C++ */
    bool has_body;    /* and is not only declared */
};

/* Find the kernel 'entry', or for NULL the only one, or of several the only one
 * that is extern "C".  'plain' is a text of c_text_plain().  ERR_INPUT if no
 * kernel or more than one fits, or if it is a template or not extern "C". */
int kernel_find(const char *plain, const char *entry, struct kernel_found *out,
                struct err *err);

#endif
