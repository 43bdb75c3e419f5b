/* json_scan.h - the strict pass in front of cJSON; private to json.c */
#ifndef FA_COORDINATOR_TEXT_JSON_SCAN_H
#define FA_COORDINATOR_TEXT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "coordinator/text/caret.h"

struct err;

/* Where a value starts, and its key if it has one. */
struct json_place {
    size_t at, key_at;
    bool whole; /* a number without point and exponent */
};

struct json_scan {
    struct caret_text source;
    char *plain; /* the text with comments blanked, a NUL after it */
    struct json_place *places; /* of all values, in the order they begin */
    size_t n, cap;
};

/* Check the whole text.  Returns 0 or ERR_INPUT; the caller frees 'plain' and
 * 'places' either way. */
int json_scan(struct json_scan *scan, struct err *err);

#endif
