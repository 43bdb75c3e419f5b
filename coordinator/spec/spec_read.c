#include "coordinator/spec/spec_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/text/caret.h"
#include "coordinator/text/decimal.h"
#include "coordinator/text/suggest.h"

#define RULE_MAX 8192 /* bytes of an expression */

int spec_read_flaw(const struct reader *r, size_t at, const char *why,
                   const char *fmt, ...)
{
    struct caret_text text = { r->spec->file.path, r->spec->file.text,
                               r->spec->file.len };
    va_list ap;
    int rc;

    va_start(ap, fmt);
    rc = caret_text_verr(r->err, &text, at, why, fmt, ap);
    va_end(ap);
    return rc;
}

static void add_words(struct buf *out, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s%s", i ? " " : "", words[i]);
}

/* "there is no X 'y'", with the known words. */
static int unknown_word(const struct reader *r, size_t at, const char *what,
                        const char *word, const char *const *words, size_t n)
{
    const char *near = suggest_name(word, strlen(word), words, n);
    struct buf why;
    int rc;

    buf_init(&why, 700);
    buf_printf(&why, "it is one of ");
    add_words(&why, words, n);
    if (near)
        buf_printf(&why, "; did you mean '%s'?", near);
    rc = spec_read_flaw(r, at, buf_text(&why), "%s '%.64s' is unknown", what,
                        word);
    buf_fini(&why);
    return rc;
}

int spec_read_object(const struct reader *r, const struct json *json,
                     const char *what, const char *const *keys, size_t n)
{
    if (json->kind != JSON_OBJECT)
        return spec_read_flaw(r, json->at, "write an object between { and }",
                              "%s is %s, not an object", what,
                              json_kind_name(json->kind));
    for (size_t i = 0; i < json->n; i++) {
        size_t k = 0;

        while (k < n && strcmp(keys[k], json->items[i].key) != 0)
            k++;
        if (k == n)
            return unknown_word(r, json->items[i].key_at, "key",
                                json->items[i].key, keys, n);
    }
    return 0;
}

int spec_read_member(const struct reader *r, const struct json *object,
                     const char *key, enum json_kind kind, bool needed,
                     const struct json **out)
{
    const struct json *json = json_find(object, key);

    *out = json;
    if (!json && needed)
        return spec_read_flaw(r, object->at, "see docs/sweep-file.md",
                              "the key '%s' is missing", key);
    if (json && json->kind != kind)
        return spec_read_flaw(r, json->at, "see docs/sweep-file.md",
                              "'%s' is %s; it must be %s", key,
                              json_kind_name(json->kind), json_kind_name(kind));
    return 0;
}

int spec_read_text(const struct reader *r, const struct json *json,
                   const char *(*flaw_of)(const char *), const char *what,
                   char **out)
{
    const char *flaw;

    if (json->kind != JSON_TEXT)
        return spec_read_flaw(r, json->at, "write a text in double quotes",
                              "%s is %s, not a text", what,
                              json_kind_name(json->kind));
    flaw = flaw_of(json->text);
    if (flaw)
        return spec_read_flaw(r, json->at, flaw, "%s '%.64s' is not allowed",
                              what, json->text);
    *out = mem_strdup(json->text);
    return 0;
}

int spec_read_rule(const struct reader *r, const struct json *json,
                   const char *what, struct spec_rule *out)
{
    char number[DECIMAL_BYTES];

    out->at = json->at;
    if (json->kind == JSON_NUMBER) {
        (void)decimal_text(json->number, number);
        out->text =
            json->whole ? mem_printf("%.0f", json->number) : mem_strdup(number);
        return 0;
    }
    if (json->kind != JSON_TEXT)
        return spec_read_flaw(
            r, json->at, "write a SQL expression in double quotes",
            "%s is %s, not an expression", what, json_kind_name(json->kind));
    if (strspn(json->text, " \t\r\n") == strlen(json->text))
        return spec_read_flaw(r, json->at,
                              "write a SQL expression, as in \"BLOCK_M > 0\"",
                              "%s is empty", what);
    if (strlen(json->text) > RULE_MAX)
        return spec_read_flaw(r, json->at, "at most 8,192 bytes",
                              "%s is too long", what);
    out->text = mem_strdup(json->text);
    return 0;
}

int spec_read_word(const struct reader *r, const struct json *object,
                   const char *key, const char *const *words, size_t n,
                   const char **out)
{
    const struct json *json;

    if (spec_read_member(r, object, key, JSON_TEXT, false, &json) < 0)
        return ERR_INPUT;
    if (!json)
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i], json->text) == 0) {
            *out = words[i];
            return 0;
        }
    }
    return unknown_word(r, json->at, key, json->text, words, n);
}

int spec_read_real(const struct reader *r, const struct json *object,
                   const char *key, double least, double most, double *out)
{
    const struct json *json;
    char why[80];

    if (spec_read_member(r, object, key, JSON_NUMBER, false, &json) < 0)
        return ERR_INPUT;
    if (!json)
        return 0;
    snprintf(why, sizeof(why), "choose a number from %.15g to %.15g", least,
             most);
    if (!(json->number >= least && json->number <= most))
        return spec_read_flaw(r, json->at, why, "'%s' is out of range", key);
    *out = json->number;
    return 0;
}

int spec_read_whole(const struct reader *r, const struct json *object,
                    const char *key, double least, double most, int64_t *out)
{
    double number = (double)*out;
    const struct json *json = json_find(object, key);

    if (json && json->kind == JSON_NUMBER &&
        json->number != floor(json->number))
        return spec_read_flaw(r, json->at, "write a whole number, as in 3",
                              "'%s' is not a whole number", key);
    if (spec_read_real(r, object, key, least, most, &number) < 0)
        return ERR_INPUT;
    *out = (int64_t)number;
    return 0;
}

static int taken(const struct reader *r, const char *name, size_t at,
                 const char *other, const char *what)
{
    if (strcmp(name, other) == 0)
        return spec_read_flaw(r, at, "choose another name",
                              "the name '%s' is taken by a %s", name, what);
    return spec_read_flaw(r, at, "SQL ignores case",
                          "'%s' differs from the %s '%s' only in case", name,
                          what, other);
}

int spec_read_new_name(const struct reader *r, const char *name, size_t at)
{
    const struct spec *spec = r->spec;

    for (size_t i = 0; i < spec->space.n_axes; i++)
        if (strcasecmp(name, spec->space.axes[i].name) == 0)
            return taken(r, name, at, spec->space.axes[i].name, "tunable");
    for (size_t i = 0; i < spec->space.n_derived; i++)
        if (strcasecmp(name, spec->space.derived[i].name) == 0)
            return taken(r, name, at, spec->space.derived[i].name,
                         "derived value");
    for (size_t i = 0; i < spec->shapes.n_vars; i++)
        if (strcasecmp(name, spec->shapes.vars[i]) == 0)
            return taken(r, name, at, spec->shapes.vars[i], "shape variable");
    for (size_t i = 0; i < GPU_ARCH_FACTS; i++)
        if (strcasecmp(name, gpu_arch_fact_name(i)) == 0)
            return taken(r, name, at, gpu_arch_fact_name(i), "device fact");
    if (strcasecmp(name, "time_s") == 0)
        return taken(r, name, at, "time_s", "measured time");
    return 0;
}
