#include "coordinator/source/npy.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6
#define WORD_BYTES 40 /* of a word of the header, for a message */

/* The header: a literal of a Python dictionary, with blanks behind it. */
struct header {
    const char *at, *end;
    struct npy *out;
    bool descr, order, shape; /* seen */
    char *why;
};

__attribute__((format(printf, 2, 3))) static int flaw(char *why,
                                                      const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(why, NPY_WHY_BYTES, fmt, args);
    va_end(args);
    return ERR_INPUT;
}

static int odd_header(const struct header *h)
{
    return flaw(h->why, "its header is not the one that numpy.save() writes");
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct header *h)
{
    while (h->at < h->end && is_blank(*h->at))
        h->at++;
}

/* Skip the character, and blanks before it. */
static bool take(struct header *h, char c)
{
    skip_blanks(h);
    if (h->at == h->end || *h->at != c)
        return false;
    h->at++;
    return true;
}

static bool take_word(struct header *h, const char *word)
{
    size_t len = strlen(word);

    skip_blanks(h);
    if ((size_t)(h->end - h->at) < len || memcmp(h->at, word, len) != 0)
        return false;
    h->at += len;
    return true;
}

/* A text in quotes of either kind, without escapes. */
static bool take_text(struct header *h, char out[WORD_BYTES])
{
    size_t n = 0;
    char quote;

    skip_blanks(h);
    if (h->at == h->end || (*h->at != '\'' && *h->at != '"'))
        return false;
    quote = *h->at++;
    while (h->at < h->end && *h->at != quote && *h->at >= ' ' &&
           *h->at <= '~' && *h->at != '\\' && n + 1 < WORD_BYTES)
        out[n++] = *h->at++;
    out[n] = '\0';
    if (h->at == h->end || *h->at != quote)
        return false;
    h->at++;
    return true;
}

static bool take_whole(struct header *h, int64_t *out)
{
    bool any = false;

    skip_blanks(h);
    *out = 0;
    for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++) {
        any = true;
        *out = *out * 10 + (*h->at - '0');
        if (*out > NPY_COUNT_MAX)
            return false;
    }
    return any;
}

/* "<f4": an order, a kind and the bytes of an element. */
static int read_descr(struct header *h)
{
    char text[WORD_BYTES];
    size_t bytes;

    if (!take_text(h, text))
        return take(h, '[') ? flaw(h->why, "its elements are records; save "
                                           "one column")
                            : odd_header(h);
    bytes =
        text[0] && text[1] && text[2] && !text[3] ? (size_t)(text[2] - '0') : 0;
    if (text[0] == '>')
        return flaw(h->why,
                    "its elements are big-endian ('%s'); save it with "
                    ".astype('<%s')",
                    text, text + 1);
    if ((text[0] != '<' && text[0] != '|') || !strchr("bifuV", text[1]) ||
        (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        return flaw(h->why, "its elements are '%s', which no argument holds",
                    text);
    snprintf(h->out->descr, sizeof(h->out->descr), "%.3s", text);
    h->out->item_bytes = bytes;
    return 0;
}

static int read_order(struct header *h)
{
    if (take_word(h, "False"))
        return 0;
    return take_word(h, "True")
               ? flaw(h->why, "it is in Fortran order; save it with "
                              "numpy.ascontiguousarray()")
               : odd_header(h);
}

/* "(3, 4)", "(3,)" or "()" */
static int read_shape(struct header *h)
{
    struct npy *out = h->out;

    out->count = 1;
    if (!take(h, '('))
        return odd_header(h);
    while (!take(h, ')')) {
        int64_t dim;

        if (out->n_dims == NPY_DIMS_MAX || !take_whole(h, &dim))
            return odd_header(h);
        out->dims[out->n_dims++] = dim;
        if (dim > 0 && out->count > NPY_COUNT_MAX / dim)
            return flaw(h->why, "its shape has more than 2^40 elements");
        out->count *= dim;
        if (!take(h, ',')) {
            if (!take(h, ')'))
                return odd_header(h);
            break;
        }
    }
    return 0;
}

static int read_entry(struct header *h)
{
    char key[WORD_BYTES];
    bool *seen;
    int rc;

    if (!take_text(h, key) || !take(h, ':'))
        return odd_header(h);
    if (strcmp(key, "descr") == 0) {
        seen = &h->descr;
        rc = *seen ? odd_header(h) : read_descr(h);
    } else if (strcmp(key, "fortran_order") == 0) {
        seen = &h->order;
        rc = *seen ? odd_header(h) : read_order(h);
    } else if (strcmp(key, "shape") == 0) {
        seen = &h->shape;
        rc = *seen ? odd_header(h) : read_shape(h);
    } else {
        return odd_header(h);
    }
    *seen = true;
    return rc;
}

static int read_header(struct header *h)
{
    if (!take(h, '{'))
        return odd_header(h);
    while (!take(h, '}')) {
        if (read_entry(h) < 0)
            return ERR_INPUT;
        if (take(h, ','))
            continue;
        if (!take(h, '}'))
            return odd_header(h);
        break;
    }
    skip_blanks(h);
    return h->at == h->end && h->descr && h->order && h->shape ? 0
                                                               : odd_header(h);
}

/* The number of bytes that 'len' little-endian bytes say. */
static size_t length_of(const unsigned char *bytes, size_t len)
{
    size_t n = 0;

    while (len-- > 0)
        n = n << 8 | bytes[len];
    return n;
}

int npy_read(const void *bytes, size_t len, struct npy *out,
             char why[NPY_WHY_BYTES])
{
    const unsigned char *file = bytes;
    struct header header = { .out = out, .why = why };
    size_t lead, text, data;
    uint64_t want;

    *out = (struct npy){ .count = 0 };
    if (len < MAGIC_BYTES + 2 || memcmp(file, MAGIC, MAGIC_BYTES) != 0)
        return flaw(why, "it is not a .npy file, as numpy.save() writes it");
    if ((file[6] != 1 && file[6] != 2) || file[7] != 0)
        return flaw(why, "its format is %d.%d; 1.0 and 2.0 are read", file[6],
                    file[7]);
    lead = file[6] == 1 ? 10 : 12;
    text = len < lead ? 0 : length_of(file + 8, lead - 8);
    if (len < lead || len - lead < text)
        return flaw(why, "it ends within its header");
    header.at = (const char *)file + lead;
    header.end = header.at + text;
    if (read_header(&header) < 0)
        return ERR_INPUT;
    out->at = lead + text;
    data = len - out->at;
    want = (uint64_t)out->count * out->item_bytes;
    if (data < want)
        return flaw(why,
                    "it is truncated: its shape needs %llu bytes of elements, "
                    "and it has %zu",
                    (unsigned long long)want, data);
    if (data > want)
        return flaw(why, "it has %llu bytes after its last element",
                    (unsigned long long)(data - want));
    return 0;
}

int npy_check_type(const struct npy *npy, const char *type,
                   char why[NPY_WHY_BYTES])
{
    static const struct {
        const char *type, *descr;
    } types[] = { { "fp16", "<f2" }, { "bf16", "<V2" }, { "fp32", "<f4" },
                  { "fp64", "<f8" }, { "int8", "|i1" }, { "int32", "<i4" },
                  { "int64", "<i8" } };
    size_t i = 0;

    while (strcmp(types[i].type, type) != 0)
        i++;
    /* The order of one byte, and of what has no number, may be left out. */
    if (strcmp(types[i].descr + 1, npy->descr + 1) == 0)
        return 0;
    if (types[i].descr[1] == 'V')
        return flaw(why,
                    "its elements are '%s'; those of bf16 are 'V2', as "
                    "ml_dtypes.bfloat16 saves them",
                    npy->descr);
    return flaw(why,
                "its elements are '%s', and those of %s '%s'; save it with "
                ".astype('%s')",
                npy->descr, type, types[i].descr, types[i].descr);
}
