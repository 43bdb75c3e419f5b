/* gpulock.h - one measurement at a time on a GPU, across workers
 *
 * Each GPU has a file, named by its UUID, in a folder that every user of the
 * machine can write.  The lock is a flock(), so it ends with its holder.  The
 * file contains the holder's pid, for messages only.  Files are never removed,
 * because a new file would be a second lock.
 */
#ifndef FA_WORKER_GPU_GPULOCK_H
#define FA_WORKER_GPU_GPULOCK_H

#include "common/err.h"

#define GPULOCK_FOLDER "/tmp/fa-gpu-locks"

/* Returns the descriptor that holds the lock; close it to release the lock.
 *   ERR_DEVICE  another worker holds it; the text names its pid
 *   ERR_INPUT   'uuid' is not made of letters, digits, '-', '_' and '.'
 *   ERR_SYSTEM  the folder or file is unusable, a link for instance */
int gpulock_take(const char *folder, const char *uuid, struct err *err);

#endif
