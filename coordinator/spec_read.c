#include "coordinator/spec_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/caret.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/suggest.h"
#include "coordinator/arch.h"

#define RULE_MAX 8192 /* bytes of an expression */

int read_flaw(const struct reader *r, size_t at, const char *why,
              const char *fmt, ...)
{
    struct caret_text text = { r->spec->path, r->spec->text, r->spec->len };
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

/* "there is no X 'y'", with the words it could be. */
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
    rc = read_flaw(r, at, buf_text(&why), "%s '%.64s' is unknown", what, word);
    buf_fini(&why);
    return rc;
}

int read_object(const struct reader *r, const struct json *json,
                const char *what, const char *const *keys, size_t n)
{
    if (json->kind != JSON_OBJECT)
        return read_flaw(r, json->at, "an object stands between { and }",
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

int read_member(const struct reader *r, const struct json *object,
                const char *key, enum json_kind kind, bool needed,
                const struct json **out)
{
    const struct json *json = json_find(object, key);

    *out = json;
    if (!json && needed)
        return read_flaw(r, object->at, "docs/sweep-file.md describes it",
                         "the key '%s' is missing here", key);
    if (json && json->kind != kind)
        return read_flaw(r, json->at, "docs/sweep-file.md describes it",
                         "'%s' is %s; it must be %s", key,
                         json_kind_name(json->kind), json_kind_name(kind));
    return 0;
}

int read_text(const struct reader *r, const struct json *json,
              const char *(*flaw_of)(const char *), const char *what,
              char **out)
{
    const char *flaw;

    if (json->kind != JSON_TEXT)
        return read_flaw(r, json->at, "texts stand in double quotes",
                         "%s is %s, not a text", what,
                         json_kind_name(json->kind));
    flaw = flaw_of(json->text);
    if (flaw)
        return read_flaw(r, json->at, flaw, "%s '%.64s' is not allowed", what,
                         json->text);
    *out = mem_strdup(json->text);
    return 0;
}

int read_rule(const struct reader *r, const struct json *json, const char *what,
              struct spec_rule *out)
{
    out->at = json->at;
    if (json->kind == JSON_NUMBER && json->whole) {
        out->text = mem_printf("%.0f", json->number);
        return 0;
    }
    if (json->kind != JSON_TEXT)
        return read_flaw(r, json->at, "a SQL expression in double quotes",
                         "%s is %s, not an expression", what,
                         json_kind_name(json->kind));
    if (strspn(json->text, " \t\r\n") == strlen(json->text))
        return read_flaw(r, json->at, "a SQL expression, as in \"BLOCK_M > 0\"",
                         "%s is empty", what);
    if (strlen(json->text) > RULE_MAX)
        return read_flaw(r, json->at, "at most 8,192 bytes", "%s is too long",
                         what);
    out->text = mem_strdup(json->text);
    return 0;
}

int read_word(const struct reader *r, const struct json *object,
              const char *key, const char *const *words, size_t n,
              const char **out)
{
    const struct json *json;

    if (read_member(r, object, key, JSON_TEXT, false, &json) < 0)
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

int read_real(const struct reader *r, const struct json *object,
              const char *key, double least, double most, double *out)
{
    const struct json *json;
    char why[80];

    if (read_member(r, object, key, JSON_NUMBER, false, &json) < 0)
        return ERR_INPUT;
    if (!json)
        return 0;
    snprintf(why, sizeof(why), "a number from %.15g to %.15g", least, most);
    if (!(json->number >= least && json->number <= most))
        return read_flaw(r, json->at, why, "'%s' is out of range", key);
    *out = json->number;
    return 0;
}

int read_whole(const struct reader *r, const struct json *object,
               const char *key, double least, double most, int64_t *out)
{
    double number = (double)*out;
    const struct json *json = json_find(object, key);

    if (json && json->kind == JSON_NUMBER &&
        json->number != floor(json->number))
        return read_flaw(r, json->at, "it is counted, as in 3",
                         "'%s' is not a whole number", key);
    if (read_real(r, object, key, least, most, &number) < 0)
        return ERR_INPUT;
    *out = (int64_t)number;
    return 0;
}

static int taken(const struct reader *r, const char *name, size_t at,
                 const char *other, const char *what)
{
    if (strcmp(name, other) == 0)
        return read_flaw(r, at, "choose another name",
                         "the name '%s' is taken by a %s", name, what);
    return read_flaw(r, at, "SQL does not tell upper case from lower",
                     "'%s' differs from the %s '%s' in case only", name, what,
                     other);
}

int read_new_name(const struct reader *r, const char *name, size_t at)
{
    const struct spec *spec = r->spec;

    for (size_t i = 0; i < spec->n_axes; i++)
        if (strcasecmp(name, spec->axes[i].name) == 0)
            return taken(r, name, at, spec->axes[i].name, "tunable");
    for (size_t i = 0; i < spec->n_derived; i++)
        if (strcasecmp(name, spec->derived[i].name) == 0)
            return taken(r, name, at, spec->derived[i].name, "derived value");
    for (size_t i = 0; i < spec->n_vars; i++)
        if (strcasecmp(name, spec->vars[i]) == 0)
            return taken(r, name, at, spec->vars[i], "shape variable");
    for (size_t i = 0; i < ARCH_FACTS; i++)
        if (strcasecmp(name, arch_fact_name(i)) == 0)
            return taken(r, name, at, arch_fact_name(i), "device fact");
    if (strcasecmp(name, "time_s") == 0)
        return taken(r, name, at, "time_s", "measured time");
    return 0;
}
