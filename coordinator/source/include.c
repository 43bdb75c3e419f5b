#include "coordinator/source/include.h"

#include <string.h>

static size_t skip_blanks(const char *text, size_t len, size_t at)
{
    while (at < len && (text[at] == ' ' || text[at] == '\t'))
        at++;
    return at;
}

/* The end of the comment at 'at', or 'at' if no comment begins there. */
static size_t skip_comment(const char *text, size_t len, size_t at)
{
    const char *end;

    if (len - at < 2 || text[at] != '/')
        return at;
    if (text[at + 1] == '/') {
        end = memchr(text + at, '\n', len - at);
        return end ? (size_t)(end - text) : len;
    }
    if (text[at + 1] != '*')
        return at;
    end = memmem(text + at + 2, len - at - 2, "*/", 2);
    return end ? (size_t)(end - text) + 2 : len;
}

/* The end of a "text" or 'c', so that // inside it is not a comment. */
static size_t skip_literal(const char *text, size_t len, size_t at)
{
    char quote = text[at];

    for (at++; at < len && text[at] != quote && text[at] != '\n'; at++)
        at += text[at] == '\\' && at + 1 < len;
    return at < len ? at + 1 : len;
}

/* At a '#' that begins a line: is it an #include of a plain name? */
static bool read_line(const char *text, size_t len, size_t *at,
                      struct include *out)
{
    size_t p = skip_blanks(text, len, *at + 1);
    const char *end;
    char closing;

    *at += 1;
    if (len - p < 8 || memcmp(text + p, "include", 7) != 0)
        return false;
    p = skip_blanks(text, len, p + 7);
    if (p >= len || (text[p] != '"' && text[p] != '<'))
        return false;
    out->quoted = text[p] == '"';
    closing = out->quoted ? '"' : '>';
    out->name = text + ++p;
    while (p < len && text[p] != closing && text[p] != '\n')
        p++;
    end = text + p;
    out->len = (size_t)(end - out->name);
    *at = p < len ? p + 1 : len;
    return p < len && text[p] == closing;
}

bool include_next(const char *text, size_t len, size_t *at, struct include *out)
{
    bool fresh = *at == 0 || text[*at - 1] == '\n'; /* only blanks so far */

    while (*at < len) {
        size_t after = skip_comment(text, len, *at);
        char c = text[*at];

        if (after > *at) {
            *at = after;
        } else if (c == '#' && fresh) {
            if (read_line(text, len, at, out))
                return true;
            fresh = false;
        } else if (c == '"' || c == '\'') {
            *at = skip_literal(text, len, *at);
            fresh = text[*at - 1] == '\n';
        } else {
            fresh =
                c == '\n' || (fresh && (c == ' ' || c == '\t' || c == '\r'));
            *at += 1;
        }
    }
    return false;
}
