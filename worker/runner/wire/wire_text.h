/* wire_text.h - words, numbers and fields of a line; private to wire_*.c
 *
 * A table of fields describes a message.  A field reads its value from the rest
 * of the line after "key ", and has a phrase that says what it expects, for
 * error messages.
 */
#ifndef FA_WORKER_RUNNER_WIRE_WIRE_TEXT_H
#define FA_WORKER_RUNNER_WIRE_WIRE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "worker/runner/wire/wire_reply.h"
#include "worker/runner/wire/wire_request.h"

struct wire_field {
    const char *key;
    bool (*read)(void *message, char *rest); /* may cut up 'rest' */
    const char *expects;
    bool optional, repeats;
};

/* Read one line with the table 'fields' [n <= 62].  Bit i of *seen is field
 * i. */
enum wire_step wire_field_line(const struct wire_field *fields, size_t n,
                               void *message, uint64_t *seen, char *line,
                               char why[WIRE_WHY_MAX]);
/* At the empty line: is a field missing? */
enum wire_step wire_field_end(const struct wire_field *fields, size_t n,
                              uint64_t seen, char why[WIRE_WHY_MAX]);

/* Cut the next word off *rest; NULL at the end, or if two spaces follow each
 * other. */
char *wire_word(char **rest);

bool wire_read_u64(const char *word, uint64_t max, uint64_t *out);
bool wire_read_i64(const char *word, int64_t *out);
bool wire_read_real(const char *word, double *out); /* "nan", "inf" too */
bool wire_read_name(const char *word, char *out, size_t size);
bool wire_read_path(const char *word, char *out, size_t size);
bool wire_read_text(const char *rest, char *out, size_t size);
/* The index of 'word' in names [n], or -1. */
int wire_read_choice(const char *word, const char *const *names, int n);

void wire_put_path(FILE *stream, const char *path);
void wire_put_text(FILE *stream, const char *key, const char *text);
void wire_put_real(FILE *stream, double value); /* with a space in front */
int wire_put_end(FILE *stream);                 /* the empty line; 0 or -1 */

extern const char *const wire_type_names[ELEMENT_TYPES];
extern const char *const wire_edge_names[EDGES];
extern const char *const wire_rule_names[TOLERANCE_RULES];
extern const char *const wire_fill_names[FILL_KINDS];
extern const char *const wire_sampling_names[WIRE_UNSTABLE + 1];

#endif
