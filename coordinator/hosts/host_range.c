#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/hosts/host_line.h"

#define IDENTIFIER_MAX_BYTES 255

struct expansion {
    const struct caret_line *where;
    range_visit *visit;
    void *arg;
    char name[IDENTIFIER_MAX_BYTES + 1];
};

static int expand_from(struct expansion *x, size_t used, struct word rest,
                       struct err *err);

/* [2001:db8::1] is an address, [01-16] and Ansible's [01:16] are ranges. */
static bool is_address(struct word inside)
{
    size_t colons = 0;

    for (size_t i = 0; i < inside.len; i++)
        colons += inside.at[i] == ':';
    return colons >= 2;
}

static int append(struct expansion *x, size_t *used, const char *text,
                  size_t len, const char *at, struct err *err)
{
    if (*used + len > IDENTIFIER_MAX_BYTES)
        return caret_err(err, x->where, at, "names have at most 255 bytes",
                         "this name is too long");
    memcpy(x->name + *used, text, len);
    *used += len;
    return 0;
}

/* Read digits; returns how many, at most 9. */
static size_t number(const char *p, const char *end, long *out)
{
    size_t n = 0;

    *out = 0;
    while (p + n < end && n < 9 && isdigit((unsigned char)p[n]))
        *out = *out * 10 + (p[n++] - '0');
    return n;
}

static int each_of(struct expansion *x, size_t used, long from, long to,
                   int width, struct word rest, struct err *err)
{
    for (long i = from; i <= to; i++) {
        size_t here = used;
        char digits[16];
        int n = snprintf(digits, sizeof(digits), "%0*ld", width, i);
        int rc = append(x, &here, digits, (size_t)n, rest.at, err);

        if (rc == 0)
            rc = expand_from(x, here, rest, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The inside of one bracket: "01-16,20". */
static int expand_bracket(struct expansion *x, size_t used, struct word inside,
                          struct word rest, struct err *err)
{
    const char *p = inside.at, *end = inside.at + inside.len;

    for (;;) {
        long from, to;
        size_t width = number(p, end, &from), n;
        const char *start = p;

        p += width;
        to = from;
        n = width;
        if (p < end && (*p == '-' || *p == ':')) {
            n = number(p + 1, end, &to);
            p += 1 + n;
        }
        if (width == 0 || n == 0 || (p < end && *p != ','))
            return caret_err(
                err, x->where, start,
                "write numbers, such as gpu[01-16] or gpu[1,3,5-7]",
                "'[%.*s]' is not a range", (int)inside.len, inside.at);
        if (to < from)
            return caret_err(err, x->where, start,
                             "write the smaller number first",
                             "range %ld-%ld is backwards", from, to);
        if (to - from >= HOSTS_MAX)
            return caret_err(err, x->where, start,
                             "a hosts file may name at most 4096 hosts",
                             "range %ld-%ld is too long", from, to);
        int rc = each_of(x, used, from, to, (int)width, rest, err);
        if (rc < 0 || p == end)
            return rc;
        p++;
    }
}

static int expand_from(struct expansion *x, size_t used, struct word rest,
                       struct err *err)
{
    const char *end = rest.at + rest.len;
    const char *open = memchr(rest.at, '[', rest.len);
    const char *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
    const char *stop = open ? open : end;
    struct word inside;
    int rc;

    if (open && !close)
        return caret_err(err, x->where, open,
                         "write gpu[01-16], or [2001:db8::1] for an address",
                         "'[' is not closed");
    inside = (struct word){ 0 };
    if (open)
        inside = (struct word){ open + 1, (size_t)(close - open - 1) };
    if (open && is_address(inside))
        stop = close + 1;
    rc = append(x, &used, rest.at, (size_t)(stop - rest.at), rest.at, err);
    if (rc < 0)
        return rc;
    if (stop == end) {
        x->name[used] = '\0';
        return x->visit(x->arg, x->name, err);
    }
    if (stop != open)
        return expand_from(x, used, (struct word){ stop, (size_t)(end - stop) },
                           err);
    rest = (struct word){ close + 1, (size_t)(end - close - 1) };
    return expand_bracket(x, used, inside, rest, err);
}

int host_range_expand(const struct caret_line *where, struct word word,
                      range_visit *visit, void *arg, struct err *err)
{
    struct expansion x = { .where = where, .visit = visit, .arg = arg };
    const char *end = word.at + word.len;

    for (const char *p = word.at; p < end;) {
        const char *q = p;
        int depth = 0, rc;

        while (q < end && (*q != ',' || depth > 0)) {
            depth += (*q == '[') - (*q == ']');
            q++;
        }
        if (q == p)
            return caret_err(err, where, p, "write a,b,c without blanks",
                             "there is no host before ','");
        rc = expand_from(&x, 0, (struct word){ p, (size_t)(q - p) }, err);
        if (rc < 0)
            return rc;
        p = q + (q < end);
    }
    return 0;
}
