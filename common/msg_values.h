/* msg_values.h - the values of a message's fields that are more than a number
 * or a text: bytes, and arrays
 *
 * They borrow what they point to; the function that fills one says for how
 * long it is valid.
 */
#ifndef FA_COMMON_MSG_VALUES_H
#define FA_COMMON_MSG_VALUES_H

#include <stddef.h>

struct bytes {
    const void *data;
    size_t len;
};

struct texts {
    const char *const *items;
    size_t n;
};

struct blobs {
    const struct bytes *items;
    size_t n;
};

struct reals {
    const double *items;
    size_t n;
};

#endif
