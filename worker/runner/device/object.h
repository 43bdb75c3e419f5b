/* object.h - the shared object of an emulated kernel, and its __shared__ memory
 *
 * A __shared__ variable is a thread_local one for the host's compiler
 * (kernels/include/fa/emulation.h). Those with a size are the object's own
 * thread-local memory.  "extern __shared__ float s[]" is a symbol that nobody
 * defines: every such symbol is made to mean the launch's dynamic shared
 * memory, which fa-runner exports as fa_emu_dynamic (System V ABI, chapter 4).
 */
#ifndef FA_WORKER_RUNNER_DEVICE_OBJECT_H
#define FA_WORKER_RUNNER_DEVICE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "worker/runner/emulator/emulator.h"

/* Change the undefined thread-local symbols of the ELF file in 'bytes'.  True
 * if there was one; false also for what is no such file. */
bool object_bind(void *bytes, size_t len);

/* The same for the file that is open as 'fd', for dlopen(): 'fd' then is a
 * changed copy of it.  *out says whether it has such symbols.  False, with
 * errno set, if that failed. */
bool object_bind_file(int fd, bool *out);

/* The object's own thread-local memory, of the thread that calls; 'handle' is
 * from dlopen(). */
void object_statics(void *handle, struct emulator_shared *out);

#endif
