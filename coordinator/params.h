/* params.h - the tunables of a configuration, from its stored JSON object */
#ifndef FA_COORDINATOR_PARAMS_H
#define FA_COORDINATOR_PARAMS_H

#include <stddef.h>

struct err;

enum param_type {
    PARAM_INTEGER,
    PARAM_REAL,
    PARAM_BOOL,
    PARAM_TEXT
};

struct param {
    char *name;
    enum param_type type;
    double number; /* 0 or 1 for a bool */
    char *text;    /* as it is printed: 128, 0.5, true, fast */
};

struct params {
    struct param *items; /* in the order of the sweep file */
    size_t n;
};

/* ERR_STORE when the text is not a JSON object; a member that is one, or an
 * array, is "null". */
int params_parse(const char *json, struct params *out, struct err *err);
void params_fini(struct params *params);
const struct param *params_find(const struct params *params, const char *name);
/* The same, quicker when it is the one at 'place'. */
const struct param *params_find_at(const struct params *params, size_t place,
                                   const char *name);

#endif
