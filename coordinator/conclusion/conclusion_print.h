/* conclusion_print.h - a conclusion in words, tables and JSON
 */
#ifndef FA_COORDINATOR_CONCLUSION_CONCLUSION_PRINT_H
#define FA_COORDINATOR_CONCLUSION_CONCLUSION_PRINT_H

#include <stdio.h>

struct conclusion;
struct conclusion_shape;
struct json_out;

/* The sentence of a shape (NULL: of the whole) with other names of the entries,
 * [n]; NULL if it has none.  The caller frees it. */
char *conclusion_sentence_of(const struct conclusion *conclusion,
                             const struct conclusion_shape *shape,
                             const char *const *names);

/* For people: a sentence a shape; who was compared or rejected, and how. */
void conclusion_sentences_print(const struct conclusion *conclusion, FILE *to);
void conclusion_tables_print(const struct conclusion *conclusion, FILE *to);
void conclusion_print(const struct conclusion *conclusion, FILE *to);
/* For programs: an object under 'key' (docs/report.md). */
void conclusion_json(const struct conclusion *conclusion, struct json_out *out,
                     const char *key);

#endif
