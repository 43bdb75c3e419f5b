#include "coordinator/config/config.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/spec/spec.h"
#include "coordinator/text/suggest.h"

#define TEXT_MAX (1 << 20)   /* more than 64 names and values can need */
#define REMARK_MAX 65536     /* of one value, and of those of a tunable */
#define NAMES_LISTED_MAX 200 /* bytes of names of tunables */
#define LISTED_MAX 40 /* bytes of values in a remark; then they are cut */

struct named {
    const char *name;
    const struct value *value;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;

    return strcmp(x->name, y->name);
}

void config_canonical(const struct spec *spec, const struct value *values,
                      struct buf *out)
{
    struct named sorted[SPEC_AXES_MAX] = { { NULL, NULL } };

    for (size_t i = 0; i < spec->space.n_axes; i++)
        sorted[i] = (struct named){ spec->space.axes[i].name, &values[i] };
    qsort(sorted, spec->space.n_axes, sizeof(sorted[0]), by_name);
    for (size_t i = 0; i < spec->space.n_axes; i++) {
        buf_str(out, sorted[i].name);
        buf_add(out, "=", 1);
        value_json(sorted[i].value, out);
        buf_add(out, "\n", 1);
    }
}

void config_key(const struct spec *spec, const struct value *values,
                char out[HASH_HEX])
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    config_canonical(spec, values, &text);
    hash_of(buf_text(&text), text.len, out);
    buf_fini(&text);
}

void config_json(const struct spec *spec, const struct value *values,
                 struct buf *out)
{
    buf_add(out, "{", 1);
    for (size_t i = 0; i < spec->space.n_axes; i++) {
        buf_str(out, i ? ", \"" : "\"");
        buf_str(out, spec->space.axes[i].name);
        buf_str(out, "\": ");
        value_json(&values[i], out);
    }
    buf_add(out, "}", 1);
}

void config_text(const struct spec *spec, const struct value *values,
                 struct buf *out)
{
    for (size_t i = 0; i < spec->space.n_axes; i++) {
        buf_printf(out, "%s%s=", i ? " " : "", spec->space.axes[i].name);
        value_text(&values[i], out);
    }
}

static bool is_identifier(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return !*text;
}

static void define(const char *name, const struct value *value, struct buf *out)
{
    buf_str(out, "#define ");
    buf_str(out, name);
    buf_add(out, " ", 1);
    if (value->kind == VALUE_TEXT)
        value_json(value, out);
    else if (value->kind == VALUE_REAL)
        buf_printf(out, "%.17g%s", value->real,
                   value->real == floor(value->real) && fabs(value->real) < 1e17
                       ? ".0"
                       : "");
    else
        value_sql(value, out);
    buf_add(out, "\n", 1);
    if (value->kind == VALUE_TEXT && is_identifier(value->text))
        buf_printf(out, "#define %s_%s 1\n", name, value->text);
}

void config_header(const struct spec *spec, const struct value *values,
                   const struct value *derived, struct buf *out)
{
    for (size_t i = 0; i < spec->space.n_axes; i++)
        define(spec->space.axes[i].name, &values[i], out);
    for (size_t i = 0; i < spec->space.n_derived; i++)
        define(spec->space.derived[i].name, &derived[i], out);
}

static void say_names(const char *const *names, size_t n, struct buf *out)
{
    size_t i = 0;

    (void)buf_str(out, "; the sweep has ");
    for (; i < n && out->len < NAMES_LISTED_MAX; i++)
        buf_printf(out, "%s%s", i ? ", " : "", names[i]);
    if (i < n)
        (void)buf_str(out, ", ...");
}

static int find_axis(const struct spec *spec, const char *name, size_t len,
                     struct err *err)
{
    const char *names[SPEC_AXES_MAX];
    char ending[SUGGEST_BYTES];
    struct buf list;
    int rc;

    for (size_t i = 0; i < spec->space.n_axes; i++) {
        names[i] = spec->space.axes[i].name;
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
            return (int)i;
    }
    buf_init(&list, TEXT_MAX);
    if (!*suggest_ending(name, len, names, spec->space.n_axes, ending))
        say_names(names, spec->space.n_axes, &list);
    rc = err_set(err, ERR_INPUT, "there is no tunable '%.*s'%s%s",
                 (int)(len < 64 ? len : 64), name, ending, buf_text(&list));
    buf_fini(&list);
    return rc;
}

static bool read_value(const struct spec_axis *axis, const char *text,
                       struct value *out)
{
    char *end;

    *out = (struct value){ .kind = axis->kind, .text = text };
    errno = 0;
    switch (axis->kind) {
    case VALUE_INT:
        out->integer = strtoll(text, &end, 10);
        return end > text && !*end && !errno &&
               llabs(out->integer) <= INT64_C(1) << 53;
    case VALUE_REAL:
        out->real = strtod(text, &end);
        return end > text && !*end && isfinite(out->real);
    case VALUE_BOOL:
        out->integer = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
        return out->integer || strcmp(text, "false") == 0 ||
               strcmp(text, "0") == 0;
    default:
        return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv"
                            "wxyz0123456789_.:+-") == strlen(text);
    }
}

static int take_pair(const struct spec *spec, const char *pair, bool *given,
                     struct value *values, struct err *err)
{
    static const char *const kinds[] = { "a whole number", "a number",
                                         "true or false", "a text" };
    static const char *const bools[] = { "true", "false" };
    char ending[SUGGEST_BYTES];
    const char *equals = strchr(pair, '=');
    int axis;

    if (!equals)
        return err_set(err, ERR_INPUT,
                       "'%.64s' is neither NAME=VALUE nor the first digits of "
                       "a key",
                       pair);
    axis = find_axis(spec, pair, (size_t)(equals - pair), err);
    if (axis < 0)
        return axis;
    if (given[axis])
        return err_set(err, ERR_INPUT, "'%s' is given twice",
                       spec->space.axes[axis].name);
    given[axis] = true;
    if (read_value(&spec->space.axes[axis], equals + 1, &values[axis]))
        return 0;
    ending[0] = '\0';
    if (spec->space.axes[axis].kind == VALUE_BOOL)
        (void)suggest_ending(equals + 1, strlen(equals + 1), bools, 2, ending);
    return err_set(err, ERR_INPUT, "%s: '%.64s' is not %s%s",
                   spec->space.axes[axis].name, equals + 1,
                   kinds[spec->space.axes[axis].kind], ending);
}

/* 'given' is set for the tunables that the text names. */
static int take_pairs(const struct spec *spec, const char *text,
                      struct value *values, struct buf *text_out, bool *given,
                      struct err *err)
{
    char *rest, *pair;

    buf_clear(text_out);
    if (!buf_add(text_out, text, strlen(text) + 1))
        return err_set(err, ERR_INPUT, "this configuration is too long");
    rest = text_out->bytes;
    while ((pair = strsep(&rest, ", ")))
        if (*pair && take_pair(spec, pair, given, values, err) < 0)
            return ERR_INPUT;
    return 0;
}

int config_parse_over(const struct spec *spec, const char *text,
                      struct value *values, struct buf *text_out,
                      struct err *err)
{
    bool given[SPEC_AXES_MAX] = { false };

    return take_pairs(spec, text, values, text_out, given, err);
}

int config_parse(const struct spec *spec, const char *text,
                 struct value *values, struct buf *text_out, struct err *err)
{
    bool given[SPEC_AXES_MAX] = { false };

    if (take_pairs(spec, text, values, text_out, given, err) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < spec->space.n_axes; i++) {
        const struct spec_axis *axis = &spec->space.axes[i];

        if (given[i])
            continue;
        if (axis->n > 1)
            return err_set(err, ERR_INPUT,
                           "'%.64s' has no value for %s; a configuration names "
                           "all %zu tunables",
                           text, axis->name, spec->space.n_axes);
        values[i] = axis->values[0];
    }
    return 0;
}

static bool is_known(const struct spec *spec, size_t a,
                     const struct value *value)
{
    const struct spec_axis *axis = &spec->space.axes[a];

    if (value_equal(value, &spec->baseline.values[a]))
        return true;
    for (size_t i = 0; i < axis->n; i++)
        if (value_equal(value, &axis->values[i]))
            return true;
    return false;
}

/* The values of a tunable, as people write them; the first ones if there are
 * many. */
static void say_values(const struct spec_axis *axis, struct buf *out)
{
    size_t i = 0;

    for (; i < axis->n && out->len < LISTED_MAX; i++) {
        (void)buf_str(out, i ? ", " : "");
        value_text(&axis->values[i], out);
    }
    if (i < axis->n)
        (void)buf_str(out, ", ...");
}

static void say_unknown(const struct spec_axis *axis, const struct value *value,
                        struct err *out)
{
    const char **names = mem_new(axis->n, sizeof(*names)), *near;
    struct buf given, list;
    size_t n = 0;

    buf_init(&given, REMARK_MAX);
    buf_init(&list, REMARK_MAX);
    value_text(value, &given);
    for (size_t i = 0; axis->kind == VALUE_TEXT && i < axis->n; i++)
        names[n++] = axis->values[i].text;
    near = suggest_name(buf_text(&given), given.len, names, n);
    say_values(axis, &list);
    (void)err_set(out, ERR_INPUT, "the sweep has no %.64s=%.64s%s%.96s%s",
                  axis->name, buf_text(&given),
                  near ? "; did you mean '" : "; it has ",
                  near ? near : buf_text(&list), near ? "'?" : "");
    free(names);
    buf_fini(&given);
    buf_fini(&list);
}

void config_remark(const struct spec *spec, const struct value *values,
                   struct err *out)
{
    out->text[0] = '\0';
    for (size_t i = 0; i < spec->space.n_axes; i++)
        if (!is_known(spec, i, &values[i])) {
            say_unknown(&spec->space.axes[i], &values[i], out);
            return;
        }
}

bool config_is_key_prefix(const char *text)
{
    size_t len = strlen(text);

    return len >= 4 && len < HASH_HEX &&
           strspn(text, "0123456789abcdef") == len;
}
