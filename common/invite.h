/* invite.h - what a worker needs to know to come to its coordinator
 *
 * Lines of "key value" ended by an empty line (docs/protocol.md section 1).
 * It holds the worker's secret key: it lives in these structs and buffers
 * only, and whoever held one wipes it.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COMMON_INVITE_H
#define FA_COMMON_INVITE_H

#include <stddef.h>
#include <stdint.h>

#include "common/curve.h"
#include "common/err.h"
#include "common/owner.h"

#define INVITE_BYTES_MAX 1024 /* of the text */
#define INVITE_ENDPOINT_BYTES 160
#define INVITE_RELAY "relay" /* endpoint: through the stream it came on */

struct invite {
    char server_key[CURVE_KEY_BYTES];
    char public_key[CURVE_KEY_BYTES];
    char secret_key[CURVE_KEY_BYTES];
    int64_t epoch;
    int64_t linger_ms;
    struct owner owner;                   /* who invites */
    char endpoint[INVITE_ENDPOINT_BYTES]; /* relay tcp://... ipc://... */
};

/* Returns the length of the text. */
size_t invite_write(const struct invite *invite, char out[INVITE_BYTES_MAX]);

/* Length of the text up to and with its empty line, 0 when it is not there
 * yet, or ERR_PROTO when INVITE_BYTES_MAX bytes hold none. */
int invite_end(const char *bytes, size_t len, struct err *err);

/* ERR_INPUT for anything but every key once with a value of its form; the
 * text never shows a key.  '*out' is wiped then. */
int invite_parse(const char *bytes, size_t len, struct invite *out,
                 struct err *err);

void invite_wipe(struct invite *invite);

#endif
