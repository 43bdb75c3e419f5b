/* key_file.h - what kind of private key a file holds
 *
 * Enough to know before the login whether libssh2 can use the key, and to say
 * what to do if it cannot.  The secret part is not read.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SSH_KEYS_KEY_FILE_H
#define FA_COORDINATOR_SSH_KEYS_KEY_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct err;

#define KEY_FILE_BLOB_MAX 4096

struct key_file {
    char type[64]; /* "ssh-ed25519"; "" if only libssh2 can tell */
    bool encrypted;
    bool exposed; /* others may read the file: ssh does not use it */
    unsigned char blob[KEY_FILE_BLOB_MAX]; /* the public half; */
    size_t blob_len;                       /* 0 if not in the file */
};

/* Returns 0, 1 if the file does not exist, or ERR_AUTH if it cannot be read,
 * holds a public key, or holds no key. */
int key_file_read(const char *path, struct key_file *out, struct err *err);

/* The same for the text of a key file; 'path' is for the messages. */
int key_file_parse(const char *path, const char *text, struct key_file *out,
                   struct err *err);

/* Why no login by libssh2 1.10 is possible with keys of this type, or NULL. */
const char *key_file_obstacle(const char *type);

#endif
