/* rsa_key.h - an RSA private key that signs with SHA-512 (RFC 8332)
 *
 * libssh2 1.10 signs with RSA keys by SHA-1 only, which servers refuse.  It
 * takes the name of the algorithm from the first word of the public key that it
 * is given, and servers read "rsa-sha2-512" there as they read "ssh-rsa": so a
 * public key with that word and a signature made here log in.
 * Thread rule: one thread a key.
 */
#ifndef FA_COORDINATOR_SSH_KEYS_RSA_KEY_H
#define FA_COORDINATOR_SSH_KEYS_RSA_KEY_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct rsa_key;

#define RSA_KEY_TYPE "ssh-rsa"
#define RSA_KEY_LOGIN_TYPE "rsa-sha2-512"
#define RSA_KEY_BLOB_MAX 4096

/* Read a private key without a passphrase, in OpenSSH's format, PKCS#1 or
 * PKCS#8.  Returns 0 and a key for the caller to rsa_key_free(), 1 if it is a
 * key of another type, or ERR_AUTH. */
int rsa_key_read(const char *path, struct rsa_key **out, struct err *err);
int rsa_key_parse(const char *text, size_t len, struct rsa_key **out);
void rsa_key_free(struct rsa_key *key); /* NULL is fine */

/* Append its public half as servers get it, with RSA_KEY_LOGIN_TYPE in front.
 * false if it does not fit. */
bool rsa_key_login_blob(const struct rsa_key *key, struct buf *out);

/* The same from a public key whose first word is RSA_KEY_TYPE, an agent's. */
bool rsa_key_login_blob_of(const void *blob, size_t len, struct buf *out);

/* RSASSA-PKCS1-v1_5 over SHA-512.  'out' has room for RSA_KEY_BLOB_MAX bytes;
 * returns their number, 0 if the key cannot sign. */
size_t rsa_key_sign(const struct rsa_key *key, const void *bytes, size_t len,
                    unsigned char *out);

#endif
