/* json.h - strict JSON for files that people write, with positions
 *
 * RFC 8259 with comments, // and between slash-stars.  Refused: duplicate keys,
 * bytes that are not UTF-8, NUL, more than JSON_DEPTH levels, whole numbers
 * beyond 2^53, numbers that are not finite.  Every value has the offset of its
 * first byte, so that a message can point at it.
 * Immutable once parsed; any thread may read it.
 */
#ifndef FA_COORDINATOR_TEXT_JSON_H
#define FA_COORDINATOR_TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct json_doc;

#define JSON_BYTES_MAX (8 << 20)
#define JSON_DEPTH 64
#define JSON_VALUES_MAX 1000000
#define JSON_INTEGER_MAX 9007199254740992.0 /* 2^53 */

enum json_kind {
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_TEXT,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json {
    enum json_kind kind;
    size_t at;       /* offset of its first byte */
    const char *key; /* of a member of an object, otherwise NULL */
    size_t key_at;
    bool truth;
    bool whole; /* a number without point and exponent */
    double number;
    const char *text;   /* without NUL bytes inside */
    struct json *items; /* of an array or object, in order */
    size_t n;
};

/* 'file' is for messages.  The text is not kept.  Returns 0 and a document
 * (call json_free()), or ERR_INPUT with file, line and column. */
int json_parse(const char *file, const char *text, size_t len,
               struct json_doc **out, struct err *err);
void json_free(struct json_doc *doc); /* NULL is fine */

/* Its contents live as long as the document. */
const struct json *json_root(const struct json_doc *doc);
const struct json *json_find(const struct json *object, const char *key);
const char *json_kind_name(enum json_kind kind); /* "a number" */

#endif
