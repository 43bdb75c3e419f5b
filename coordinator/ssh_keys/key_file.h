/* key_file.h - what kind of private key a file holds
 *
 * Enough to know before the login whether libssh2 can use it, and to say what
 * to do when it cannot.  No secret part is looked at.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SSH_KEYS_KEY_FILE_H
#define FA_COORDINATOR_SSH_KEYS_KEY_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct err;

#define KEY_FILE_BLOB_MAX 4096

struct key_file {
    char type[64]; /* "ssh-ed25519"; "" when only libssh2 can tell */
    bool encrypted;
    unsigned char blob[KEY_FILE_BLOB_MAX]; /* its public half; */
    size_t blob_len;                       /* 0 when the file does not tell */
};

/* Returns 0, 1 when the file does not exist, or ERR_AUTH: it cannot be read,
 * holds a public key, or no key. */
int key_file_read(const char *path, struct key_file *out, struct err *err);

/* The same of a text; 'path' is for the messages. */
int key_file_parse(const char *path, const char *text, struct key_file *out,
                   struct err *err);

/* Why libssh2 1.10 cannot log in with keys of this type, or NULL. */
const char *key_file_obstacle(const char *type);

#endif
