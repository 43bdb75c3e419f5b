/* t1_member.h - members of a T1 file, however they are spelled
 *
 * The files of BAT have "KernelSpecification" and "kernelSpecification",
 * "Conditions" and "constraints".  A member is found by the name of the schema,
 * then without regard to case and '_', then by an older name.
 */
#ifndef FA_COORDINATOR_PROBLEM_T1_MEMBER_H
#define FA_COORDINATOR_PROBLEM_T1_MEMBER_H

#include <stdbool.h>

struct json;

/* A member of an object, or NULL; a missing object has none. */
const struct json *t1_member(const struct json *object, const char *key);
/* The same but for case and '_'. */
bool t1_same_key(const char *key, const char *other);

const char *t1_text(const struct json *value); /* NULL: it is no text */
/* Whether it is that text, whatever its case. */
bool t1_is_text(const struct json *value, const char *text);

#endif
