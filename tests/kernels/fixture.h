/* fixture.h - builds a kernel for the emulator and launches it, like the worker
 *
 * Sources are relative to the repository's root, or absolute; objects go to the
 * build folder.  A fixture that does not build fails the test, with the
 * compiler's output on stderr.
 */
#ifndef FA_TESTS_KERNELS_FIXTURE_H
#define FA_TESTS_KERNELS_FIXTURE_H

#include <stdbool.h>

#include "worker/runner/device/device_kernel.h"

/* Run a command, argv ended by NULL; its exit status, or -1. */
int fixture_command(const char *const *argv);
/* The same, and keep its stderr, cut to 'size'. */
int fixture_said(const char *const *argv, char *text, size_t size);

/* Build 'source' for the emulator, with FA_EMULATION_ENTRY(entry) behind it and
 * the lines of 'params' in front.  'name' is the object's. */
bool fixture_builds(const char *name, const char *source, const char *entry,
                    const char *params);

/* The same, and load it. */
struct device_kernel *fixture_load(const char *name, const char *source,
                                   const char *entry, const char *params);

/* Load what was built under that name, as new: its first launch runs forward.
 */
struct device_kernel *fixture_load_again(const char *name);

/* Remove the object of that name; what was loaded of it stays loaded. */
void fixture_remove(const char *name);

/* nvcc -cubin for sm_89; true if it builds, or if there is no nvcc. */
bool fixture_builds_for_gpu(const char *name, const char *source,
                            const char *params);

/* A buffer, poisoned; fails the test when there is no memory. */
struct device_buffer *fixture_buffer(const char *name, enum element_type type,
                                     int64_t count);

#endif
