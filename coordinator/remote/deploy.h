/* deploy.h - put the worker program on a remote machine
 *
 *   WORKDIR/fa-worker-HASH   HASH: BLAKE2b of the program
 *
 * A probe asks whether the program is there.  If not, it is uploaded under a
 * temporary name.  The host compares its SHA-256 (or POSIX cksum), runs it once
 * with --version, and renames it.  So a partial upload is never run, and a
 * running program is never overwritten.  If the connection breaks, what has
 * arrived stays there; the next probe tells its length and checksum, and if it
 * is the beginning of the program, the upload goes on behind it.
 * While another connection to that machine uploads the same program (another
 * line of the hosts file, another sweep), it is waited for as long as it gets
 * further.
 * The login shell may be of any kind and may print anything: the scripts run
 * under sh, and their answers are between two marks.
 * Thread rule: the thread of the remote; a program may be shared.
 */
#ifndef FA_COORDINATOR_REMOTE_DEPLOY_H
#define FA_COORDINATOR_REMOTE_DEPLOY_H

#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"

struct err;
struct remote;

#define DEPLOY_BYTES_MAX (64 << 20)
#define DEPLOY_WORKDIR "~/.cache/fa-coord" /* default of workdir= */
#define DEPLOY_PATH_BYTES 512
#define DEPLOY_SHA256_HEX 65 /* with its end */

/* A worker program in memory.  Immutable once loaded. */
struct worker_binary {
    unsigned char *bytes;
    size_t len;
    char hash[HASH_HEX];
    char sha256[DEPLOY_SHA256_HEX];
    uint32_t cksum;
};

/* ERR_INPUT when the file is missing, empty or too long. */
int worker_binary_load(const char *path, struct worker_binary *out,
                       struct err *err);
/* The fa-worker that was built or installed together with this program.  Also
 * ERR_SYSTEM. */
int worker_binary_load_own(struct worker_binary *out, struct err *err);
void worker_binary_fini(struct worker_binary *program);

/* As sha256sum(1). */
void deploy_sha256(const unsigned char *bytes, size_t len,
                   char out[DEPLOY_SHA256_HEX]);

/* Where the program is on the host. */
struct deployed {
    char workdir[DEPLOY_PATH_BYTES]; /* absolute */
    char program[DEPLOY_PATH_BYTES]; /* absolute */
    int uploaded;                    /* 0: it was already there */
};

/* Told during an upload: so much of the program was found on the host, and then
 * so much is there or on its way. */
struct deploy_watch {
    void (*found)(void *self, size_t bytes);
    void (*sent)(void *self, size_t bytes);
    void *self;
};

/* An upload in which nothing moves is given up.  Two in a row leave time for a
 * third before a sweep without a host ends (host_supply.h). */
#define DEPLOY_IDLE_S 45

/* Make the work folder (0700) and put the program into it.  'workdir' is "" for
 * DEPLOY_WORKDIR, or a path from a hosts file (only characters that no shell
 * changes).
 *   ERR_INPUT    the folder or the program cannot be used on the host; the text
 *                says why
 *   ERR_NETWORK  the connection broke, or nothing moved for DEPLOY_IDLE_S */
int deploy_program(struct remote *remote, const char *workdir,
                   const struct worker_binary *program,
                   const struct deploy_watch *watch, struct deployed *out,
                   struct err *err);

/* Is this a path that shells leave as it is? */
bool deploy_may_be_in(const char *path);

#endif
