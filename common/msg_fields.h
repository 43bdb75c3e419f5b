/* msg_fields.h - the vocabulary of the messages: every field, and which of them
 * each message has (docs/protocol.md)
 *
 * For msg.c, which writes and reads by it.  Immutable; any thread.
 */
#ifndef FA_COMMON_MSG_FIELDS_H
#define FA_COMMON_MSG_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/msg.h"

enum field_kind {
    FIELD_INT,
    FIELD_REAL,
    FIELD_TEXT,
    FIELD_TEXTS,
    FIELD_BYTES,
    FIELD_BLOBS,
    FIELD_REALS
};

#define MSG_ANY_SIZE INT64_MAX /* of a number: up to infinity */

/* A field is the same in every message that has it.
 * 'max' is the largest length, count or number; a number is at least 0.  Where
 * it may be unknown, an INT may be -1, REALs and REALS may be NaN. */
struct msg_word {
    const char *name;
    int64_t max;
    bool unknown_ok;
};

/* A word in one message: where its struct has it, and as what. */
struct msg_field {
    const struct msg_word *word;
    enum field_kind kind;
    size_t offset; /* in struct msg */
    bool optional; /* left out while it is an empty text, no texts, or an
                    * unknown INT, and read as that */
};

/* The fields of a message, one after the other from 0; NULL after the last. */
const struct msg_field *msg_fields_of(enum msg_type type, size_t i);

#endif
