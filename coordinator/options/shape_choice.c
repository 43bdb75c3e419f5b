#include "coordinator/options/shape_choice.h"

#include <string.h>

#include "common/err.h"
#include "coordinator/spec/spec.h"
#include "coordinator/options/options.h"
#include "coordinator/text/suggest.h"

static const struct spec_shape *find(const struct spec_shape *list, size_t n,
                                     const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

static int unknown(const struct spec_shape *list, size_t n, const char *name,
                   const char *where, const char *hint, struct err *err)
{
    const char *names[SPEC_SHAPES_MAX], *near;

    for (size_t i = 0; i < n; i++)
        names[i] = list[i].name;
    near = suggest_name(name, strlen(name), names, n);
    return err_set(err, ERR_INPUT,
                   "--shape: there is no shape '%.64s' %s%s%s%s", name, where,
                   near ? "; did you mean '" : hint, near ? near : "",
                   near ? "'?" : "");
}

int shape_choice(const struct spec_shape *list, size_t n,
                 const struct option_list *names, const char *where,
                 const char *hint, struct spec_shape *out, struct err *err)
{
    for (size_t i = 0; i < names->n; i++) {
        const char *name = names->items[i];
        const struct spec_shape *shape = find(list, n, name);

        if (!shape)
            return unknown(list, n, name, where, hint, err);
        if (find(out, i, name))
            return err_set(err, ERR_INPUT, "--shape: '%.64s' is given twice",
                           name);
        out[i] = *shape;
    }
    return 0;
}
