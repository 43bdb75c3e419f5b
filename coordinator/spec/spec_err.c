/* Flaws that are found after the file was read, at their place in it. */
#include <stdarg.h>
#include <string.h>

#include "coordinator/spec/spec.h"
#include "coordinator/text/caret.h"

int spec_err(const struct spec *spec, size_t at, struct err *err,
             const char *why, const char *fmt, ...)
{
    struct caret_text text = { spec->file.path, spec->file.text,
                               spec->file.len };
    va_list ap;
    int rc;

    va_start(ap, fmt);
    rc = caret_text_verr(err, &text, at, why, fmt, ap);
    va_end(ap);
    return rc;
}

/* In a string without escapes, byte 'offset' of the value is byte 'offset' of
 * its text in the file. */
static size_t place_in(const struct spec *spec, const struct spec_rule *rule,
                       size_t offset)
{
    size_t len = strlen(rule->text);

    if (rule->at + 1 + len <= spec->file.len &&
        spec->file.text[rule->at] == '"' &&
        memcmp(spec->file.text + rule->at + 1, rule->text, len) == 0)
        return rule->at + 1 + (offset < len ? offset : len);
    return rule->at;
}

int spec_err_in(const struct spec *spec, const struct spec_rule *rule,
                size_t offset, struct err *err, const char *why,
                const char *fmt, ...)
{
    struct caret_text text = { spec->file.path, spec->file.text,
                               spec->file.len };
    va_list ap;
    int rc;

    va_start(ap, fmt);
    rc =
        caret_text_verr(err, &text, place_in(spec, rule, offset), why, fmt, ap);
    va_end(ap);
    return rc;
}
