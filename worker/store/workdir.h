/* workdir.h - the worker's folder: its lock, sockets, journal, log and caches
 *
 *   lock control.sock relay-PID.sock journal worker.log    (and others' caches)
 *
 * Mode 0700 and ours, which is what keeps others from the sockets.  One
 * worker a folder: it holds the lock as long as it lives.
 */
#ifndef FA_WORKER_STORE_WORKDIR_H
#define FA_WORKER_STORE_WORKDIR_H

#include <stdio.h>

#include "common/err.h"

/* A unix socket's path has 107 bytes; the longest name in the folder is
 * "/relay-4194304.sock". */
#define WORKDIR_BYTES (107 - 19 + 1)

/* Make and check the folder; 'path' NULL is ~/.cache/fa-coord/work.  '*out' is
 * its absolute path.  ERR_INPUT with the remedy, or ERR_SYSTEM. */
int workdir_open(const char *path, char out[WORKDIR_BYTES], struct err *err);

/* Returns the lock's descriptor, or ERR_DEVICE when a worker has it; its pid
 * is in the text. */
int workdir_lock(const char *dir, struct err *err);

/* Remove what a killed worker or relay left: sockets of dead processes. */
void workdir_tidy(const char *dir);

/* worker.log, mode 0600, for appending; an over-long one becomes
 * worker.log.old.  ERR_SYSTEM. */
int workdir_log(const char *dir, FILE **out, struct err *err);
/* Call now and then: starts a new file when 'log' is too long. */
void workdir_trim_log(const char *dir, FILE *log);

#endif
