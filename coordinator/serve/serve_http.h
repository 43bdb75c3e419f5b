/* serve_http.h - the pages of databases over HTTP, on loopback only
 *
 * 127.0.0.1 and, where there is one, ::1 at the same port.  Every path begins
 * with a token of 128 random bits (serve_request.h).  The number of
 * connections, their memory and their time are bounded, bodies are not read.
 *
 * Thread rule: one thread, which reads the databases, too.
 */
#ifndef FA_COORDINATOR_SERVE_SERVE_HTTP_H
#define FA_COORDINATOR_SERVE_SERVE_HTTP_H

#include <stddef.h>

struct err;
struct serve_source;

/* Print the address as one line and serve until SIGINT, SIGTERM or SIGHUP,
 * which are blocked from then on.  'port' 0 takes a free one.  ERR_SYSTEM if it
 * is taken; ERR_INPUT if fa-coord was built without libmicrohttpd. */
int serve_http_run(struct serve_source *sources, size_t n, int port,
                   struct err *err);

#endif
