/* json_out.h - writes JSON for programs, value by value
 *
 * One member a call, in order; 'key' is NULL inside an array.  Commas, line
 * breaks and escapes are added.  Text that is not UTF-8 is written as U+FFFD,
 * numbers that are not finite as null.
 */
#ifndef FA_COORDINATOR_TEXT_JSON_OUT_H
#define FA_COORDINATOR_TEXT_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_OUT_DEPTH 16

struct json_out {
    FILE *to;
    int depth;
    char closing[JSON_OUT_DEPTH]; /* '}' or ']' of each open container */
    bool comma;                   /* the next value needs a comma */
};

void json_out_init(struct json_out *out, FILE *to);

/* An object '{' or array '[', and its end. The last end adds a line feed. */
void json_out_open(struct json_out *out, const char *key, char opening);
void json_out_close(struct json_out *out);

void json_out_text(struct json_out *out, const char *key, const char *text);
void json_out_int(struct json_out *out, const char *key, int64_t number);
void json_out_real(struct json_out *out, const char *key, double number);
void json_out_bool(struct json_out *out, const char *key, bool truth);
void json_out_null(struct json_out *out, const char *key);
/* An instant, ISO 8601 UTC; null for 0. */
void json_out_utc(struct json_out *out, const char *key, int64_t utc_ns);
/* [lo, hi]; null unless both are finite. */
void json_out_interval(struct json_out *out, const char *key, double lo,
                       double hi);
/* Text that is JSON already. */
void json_out_raw(struct json_out *out, const char *key, const char *json);

#endif
