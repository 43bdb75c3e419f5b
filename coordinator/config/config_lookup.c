#include "coordinator/config/config_lookup.h"

#include <string.h>

#include "coordinator/spec/spec.h"
#include "coordinator/stored/stored_params.h"

static bool is_same(const struct value *value, const struct stored_param *param)
{
    if (value->kind == VALUE_TEXT)
        return param->type == STORED_PARAM_TEXT &&
               strcmp(value->text, param->text) == 0;
    return (value->kind == VALUE_BOOL) == (param->type == STORED_PARAM_BOOL) &&
           param->type != STORED_PARAM_TEXT &&
           value_number(value) == param->number;
}

/* Index of the value among those of the tunable, or -1. */
static int64_t place_of(const struct spec_axis *axis,
                        const struct stored_param *param)
{
    for (size_t i = 0; i < axis->n; i++)
        if (is_same(&axis->values[i], param))
            return (int64_t)i;
    return -1;
}

int64_t config_lookup_number(const struct spec *spec, const char *params)
{
    struct stored_params parsed;
    int64_t number = 0;

    if (stored_params_parse(params, &parsed, NULL) < 0)
        return -1;
    if (parsed.n != spec->space.n_axes)
        number = -1;
    for (size_t i = 0; number >= 0 && i < spec->space.n_axes; i++) {
        const struct spec_axis *axis = &spec->space.axes[i];
        const struct stored_param *param =
            stored_params_find(&parsed, axis->name);
        int64_t place = param ? place_of(axis, param) : -1;

        number = place < 0 ? -1 : number * (int64_t)axis->n + place;
    }
    stored_params_fini(&parsed);
    return number;
}
