#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "coordinator/python/py_expression.h"
#include "coordinator/python/py_sql.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const struct py_value whole[] = { { .kind = PY_INT, .integer = 4 },
                                         { .kind = PY_INT, .integer = -3 } };
static const struct py_value reals[] = { { .kind = PY_REAL, .real = 0.5 } };
static const struct py_name names[] = {
    { "a", "a", { .kind = PY_INT, .integer = 4 }, whole, 1 },
    { "b", "b", { .kind = PY_INT, .integer = -3 }, whole, 2 },
    { "x", "x", { .kind = PY_REAL, .real = 0.5 }, reals, 1 },
    { "L", NULL, { .kind = PY_LIST, .items = whole, .n = 2 }, NULL, 0 },
};
static const struct py_scope scope = { names, 4 };

/* Any text is an expression or has a flaw inside of it. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = malloc(len + 1);
    struct py_expression *expression;
    struct py_flaw flaw;
    struct py_value value;
    struct buf sql;

    if (!text)
        return 0;
    memcpy(text, bytes, len);
    text[len] = '\0';
    if (py_expression_parse(text, &expression, &flaw) < 0) {
        assert(flaw.what[0] && flaw.at <= strlen(text));
    } else {
        if (py_expression_eval(expression, &scope, &value, &flaw) < 0)
            assert(flaw.what[0] && flaw.at <= strlen(text));
        buf_init(&sql, PY_EXPRESSION_BYTES_MAX);
        if (py_sql_condition(expression, &scope, &sql, &flaw) == 0)
            assert(sql.len > 0 && !sql.truncated);
        buf_fini(&sql);
        py_expression_free(expression);
    }
    free(text);
    return 0;
}
