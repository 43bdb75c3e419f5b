/* Evaluates Python expressions for test_py_peer.py.
 *
 * Each line of stdin has the expression and the values of a b c x y t, between
 * tabs.  The answer is the value and the SQL of its truth, or '!' and why there
 * is none, between tabs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "coordinator/python/py_expression.h"
#include "coordinator/python/py_sql.h"

#define LINE_BYTES 16384
#define NAMES 6
#define VALUES 3

static void print(const struct py_value *value)
{
    switch (value->kind) {
    case PY_INT:
        printf("%lld", (long long)value->integer);
        break;
    case PY_REAL:
        printf("float.fromhex('%a')", value->real);
        break;
    case PY_BOOL:
        printf("%s", value->integer ? "True" : "False");
        break;
    case PY_TEXT:
        printf("'%s'", value->text);
        break;
    case PY_LIST:
        printf("[");
        for (size_t i = 0; i < value->n; i++) {
            print(&value->items[i]);
            printf(",");
        }
        printf("]");
        break;
    }
}

/* What py_sql may know of a name: its smallest value. */
static void take(struct py_name *name, const char *id, char *field,
                 struct py_value values[VALUES])
{
    static const int64_t least[NAMES] = { 0, -9, 1, 0, -9, 0 };
    size_t i = (size_t)(strchr("abcxyt", *id) - "abcxyt");

    name->name = name->sql = id;
    name->value = i == 5   ? py_value_bool(atoi(field))
                  : i >= 3 ? py_value_real(strtod(field, NULL))
                           : py_value_int(atoll(field));
    values[0] = i == 5   ? py_value_bool(false)
                : i >= 3 ? py_value_real((double)least[i])
                         : py_value_int(least[i]);
    values[1] = name->value;
    name->values = values;
    name->n_values = 2;
}

static void answer(const char *text, const struct py_scope *scope)
{
    struct py_expression *expression;
    struct py_flaw flaw;
    struct py_value value;
    struct buf sql;

    if (py_expression_parse(text, &expression, &flaw) < 0) {
        printf("!parse: %s\t!\t1\n", flaw.what);
        return;
    }
    if (py_expression_eval(expression, scope, &value, &flaw) < 0)
        printf("!%s", flaw.what);
    else
        print(&value);
    buf_init(&sql, 1 << 16);
    if (py_sql_condition(expression, scope, &sql, &flaw) < 0)
        printf("\t!%s", flaw.what);
    else
        printf("\t%s", buf_text(&sql));
    printf("\t%d\n", py_sql_may_fail(expression, scope));
    buf_fini(&sql);
    py_expression_free(expression);
}

int main(void)
{
    static const char *const ids[NAMES] = { "a", "b", "c", "x", "y", "t" };
    char line[LINE_BYTES];

    while (fgets(line, sizeof(line), stdin)) {
        struct py_name names[NAMES];
        struct py_value values[NAMES][VALUES];
        char *at = line, *field, *text;

        line[strcspn(line, "\n")] = '\0';
        text = strsep(&at, "\t");
        for (size_t i = 0; i < NAMES; i++) {
            field = strsep(&at, "\t");
            take(&names[i], ids[i], field, values[i]);
        }
        answer(text, &(struct py_scope){ names, NAMES });
        fflush(stdout);
    }
    return 0;
}
