/* msg_file.h - the messages that carry sources and artifacts
 * (docs/protocol.md)
 *
 * Plain structs, parts of struct msg (msg.h says who owns what they point to).
 */
#ifndef FA_COMMON_MSG_FILE_H
#define FA_COMMON_MSG_FILE_H

#include <stdint.h>

#include "common/msg_values.h"

#define MSG_FILES_MAX 256         /* of a bundle */
#define MSG_CHUNK_MAX (256 << 10) /* artifact bytes in one ARTIFACT */

struct msg_bundle {
    const char *hash; /* sources_hash() of the rest */
    struct texts names;
    struct blobs contents; /* one each */
};

#define MSG_WANT_BUNDLE "bundle"
#define MSG_WANT_ARTIFACT "artifact"
#define MSG_WANT_INPUT "input"
/* One WANT of an input is answered up to the next multiple of this. */
#define MSG_WINDOW_MAX (4 * MSG_CHUNK_MAX)

struct msg_want {
    const char *what; /* one of the three words */
    const char *hash;
    int64_t offset; /* bytes of an input that are here; else -1 */
};

struct msg_fetch {
    const char *hash;
};

struct msg_artifact {
    const char *hash;
    int64_t offset; /* bytes */
    int64_t total;  /* bytes */
    struct bytes chunk;
};

struct msg_missing {
    const char *hash;
};

#endif
