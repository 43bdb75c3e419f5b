/* json_stream.h - reads JSON that is too big for a tree, gzip or plain
 *
 * It returns one token at a time.  Memory does not grow with the file: a text
 * is at most JSON_STREAM_TEXT_MAX bytes, nesting at most JSON_STREAM_DEPTH.
 * Grammar is checked on the way; NaN and Infinity are accepted, because Python
 * writes them.  A file that stops early is not an error here: a depth above 0
 * at JSON_STREAM_END shows it.
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_TEXT_JSON_STREAM_H
#define FA_COORDINATOR_TEXT_JSON_STREAM_H

#include <stdbool.h>

struct err;
struct json_stream;

#define JSON_STREAM_TEXT_MAX 65535
#define JSON_STREAM_DEPTH 32

enum json_token {
    JSON_STREAM_END,
    JSON_STREAM_OPEN_OBJECT,
    JSON_STREAM_CLOSE_OBJECT,
    JSON_STREAM_OPEN_ARRAY,
    JSON_STREAM_CLOSE_ARRAY,
    JSON_STREAM_KEY, /* text; a value follows */
    JSON_STREAM_TEXT,
    JSON_STREAM_NUMBER,
    JSON_STREAM_WORD, /* text is true, false or null */
};

/* ERR_SYSTEM when it cannot be read. */
int json_stream_open(const char *path, struct json_stream **out,
                     struct err *err);
void json_stream_close(struct json_stream *stream); /* NULL is fine */

/* ERR_INPUT with file and line if it is not JSON or exceeds a limit, ERR_SYSTEM
 * if reading fails.  'token' has the values of the last token. */
int json_stream_next(struct json_stream *stream, enum json_token *token,
                     struct err *err);
/* After OPEN: skip to the matching CLOSE, or to END. After any other token: do
 * nothing. */
int json_stream_skip(struct json_stream *stream, enum json_token token,
                     struct err *err);

const char *json_stream_text(const struct json_stream *stream);
double json_stream_number(const struct json_stream *stream);
int json_stream_depth(const struct json_stream *stream);

/* ERR_INPUT, "file:line: what". */
int json_stream_flaw(const struct json_stream *stream, struct err *err,
                     const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
