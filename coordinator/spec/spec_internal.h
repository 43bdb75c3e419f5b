/* spec_internal.h - the parts of a sweep file, from JSON; private to spec*.c
 *
 * Every function returns 0 or ERR_INPUT with the place in the message.
 */
#ifndef FA_COORDINATOR_SPEC_SPEC_INTERNAL_H
#define FA_COORDINATOR_SPEC_SPEC_INTERNAL_H

#include "coordinator/spec/spec.h"
#include "coordinator/text/json.h"

struct reader {
    struct spec *spec;
    struct err *err;
};

/* Report an error at a value. */
int spec_read_flaw(const struct reader *r, size_t at, const char *why,
                   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Is 'json' an object with only these keys?  'what' names it. */
int spec_read_object(const struct reader *r, const struct json *json,
                     const char *what, const char *const *keys, size_t n);
/* The member 'key' of this kind; ERR_INPUT if it is missing or of another kind.
 * If 'needed' is false, a missing member is NULL. */
int spec_read_member(const struct reader *r, const struct json *object,
                     const char *key, enum json_kind kind, bool needed,
                     const struct json **out);
/* A copy of a text that 'flaw_of' accepts. */
int spec_read_text(const struct reader *r, const struct json *json,
                   const char *(*flaw_of)(const char *), const char *what,
                   char **out);
int spec_read_rule(const struct reader *r, const struct json *json,
                   const char *what, struct spec_rule *out);
/* One of several words; '*out' is unchanged if the key is missing. */
int spec_read_word(const struct reader *r, const struct json *object,
                   const char *key, const char *const *words, size_t n,
                   const char **out);
/* Numbers from 'least' to 'most'; '*out' is unchanged if the key is missing. */
int spec_read_whole(const struct reader *r, const struct json *object,
                    const char *key, double least, double most, int64_t *out);
int spec_read_real(const struct reader *r, const struct json *object,
                   const char *key, double least, double most, double *out);

int spec_read_axes(struct reader *r, const struct json *root); /* spec_axes.c */
int spec_read_baseline(struct reader *r,
                       const struct json *root); /* spec_axes.c */
int spec_read_rules(struct reader *r,
                    const struct json *root); /* spec_rules.c */
int spec_read_launch(struct reader *r, const struct json *object,
                     struct spec_launch *out); /* spec_rules.c */
int spec_read_shapes(struct reader *r,
                     const struct json *root); /* spec_shapes.c */
int spec_read_arguments(struct reader *r,
                        const struct json *root); /* spec_work.c */
/* spec_check.c: of an argument whose fill is known; of "measure" */
int spec_read_infinities(struct reader *r, const struct json *json,
                         struct spec_argument *out);
int spec_read_trials(struct reader *r, const struct json *measure);
/* spec_check.c: of one argument, whose type is known; of the sweep, after
 * the arguments. */
int spec_read_tolerance_of(struct reader *r, const struct json *json,
                           struct spec_argument *out);
int spec_read_tolerance(struct reader *r, const struct json *root);
int spec_read_external(struct reader *r,
                       const struct json *root); /* spec_external.c */
/* spec_confirm.c; after the external baselines */
int spec_read_confirm(struct reader *r, const struct json *root);
int spec_read_search(struct reader *r,
                     const struct json *root); /* spec_search.c */

/* Is the name new?  SQL does not tell upper case from lower. */
int spec_read_new_name(const struct reader *r, const char *name, size_t at);

#endif
