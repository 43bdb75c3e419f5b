/* kernel_sweep.h - a sweep file and a reference for a kernel that exists
 *
 * What the source does not say is guessed, and the line says CHECK: how long a
 * buffer is, what is read and what is written, the grid, and values to try
 * beside the one that the source has.  The reference is the frame of a
 * function, which does not compile until it is written.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_TEMPLATES_KERNEL_SWEEP_H
#define FA_COORDINATOR_TEMPLATES_KERNEL_SWEEP_H

#include <stddef.h>

struct kernel_scan;

/* The text of sweep.json; 'source' is the kernel's file name, 'code' what it
 * has.  The caller frees it. */
char *kernel_sweep_json(const struct kernel_scan *scan, const char *source,
                        const char *code);
/* How many tunables it has. */
size_t kernel_sweep_tunables(const struct kernel_scan *scan);

/* The text of reference.cu. */
char *kernel_sweep_reference(const struct kernel_scan *scan);

#endif
