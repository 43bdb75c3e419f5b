/* cksum.h - the sum that cksum(1) of POSIX prints
 *
 * A pure function, for any thread.
 */
#ifndef FA_COMMON_CKSUM_H
#define FA_COMMON_CKSUM_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 over the bytes and their number. */
uint32_t cksum_of(const unsigned char *bytes, size_t len);

#endif
