/* curve.h - CURVE keys and the options that both ends of a link share
 *
 * Options are set before bind or connect.  Keys are Z85 text; the holder of a
 * secret key wipes it.
 * Thread rule: a socket belongs to one thread, so do these calls.
 */
#ifndef FA_COMMON_CURVE_H
#define FA_COMMON_CURVE_H

#include "common/err.h"

#define CURVE_KEY_BYTES 41 /* Z85, with the NUL */

int curve_keypair(char public_key[CURVE_KEY_BYTES],
                  char secret_key[CURVE_KEY_BYTES], struct err *err);

/* Options of a ROUTER: CURVE server in a ZAP domain whose handler must
 * answer. */
int curve_server(void *socket, const char *domain, const char *secret_key,
                 struct err *err);

/* Options of a DEALER: CURVE client. */
int curve_client(void *socket, const char *server_key, const char *public_key,
                 const char *secret_key, struct err *err);

#endif
