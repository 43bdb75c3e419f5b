/* sources.h - the identity of a set of source files, as BUNDLE carries it
 *
 * Thread rule: no state; any thread.
 */
#ifndef FA_COMMON_SOURCES_H
#define FA_COMMON_SOURCES_H

#include "common/hash.h"
#include "common/msg_values.h"

/* Covers names and contents in their order: for each file the name, then the
 * bytes, each as a field (hash_field()).  Both lists have one length. */
void sources_hash(const struct texts *names, const struct blobs *contents,
                  char out[HASH_HEX]);

#endif
