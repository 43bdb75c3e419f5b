/* dial_keys.h - the keys that workers dial back with, kept beside a database
 *
 * A worker that dials back has its key pair from an invitation, which stays
 * valid over the steps of a command and over a coordinator that was killed.  So
 * the keys of both ends and the port are kept in a file, DB.dial, whose mode is
 * 0600, until a command ends well.  It is no part of the database, because
 * databases are given away (docs/decisions/0018-dialling-back.md).
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_DIAL_DIAL_KEYS_H
#define FA_COORDINATOR_DIAL_DIAL_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/curve.h"
#include "common/err.h"

struct dial_keys;

struct dial_pair {
    char public_key[CURVE_KEY_BYTES];
    char secret_key[CURVE_KEY_BYTES];
};

/* Those of database 'db'; drawn if it has none.  ERR_SYSTEM, or ERR_INPUT if
 * the file is not one of them. */
int dial_keys_open(const char *db, struct dial_keys **out, struct err *err);
void dial_keys_close(struct dial_keys *keys); /* wipes them; NULL is fine */

const struct dial_pair *dial_keys_server(const struct dial_keys *keys);
/* That of a host, drawn if it has none; valid until the next call.  NULL with
 * an error if none can be drawn. */
const struct dial_pair *dial_keys_host(struct dial_keys *keys, const char *name,
                                       struct err *err);

/* The port that the invitations name; 0: none yet. */
int dial_keys_port(const struct dial_keys *keys);
void dial_keys_set_port(struct dial_keys *keys, int port);

/* The names of jobs that may be submitted, so that any later command can cancel
 * them.  _job: NULL after the last one. */
void dial_keys_add_job(struct dial_keys *keys, const char *name);
const char *dial_keys_job(const struct dial_keys *keys, size_t i);

/* Are there keys of 'db'? */
bool dial_keys_exist(const char *db);

/* Write them to disk.  Call it before a key is given away. */
int dial_keys_save(const struct dial_keys *keys, struct err *err);

/* The invitations are no longer valid: remove them and the keys, if there are
 * any. */
void dial_keys_remove(const char *db);

/* The folder of the invitations of 'db', for the caller to free. */
char *dial_keys_folder(const char *db);
/* Write 'text' to a file of mode 0600, in a folder of mode 0700 that is made if
 * it is missing.  The file is whole or not there.  ERR_SYSTEM */
int dial_keys_write(const char *folder, const char *name, const char *text,
                    struct err *err);

#endif
