/* stored_params.h - the tunables of a configuration, from its stored JSON
 * object */
#ifndef FA_COORDINATOR_STORED_STORED_PARAMS_H
#define FA_COORDINATOR_STORED_STORED_PARAMS_H

#include <stddef.h>

struct err;

enum stored_param_type {
    STORED_PARAM_INTEGER,
    STORED_PARAM_REAL, /* also 1.0 */
    STORED_PARAM_BOOL,
    STORED_PARAM_TEXT
};

struct stored_param {
    char *name;
    enum stored_param_type type;
    double number; /* 0 or 1 for a bool */
    char *text;    /* as it is printed: 128, 0.5, true, fast */
};

struct stored_params {
    struct stored_param *items; /* in the order of the sweep file */
    size_t n;
};

/* ERR_STORE when the text is not a JSON object; a member that is one, or an
 * array, is "null". */
int stored_params_parse(const char *json, struct stored_params *out,
                        struct err *err);
void stored_params_fini(struct stored_params *params);
const struct stored_param *
stored_params_find(const struct stored_params *params, const char *name);
/* The same, quicker when it is the one at 'place'. */
const struct stored_param *
stored_params_find_at(const struct stored_params *params, size_t place,
                      const char *name);

#endif
