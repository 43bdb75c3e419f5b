/* workdir.h - the work folder: locks, sockets, logs
 *
 * Its mode is 0700 and it belongs to this user, so other users cannot reach the
 * sockets.  instance.h says which workers run in it.
 */
#ifndef FA_WORKER_STORE_WORKDIR_H
#define FA_WORKER_STORE_WORKDIR_H

#include <stdio.h>

#include "common/err.h"

/* A unix socket's path has 107 bytes; the longest name in the folder is
 * "/relay-4194304.sock", or "/gpus-01234567.sock". */
#define WORKDIR_BYTES (107 - 19 + 1)

/* Make and check the folder; 'path' NULL means ~/.cache/fa-coord/work.  '*out'
 * is its absolute path.  ERR_INPUT with the remedy, or ERR_SYSTEM.  A link on
 * the way must be of this user or of root: others could move it. */
int workdir_open(const char *path, char out[WORKDIR_BYTES], struct err *err);

/* Lock the file 'path', as LOCK_SH or LOCK_EX says, and write our pid to it.
 * Returns its descriptor, or ERR_DEVICE if another worker has it; the text
 * names its pid. */
int workdir_lock(const char *path, int how, struct err *err);

/* Remove the sockets of killed workers and relays, and what uploads of the
 * worker left behind that were cut: ".fa-worker-HASH.MACHINE.PID", to which
 * nothing was written for WORKDIR_UPLOAD_S.  A younger one may be on its way,
 * also from another machine that has the same folder. */
#define WORKDIR_UPLOAD_S 600 /* far beyond a stall (DEPLOY_IDLE_S) */
void workdir_tidy(const char *dir);

/* Open worker.log of a worker's folder, mode 0600, for appending.  If it is too
 * long, it is renamed to worker.log.old first.  ERR_SYSTEM. */
int workdir_log(const char *dir, FILE **out, struct err *err);
/* Call it now and then: starts a new file if 'log' is too long. */
void workdir_trim_log(const char *dir, FILE *log);

#endif
