#include "coordinator/hosts/host_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *line_end(const struct host_line *line)
{
    return line->where.text + line->where.len;
}

/* The next word from '*p' on.  A word has no blanks, except inside the quotes
 * of key="...". A '#' or ';' in front of a word starts a comment. */
static int next_word(const struct host_line *line, const char **p,
                     struct word *out, struct err *err)
{
    const char *end = line_end(line), *q = *p;

    while (q < end && is_blank(*q))
        q++;
    *out = (struct word){ q, 0 };
    if (q == end || *q == '#' || *q == ';') {
        *p = end;
        return 0;
    }
    while (q < end && !is_blank(*q)) {
        bool quoted = q > out->at && q[-1] == '=' && (*q == '"' || *q == '\'');

        if (quoted) {
            const char *close = memchr(q + 1, *q, (size_t)(end - q - 1));

            if (!close)
                return caret_err(err, &line->where, q,
                                 "close the quote on this line",
                                 "the quote is not closed");
            q = close;
        }
        q++;
    }
    out->len = (size_t)(q - out->at);
    *p = q;
    return 0;
}

static int check_bytes(const struct host_line *line, struct err *err)
{
    for (const char *p = line->where.text; p < line_end(line); p++)
        if (((unsigned char)*p < ' ' && *p != '\t') || *p == 0x7f)
            return caret_err(err, &line->where, p,
                             "a hosts file is plain text; save it as UTF-8",
                             "control character 0x%02x", (unsigned char)*p);
    return 0;
}

static int read_attr(struct host_line *line, struct word word, struct err *err)
{
    const char *equals = memchr(word.at, '=', word.len);
    struct word name, value;

    if (!equals && word.len == 4 && memcmp(word.at, "spot", 4) == 0)
        return host_attr_set(line, word, word, err);
    if (!equals)
        return caret_err(err, &line->where, word.at,
                         "after the host, write attributes as key=value "
                         "without blanks around '='",
                         "'%.*s' is not an attribute", (int)word.len, word.at);
    name = (struct word){ word.at, (size_t)(equals - word.at) };
    value = (struct word){ equals + 1, word.len - name.len - 1 };
    if (value.len >= 2 && (*value.at == '"' || *value.at == '\'')) {
        if (value.at[value.len - 1] != *value.at)
            return caret_err(err, &line->where, value.at,
                             "write a blank after the closing quote",
                             "text follows the quote");
        value = (struct word){ value.at + 1, value.len - 2 };
    }
    if (value.len == 0)
        return caret_err(err, &line->where, equals + 1,
                         "write key=value without blanks around '='",
                         "attribute '%.*s' has no value", (int)name.len,
                         name.at);
    return host_attr_set(line, name, value, err);
}

static bool is_name(const char *text, size_t len, const char *extra)
{
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr(extra, text[i]))
            return false;
    return len > 0;
}

/* "pool NAME max=8": a host may be called pool, too. */
static int read_pool(struct host_line *line, const char **p, struct err *err)
{
    const char *after = *p;
    struct word name;
    int rc;

    if (line->who.len != 4 || memcmp(line->who.at, "pool", 4) != 0)
        return 0;
    rc = next_word(line, &after, &name, err);
    if (rc < 0 || !is_name(name.at, name.len, "-_."))
        return rc;
    line->pool = true;
    line->who = name;
    *p = after;
    return 0;
}

int host_line_read(struct host_line *line, struct err *err)
{
    const char *p = line->where.text;
    struct word word;
    int rc = check_bytes(line, err);

    if (rc == 0)
        rc = next_word(line, &p, &line->who, err);
    if (rc < 0 || line->who.len == 0)
        return rc;
    if (*line->who.at != '-' && memchr(line->who.at, '=', line->who.len))
        return caret_err(err, &line->where, line->who.at,
                         "begin the line with an alias or user@host[:port]",
                         "the host is missing");
    rc = read_pool(line, &p, err);
    if (rc < 0)
        return rc;
    line->bare = true;
    while ((rc = next_word(line, &p, &word, err)) == 0 && word.len > 0) {
        line->bare = false;
        rc = read_attr(line, word, err);
        if (rc < 0)
            return rc;
    }
    return rc < 0 || !line->pool ? rc : host_agree_pool(line, err);
}

/* Where 'part' of 'name' is on the line.  'at' is where 'name' is; if the line
 * has a range there, so that the texts differ, the answer is 'at'. */
static const char *place_of(const struct host_line *line, const char *at,
                            const char *name, const char *part)
{
    size_t n = (size_t)(part - name);

    if ((size_t)(line_end(line) - at) < n || memcmp(at, name, n) != 0)
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
        !is_name(text + 1, len, ":.%-_"))
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
    if (!is_name(text, len, "._-+%") || len >= sizeof(host->address))
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

int host_line_endpoint(const struct host_line *line, const char *at,
                       const char *name, struct host *host, struct err *err)
{
    const char *sign = strrchr(name, '@');
    size_t len = sign ? (size_t)(sign - name) : 0;

    if (!sign)
        return set_address(line, at, name, host, err);
    if (!is_name(name, len, "._-+\\") || *name == '-' ||
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
