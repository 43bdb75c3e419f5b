#include "coordinator/text/json_stream.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"

#define CHUNK 65536
#define NUMBER_MAX 64 /* characters */
#define NOTHING (-1)  /* no byte: the file ends */

/* What may come next inside the innermost container. */
enum expect {
    VALUE,
    FIRST_OR_CLOSE,
    COMMA_OR_CLOSE,
    AFTER_KEY,
    NOTHING_MORE
};

struct json_stream {
    char *path;
    gzFile file;
    unsigned char chunk[CHUNK];
    int at, n;   /* in the chunk */
    bool broken; /* reading failed; gzerror() has the reason */
    int line;
    char open[JSON_STREAM_DEPTH]; /* '{' or '[' */
    int depth;
    enum expect expect;
    struct buf text;
    unsigned half; /* of a surrogate pair, the first; or 0 */
    double number;
};

static int peek(struct json_stream *stream)
{
    if (stream->at == stream->n && !stream->broken) {
        stream->n = gzread(stream->file, stream->chunk, CHUNK);
        stream->at = 0;
        if (stream->n < 0) {
            stream->broken = true;
            stream->n = 0;
        }
    }
    return stream->at < stream->n ? stream->chunk[stream->at] : NOTHING;
}

/* A byte order mark, at the beginning of the file. */
static void skip_mark(struct json_stream *stream)
{
    static const unsigned char mark[] = { 0xef, 0xbb, 0xbf };

    if (peek(stream) == mark[0] && stream->n - stream->at >= 3 &&
        memcmp(stream->chunk + stream->at, mark, sizeof(mark)) == 0)
        stream->at += 3;
}

int json_stream_open(const char *path, struct json_stream **out,
                     struct err *err)
{
    struct json_stream *stream;
    gzFile file = NULL;
    struct stat stat_of;

    if (stat(path, &stat_of) == 0 && S_ISDIR(stat_of.st_mode))
        return err_set(err, ERR_INPUT, "%s is a folder; name a file in it",
                       path);
    file = gzopen(path, "rbe");
    if (!file)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    stream = mem_new(1, sizeof(*stream));
    stream->path = mem_strdup(path);
    stream->file = file;
    stream->line = 1;
    stream->expect = VALUE;
    buf_init(&stream->text, JSON_STREAM_TEXT_MAX);
    skip_mark(stream);
    *out = stream;
    return 0;
}

void json_stream_close(struct json_stream *stream)
{
    if (!stream)
        return;
    gzclose(stream->file);
    buf_fini(&stream->text);
    free(stream->path);
    free(stream);
}

int json_stream_flaw(const struct json_stream *stream, struct err *err,
                     const char *fmt, ...)
{
    char what[600];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return err_set(err, ERR_INPUT, "%s:%d: %s", stream->path, stream->line,
                   what);
}

static int take(struct json_stream *stream)
{
    int c = peek(stream);

    if (c != NOTHING)
        stream->at++;
    if (c == '\n')
        stream->line++;
    return c;
}

/* The end of the file, or an error if reading failed. */
static int at_end(struct json_stream *stream, enum json_token *token,
                  struct err *err)
{
    int code;
    const char *why = gzerror(stream->file, &code);

    if (code != Z_OK && code != Z_STREAM_END)
        return err_set(err, code == Z_ERRNO ? ERR_SYSTEM : ERR_INPUT,
                       "%s:%d: the gzip file is damaged or cut off: %s",
                       stream->path, stream->line,
                       code == Z_ERRNO ? strerror(errno) : why);
    *token = JSON_STREAM_END;
    return 0;
}

/* 'code' is no surrogate. */
static void add_utf8(struct buf *text, unsigned code)
{
    char bytes[4];
    size_t n = 0;

    if (code < 0x80) {
        bytes[n++] = (char)code;
    } else if (code < 0x800) {
        bytes[n++] = (char)(0xc0 | (code >> 6));
        bytes[n++] = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        bytes[n++] = (char)(0xe0 | (code >> 12));
        bytes[n++] = (char)(0x80 | ((code >> 6) & 0x3f));
        bytes[n++] = (char)(0x80 | (code & 0x3f));
    } else {
        bytes[n++] = (char)(0xf0 | (code >> 18));
        bytes[n++] = (char)(0x80 | ((code >> 12) & 0x3f));
        bytes[n++] = (char)(0x80 | ((code >> 6) & 0x3f));
        bytes[n++] = (char)(0x80 | (code & 0x3f));
    }
    buf_add(text, bytes, n);
}

/* The first half of a surrogate pair that nothing followed becomes U+FFFD. */
static void end_half(struct json_stream *stream)
{
    if (stream->half)
        add_utf8(&stream->text, 0xfffd);
    stream->half = 0;
}

/* A code unit of UTF-16. */
static void add_unit(struct json_stream *stream, unsigned unit)
{
    bool second = unit >= 0xdc00 && unit <= 0xdfff;

    if (second && stream->half) {
        add_utf8(&stream->text,
                 0x10000 + ((stream->half - 0xd800) << 10) + (unit - 0xdc00));
        stream->half = 0;
        return;
    }
    end_half(stream);
    if (unit >= 0xd800 && unit < 0xdc00)
        stream->half = unit;
    else
        add_utf8(&stream->text, second ? 0xfffd : unit);
}

/* After a backslash. */
static int read_escape(struct json_stream *stream, struct err *err)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int c = take(stream);
    const char *known = c > 0 ? strchr(from, c) : NULL;
    unsigned code = 0;

    if (known) {
        end_half(stream);
        buf_add(&stream->text, &to[known - from], 1);
        return 0;
    }
    if (c == NOTHING)
        return 0;
    if (c != 'u')
        return json_stream_flaw(stream, err, "unknown escape '\\%c'", c);
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit;

        c = take(stream);
        if (c == NOTHING)
            return 0;
        digit =
            c > 0 ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
        if (!digit)
            return json_stream_flaw(stream, err, "\\u needs four hex digits");
        code = code * 16 + (unsigned)(digit - digits);
    }
    if (code == 0)
        return json_stream_flaw(stream, err, "a NUL in a text");
    add_unit(stream, code);
    return 0;
}

/* After the opening quote.  'whole' is set to false if the file ends first. */
static int spec_read_text(struct json_stream *stream, bool *whole,
                          struct err *err)
{
    buf_clear(&stream->text);
    for (;;) {
        int c = take(stream), rc = 0;
        char byte = (char)c;

        *whole = c == '"';
        if (c != '\\')
            end_half(stream);
        if (c == '"' || c == NOTHING)
            break;
        if (c < 0x20)
            return json_stream_flaw(stream, err,
                                    "a text does not end on its line");
        if (c == '\\')
            rc = read_escape(stream, err);
        else
            buf_add(&stream->text, &byte, 1);
        if (rc < 0)
            return rc;
        if (stream->text.truncated)
            return json_stream_flaw(stream, err,
                                    "a text has more than %d bytes",
                                    JSON_STREAM_TEXT_MAX);
    }
    return 0;
}

/* A number or a word: everything up to the next separator. */
static int read_bare(struct json_stream *stream, enum json_token *token,
                     struct err *err)
{
    const char *text;
    char *end;
    int c;

    buf_clear(&stream->text);
    while ((c = peek(stream)) != NOTHING && c > ' ' && !strchr(",:[]{}\"", c)) {
        char byte = (char)c;

        if (stream->text.len == NUMBER_MAX)
            return json_stream_flaw(stream, err, "a number or word too long");
        buf_add(&stream->text, &byte, 1);
        take(stream);
    }
    text = buf_text(&stream->text);
    if (c == NOTHING && stream->depth > 0)
        return at_end(stream, token, err); /* cut off: its value is unknown */
    *token = JSON_STREAM_WORD;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ||
        strcmp(text, "null") == 0)
        return 0;
    *token = JSON_STREAM_NUMBER;
    stream->number = strtod(text, &end);
    if (*text == '\0' && (c < ' ' || c >= 0x7f))
        return json_stream_flaw(stream, err, "the byte 0x%02x is not JSON", c);
    if (*text == '\0' || *end != '\0' || strchr("+.xX", *text))
        return json_stream_flaw(stream, err, "'%.40s' is not JSON",
                                *text ? text : (char[]){ (char)c, '\0' });
    return 0;
}

static int open_container(struct json_stream *stream, int c,
                          enum json_token *token, struct err *err)
{
    if (stream->depth == JSON_STREAM_DEPTH)
        return json_stream_flaw(stream, err,
                                "the file is more than %d levels deep",
                                JSON_STREAM_DEPTH);
    stream->open[stream->depth++] = (char)c;
    stream->expect = FIRST_OR_CLOSE;
    *token = c == '{' ? JSON_STREAM_OPEN_OBJECT : JSON_STREAM_OPEN_ARRAY;
    return 0;
}

static void value_is_over(struct json_stream *stream)
{
    stream->expect = stream->depth > 0 ? COMMA_OR_CLOSE : NOTHING_MORE;
}

static int close_container(struct json_stream *stream, int c,
                           enum json_token *token, struct err *err)
{
    char open = stream->depth > 0 ? stream->open[stream->depth - 1] : '\0';

    if ((c == '}') != (open == '{') || open == '\0')
        return json_stream_flaw(stream, err, "'%c' closes nothing", c);
    stream->depth--;
    *token = c == '}' ? JSON_STREAM_CLOSE_OBJECT : JSON_STREAM_CLOSE_ARRAY;
    value_is_over(stream);
    return 0;
}

static int skip_blanks(struct json_stream *stream)
{
    int c;

    while ((c = peek(stream)) == ' ' || c == '\t' || c == '\n' || c == '\r')
        take(stream);
    return c;
}

static int read_key(struct json_stream *stream, enum json_token *token,
                    struct err *err)
{
    bool whole;
    int rc;

    take(stream);
    rc = spec_read_text(stream, &whole, err);
    if (rc < 0)
        return rc;
    if (!whole || skip_blanks(stream) == NOTHING)
        return at_end(stream, token, err);
    if (take(stream) != ':')
        return json_stream_flaw(stream, err, "no ':' after \"%.40s\"",
                                buf_text(&stream->text));
    stream->expect = AFTER_KEY;
    *token = JSON_STREAM_KEY;
    return 0;
}

static int read_value(struct json_stream *stream, int c, enum json_token *token,
                      struct err *err)
{
    bool whole;
    int rc;

    if (c == '{' || c == '[') {
        take(stream);
        return open_container(stream, c, token, err);
    }
    if (c == '"') {
        take(stream);
        *token = JSON_STREAM_TEXT;
        rc = spec_read_text(stream, &whole, err);
        if (rc == 0 && !whole)
            return at_end(stream, token, err);
    } else {
        rc = read_bare(stream, token, err);
    }
    value_is_over(stream);
    return rc;
}

int json_stream_next(struct json_stream *stream, enum json_token *token,
                     struct err *err)
{
    bool in_object =
        stream->depth > 0 && stream->open[stream->depth - 1] == '{';
    int c = skip_blanks(stream);

    if (c == NOTHING)
        return at_end(stream, token, err);
    if (stream->expect == NOTHING_MORE)
        return json_stream_flaw(stream, err, "'%c' after the end", c);
    if ((c == '}' || c == ']') && (stream->expect == FIRST_OR_CLOSE ||
                                   stream->expect == COMMA_OR_CLOSE)) {
        take(stream);
        return close_container(stream, c, token, err);
    }
    if (stream->expect == COMMA_OR_CLOSE) {
        if (c != ',')
            return json_stream_flaw(stream, err, "'%c' where a ',' belongs", c);
        take(stream);
        c = skip_blanks(stream);
        if (c == NOTHING)
            return at_end(stream, token, err);
        stream->expect = VALUE;
    }
    if (!in_object || stream->expect == AFTER_KEY)
        return read_value(stream, c, token, err);
    if (c != '"')
        return json_stream_flaw(stream, err, "'%c' where a key belongs", c);
    return read_key(stream, token, err);
}

int json_stream_skip(struct json_stream *stream, enum json_token token,
                     struct err *err)
{
    int depth = stream->depth - 1, rc = 0;

    if (token != JSON_STREAM_OPEN_OBJECT && token != JSON_STREAM_OPEN_ARRAY)
        return 0;
    while (rc == 0 && stream->depth > depth && token != JSON_STREAM_END)
        rc = json_stream_next(stream, &token, err);
    return rc;
}

const char *json_stream_text(const struct json_stream *stream)
{
    return buf_text(&stream->text);
}

double json_stream_number(const struct json_stream *stream)
{
    return stream->number;
}

int json_stream_depth(const struct json_stream *stream)
{
    return stream->depth;
}
