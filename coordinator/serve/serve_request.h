/* serve_request.h - which answer a request for a page gets
 *
 * A path is /TOKEN/ (the list), /TOKEN/N/ (the page of database N, from 1) or
 * /TOKEN/N/version (what changed, as JSON).  Nothing else of a path is
 * understood: no escapes, no names, so that no file is ever named by it.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_SERVE_SERVE_REQUEST_H
#define FA_COORDINATOR_SERVE_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#define SERVE_REQUEST_TOKEN_DIGITS 32 /* of 128 bits */

struct serve_request_site {
    const char *token; /* SERVE_REQUEST_TOKEN_DIGITS hex digits */
    int port;
    size_t n; /* databases */
};

struct serve_request {
    const char *method, *path;
    const char *host; /* NULL: the header is missing or there are several */
    bool has_body;
};

enum serve_request_page {
    SERVE_REQUEST_NONE,
    SERVE_REQUEST_LIST,
    SERVE_REQUEST_PAGE,
    SERVE_REQUEST_VERSION,
};

struct serve_request_answer {
    /* 200; 302 to the only page; 403 without the token or with another Host;
     * then 405 for other methods than GET and HEAD, 413 for a body, 404. */
    int status;
    enum serve_request_page page; /* with 200 */
    size_t database;              /* its index, for a page or a version */
};

struct serve_request_answer
serve_request_answer(const struct serve_request_site *site,
                     const struct serve_request *request);

/* Does a Host header name this server?  Another name that leads to loopback is
 * that of a page which attacks it by DNS. */
bool serve_request_is_ours(const char *host, int port);

#endif
