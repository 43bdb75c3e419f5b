/* kernel_scan.h - what a CUDA source says of its kernel: parameters and macros
 *
 * Reads the text only: no macro is expanded, and conditions are not evaluated,
 * but that a macro stands in an #ifndef (or #if !defined) of its own name.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SOURCE_KERNEL_SCAN_H
#define FA_COORDINATOR_SOURCE_KERNEL_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct kernel_scan_parameter {
    char *name;
    const char *type; /* of the sweep file: fp32, int32, ... */
    bool pointer, constant;
};

/* #define NAME VALUE.  In an #ifndef of its name it is made to be set from
 * outside; otherwise the source overrules what is set there. */
struct kernel_scan_macro {
    char *name, *value; /* a whole number, true or false */
    bool is_switch;     /* #if NAME: 0 and 1 are its values */
};

struct kernel_scan {
    char *entry;
    struct kernel_scan_parameter *parameters;
    size_t n;
    struct kernel_scan_macro *macros; /* in an #ifndef of their names */
    size_t n_macros;
    struct kernel_scan_macro *fixed; /* not in one */
    size_t n_fixed;
};

/* Find the kernel 'entry', or the only one for NULL.  ERR_INPUT if there is
 * none or another number, if it is not extern "C", or has a parameter of a type
 * that sweep files do not know. */
int kernel_scan(const char *text, const char *entry, struct kernel_scan *out,
                struct err *err);
void kernel_scan_fini(struct kernel_scan *scan);

#endif
