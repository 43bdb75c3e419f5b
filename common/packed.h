/* packed.h - checks MessagePack bytes before they are decoded
 *
 * The library allocates as much as a count announces before it reads a single
 * element, so five bytes could cost 192 GiB. So no count may exceed the bytes
 * that follow it.
 * Pure; any thread.
 */
#ifndef FA_COMMON_PACKED_H
#define FA_COMMON_PACKED_H

#include <stdbool.h>
#include <stddef.h>

/* Walk the heads of all objects: every length and count must fit into the rest
 * of the message. */
bool packed_counts_fit(const void *message, size_t len);

#endif
