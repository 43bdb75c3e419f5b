#include "coordinator/hosts/host_line.h"

#include <string.h>

#include "common/err.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word from '*p' on.  A word has no blanks, except inside the quotes
 * of key="...". A '#' or ';' in front of a word starts a comment. */
static int next_word(const struct host_line *line, const char **p,
                     struct word *out, struct err *err)
{
    const char *end = host_line_end(line), *q = *p;

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
    for (const char *p = line->where.text; p < host_line_end(line); p++)
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

/* "pool NAME max=8": a host may be called pool, too. */
static int read_pool(struct host_line *line, const char **p, struct err *err)
{
    const char *after = *p;
    struct word name;
    int rc;

    if (line->who.len != 4 || memcmp(line->who.at, "pool", 4) != 0)
        return 0;
    rc = next_word(line, &after, &name, err);
    if (rc < 0 || !host_endpoint_is_name(name.at, name.len, "-_."))
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
