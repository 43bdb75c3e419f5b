/* spec_rule.h - expressions of a sweep file, with or without a name
 */
#ifndef FA_COORDINATOR_SPEC_SPEC_RULE_H
#define FA_COORDINATOR_SPEC_SPEC_RULE_H

#include <stddef.h>

#define SPEC_NAME_MAX 64 /* bytes of a name */
#define SPEC_LIST_MAX 64 /* derived, gates, arguments, metrics, floors */

/* A SQL expression; 'at' is the offset of its string, for spec_err_in(). */
struct spec_rule {
    char *text; /* NULL: not given */
    size_t at;
};

struct spec_named {
    char *name;
    size_t at;
    struct spec_rule rule;
    char *unit; /* metrics; "" if none */
};

#endif
