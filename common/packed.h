/* packed.h - MessagePack bytes, looked at before they are decoded
 *
 * The library allocates what a count announces before it has seen a single
 * element: five bytes would cost 256 GiB.  So no count may exceed the bytes
 * that follow it.
 * Pure; any thread.
 */
#ifndef FA_COMMON_PACKED_H
#define FA_COMMON_PACKED_H

#include <stdbool.h>
#include <stddef.h>

/* Walk the heads of all objects: every length and count fits into what is
 * left of the message. */
bool packed_counts_fit(const void *message, size_t len);

#endif
