/* part.h - a file that arrives in chunks, until it is complete
 *
 *   DIR/tmp/part-HASH   the bytes that are here, from the file's beginning
 *
 * It is on the disk and not in memory, as files are long and several arrive at
 * once.  Its contents are hashed when it is complete (cache_put()).  No file
 * stays open between calls.
 * 'dir' is the work folder, whose tmp cache_open() has made; 'hash' is one.
 */
#ifndef FA_WORKER_STORE_PART_H
#define FA_WORKER_STORE_PART_H

#include <limits.h>
#include <stdint.h>

#include "common/err.h"
#include "common/msg_values.h"

int part_path(const char *dir, const char *hash, char path[PATH_MAX],
              struct err *err);

/* Write a chunk at 'offset' (bytes); what was there from it on is dropped, so
 * offset 0 starts over.  ERR_SYSTEM: the chunk may be there in part. */
int part_add(const char *dir, const char *hash, int64_t offset,
             struct bytes chunk, struct err *err);
void part_remove(const char *dir, const char *hash);

#endif
