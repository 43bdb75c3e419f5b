/* checksum.h - the sums that sha256sum(1) and cksum(1) print
 *
 * Pure functions, for any thread.
 */
#ifndef FA_COORDINATOR_REMOTE_CHECKSUM_H
#define FA_COORDINATOR_REMOTE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define CHECKSUM_SHA256 65 /* in hex, with its end */

void checksum_sha256(const unsigned char *bytes, size_t len,
                     char out[CHECKSUM_SHA256]);

/* POSIX cksum: CRC-32 over the bytes and their number. */
uint32_t checksum_posix(const unsigned char *bytes, size_t len);

#endif
