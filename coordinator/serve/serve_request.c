#include "coordinator/serve/serve_request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <sodium.h>

#define HTTP_PORT 80 /* browsers leave it out of Host */

bool serve_request_is_ours(const char *host, int port)
{
    static const char *const names[] = { "127.0.0.1", "[::1]", "localhost" };
    char want[32];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(want, sizeof(want), "%s:%d", names[i], port);
        if (strcasecmp(host, want) == 0 ||
            (port == HTTP_PORT && strcasecmp(host, names[i]) == 0))
            return true;
    }
    return false;
}

/* What follows "/TOKEN/", or NULL.  The time does not depend on how many of the
 * digits are right. */
static const char *after_token(const char *path, const char *token)
{
    if (strlen(path) < SERVE_REQUEST_TOKEN_DIGITS + 2 || path[0] != '/' ||
        path[SERVE_REQUEST_TOKEN_DIGITS + 1] != '/' ||
        sodium_memcmp(path + 1, token, SERVE_REQUEST_TOKEN_DIGITS) != 0)
        return NULL;
    return path + SERVE_REQUEST_TOKEN_DIGITS + 2;
}

/* "N/" of a database, without leading zeros; what follows it, or NULL. */
static const char *read_database(const char *text, size_t n, size_t *out)
{
    size_t number = 0, digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 4 || text[0] == '0' || text[digits] != '/')
        return NULL;
    for (size_t i = 0; i < digits; i++)
        number = 10 * number + (size_t)(text[i] - '0');
    if (number > n)
        return NULL;
    *out = number - 1;
    return text + digits + 1;
}

static struct serve_request_answer find(const char *rest, size_t n)
{
    struct serve_request_answer answer = { .status = 404 };

    if (!*rest && n == 1)
        return (struct serve_request_answer){ .status = 302 };
    if (!*rest)
        return (struct serve_request_answer){ 200, SERVE_REQUEST_LIST, 0 };
    rest = read_database(rest, n, &answer.database);
    if (rest && !*rest)
        answer.page = SERVE_REQUEST_PAGE;
    else if (rest && strcmp(rest, "version") == 0)
        answer.page = SERVE_REQUEST_VERSION;
    else
        return (struct serve_request_answer){ .status = 404 };
    answer.status = 200;
    return answer;
}

struct serve_request_answer
serve_request_answer(const struct serve_request_site *site,
                     const struct serve_request *request)
{
    const char *rest = after_token(request->path, site->token);

    if (!rest || !request->host ||
        !serve_request_is_ours(request->host, site->port))
        return (struct serve_request_answer){ .status = 403 };
    if (strcmp(request->method, "GET") != 0 &&
        strcmp(request->method, "HEAD") != 0)
        return (struct serve_request_answer){ .status = 405 };
    if (request->has_body)
        return (struct serve_request_answer){ .status = 413 };
    return find(rest, site->n);
}
