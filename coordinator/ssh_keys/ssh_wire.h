/* ssh_wire.h - the numbers and strings that SSH is made of (RFC 4251, 5)
 *
 * A number is four bytes, the highest first.  A string is its length as such a
 * number, then its bytes.  Keys, signatures and the messages of an agent are
 * made of them.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SSH_KEYS_SSH_WIRE_H
#define FA_COORDINATOR_SSH_KEYS_SSH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* What is left to read. */
struct ssh_wire {
    const unsigned char *p;
    size_t left;
};

/* Read the next one.  Nothing is read if it does not fit into the rest: then
 * they return false, or NULL. */
bool ssh_wire_u32(struct ssh_wire *wire, uint32_t *out);
const unsigned char *ssh_wire_string(struct ssh_wire *wire, size_t *len);

/* Append one.  A number of any length (mpint) gets a zero in front if its
 * highest bit is set. */
void ssh_wire_add_u32(struct buf *out, uint32_t number);
void ssh_wire_add_string(struct buf *out, const void *bytes, size_t len);
void ssh_wire_add_mpint(struct buf *out, const unsigned char *bytes,
                        size_t len);

#endif
