/* invite.h - what a worker needs to connect to its coordinator
 *
 * Lines of "key value" ended by an empty line (docs/protocol.md section 1). It
 * contains the worker's secret key, which is kept in these structs and buffers
 * only.  The owner of one wipes it after use.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COMMON_INVITE_H
#define FA_COMMON_INVITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/curve.h"
#include "common/err.h"
#include "common/owner.h"

#define INVITE_BYTES_MAX 2048 /* of the text */
#define INVITE_ENDPOINT_BYTES 512
#define INVITE_RELAY "relay" /* endpoint: the stream it came on */

struct invite {
    char server_key[CURVE_KEY_BYTES];
    char public_key[CURVE_KEY_BYTES];
    char secret_key[CURVE_KEY_BYTES];
    int64_t epoch;
    int64_t linger_ms;
    struct owner owner; /* who invites */
    /* relay, ipc://..., or the addresses of one coordinator:
     * tcp://A:PORT,tcp://B:PORT,... */
    char endpoint[INVITE_ENDPOINT_BYTES];
};

/* Returns the length of the text. */
size_t invite_write(const struct invite *invite, char out[INVITE_BYTES_MAX]);

/* Length of the text including its empty line, 0 if that has not arrived yet,
 * or ERR_PROTO if INVITE_BYTES_MAX bytes have none. */
int invite_end(const char *bytes, size_t len, struct err *err);

/* ERR_INPUT unless every key occurs once with a well-formed value.  The error
 * text never shows a key, and '*out' is wiped. */
int invite_parse(const char *bytes, size_t len, struct invite *out,
                 struct err *err);

/* The address to use now: that before the first comma. */
void invite_address(const struct invite *invite,
                    char out[INVITE_ENDPOINT_BYTES]);
/* Put it last.  False if there is no other. */
bool invite_next_address(struct invite *invite);

void invite_wipe(struct invite *invite);

#endif
