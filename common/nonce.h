/* nonce.h - the identity of one result, drawn by the worker
 *
 * The milliseconds of UTC come first, then 10 random bytes.  The coordinator
 * keeps results in the order of their nonces, so those that come at the same
 * time lie side by side and are written together.  Nothing reads the time: a
 * clock that is wrong only costs that.
 */
#ifndef FA_COMMON_NONCE_H
#define FA_COMMON_NONCE_H

#include <stdint.h>

#include "common/hash.h"

void nonce_draw(int64_t utc_ns, char out[HASH_HEX]);

#endif
