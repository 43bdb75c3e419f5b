/* "[user@]host[:port]" */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/hosts/host_line.h"

bool host_endpoint_is_name(const char *text, size_t len, const char *extra)
{
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr(extra, text[i]))
            return false;
    return len > 0;
}

/* Where 'part' of 'name' is on the line.  'at' is where 'name' is; if the line
 * has a range there, so that the texts differ, the answer is 'at'. */
static const char *place_of(const struct host_line *line, const char *at,
                            const char *name, const char *part)
{
    size_t n = (size_t)(part - name);

    if ((size_t)(host_line_end(line) - at) < n || memcmp(at, name, n) != 0)
        return at;
    return at + n;
}

static int set_port(const struct host_line *line, const char *at,
                    const char *port, struct host *host, struct err *err)
{
    size_t digits = strspn(port, "0123456789");
    long number = strtol(port, NULL, 10);

    if (*port == '\0')
        return caret_err(err, &line->where, at,
                         "write host:22, or the host alone (YAML lists are not "
                         "supported; INI inventories are)",
                         "a port is missing after ':'");
    if (port[digits] || digits > 5 || number < 1 || number > 65535)
        return caret_err(err, &line->where, at,
                         "write host:22; an IPv6 address is written "
                         "[2001:db8::1]",
                         "port '%s' is not in 1..65535", port);
    host->port = (int)number;
    return 0;
}

/* An address in brackets, with or without a port. */
static int set_ipv6(const struct host_line *line, const char *at,
                    const char *text, struct host *host, struct err *err)
{
    const char *close = strchr(text, ']');
    size_t len = close ? (size_t)(close - text - 1) : 0;

    if (!close || (close[1] && close[1] != ':') ||
        strspn(text + 1, "0123456789abcdefABCDEF:.%") < 2 ||
        !host_endpoint_is_name(text + 1, len, ":.%-_"))
        return caret_err(err, &line->where, at, "write user@[2001:db8::1]:22",
                         "'%s' is not an IPv6 address", text);
    memcpy(host->address, text + 1, len);
    host->address[len] = '\0';
    return close[1] ? set_port(line, place_of(line, at, text, close + 2),
                               close + 2, host, err)
                    : 0;
}

static int set_address(const struct host_line *line, const char *at,
                       const char *text, struct host *host, struct err *err)
{
    const char *colon = strchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : strlen(text);

    if (*text == '[')
        return set_ipv6(line, at, text, host, err);
    if (*text == '-')
        return caret_err(err, &line->where, at,
                         "ssh would read it as an option",
                         "host '%s' starts with '-'", text);
    if (!host_endpoint_is_name(text, len, "._-+%") ||
        len >= sizeof(host->address))
        return caret_err(err, &line->where, at,
                         "write an alias of ~/.ssh/config, a name or an "
                         "address: letters, digits, '.', '-' and '_'",
                         "'%.*s' is not a host", (int)len, text);
    memcpy(host->address, text, len);
    host->address[len] = '\0';
    return colon ? set_port(line, place_of(line, at, text, colon + 1),
                            colon + 1, host, err)
                 : 0;
}

int host_endpoint_read(const struct host_line *line, const char *at,
                       const char *name, struct host *host, struct err *err)
{
    const char *sign = strrchr(name, '@');
    size_t len = sign ? (size_t)(sign - name) : 0;

    if (!sign)
        return set_address(line, at, name, host, err);
    if (!host_endpoint_is_name(name, len, "._-+\\") || *name == '-' ||
        len >= sizeof(host->user))
        return caret_err(err, &line->where, at,
                         "write user@host; a user has letters, digits, '.', "
                         "'-' and '_'",
                         "'%.*s' is not a user", (int)len, name);
    memcpy(host->user, name, len);
    host->user[len] = '\0';
    return set_address(line, place_of(line, at, name, sign + 1), sign + 1, host,
                       err);
}
