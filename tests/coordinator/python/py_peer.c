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
#define NAMES 7
#define VALUES 3

static void print(const struct py_value *value)
{
    static const char *const begin[] = { "[", "(", "Range([", "{", "Once([" };
    static const char *const end[] = { "]", ")", "])", "}", "])" };
    char digits[PY_INT_BYTES];

    switch (value->kind) {
    case PY_INT:
        py_value_digits(value->integer, digits);
        printf("%s", digits);
        break;
    case PY_REAL:
        printf("float.fromhex('%a')", value->real);
        break;
    case PY_BOOL:
        printf("%s", value->integer ? "True" : "False");
        break;
    case PY_TEXT:
        printf("text('");
        for (const char *at = value->text; *at; at++)
            printf("%02x", (unsigned char)*at);
        printf("')");
        break;
    case PY_LIST:
        if (value->form == PY_FORM_SET && value->n == 0) {
            printf("set()");
            break;
        }
        printf("%s", begin[value->form]);
        for (size_t i = 0; i < value->n; i++) {
            print(&value->items[i]);
            printf(",");
        }
        printf("%s", end[value->form]);
        break;
    case PY_NONE:
        printf("None");
        break;
    }
}

static struct py_value of(char kind, char *text)
{
    return kind == 's'          ? py_value_text(text)
           : kind == 't'        ? py_value_bool(atoi(text))
           : strchr("xy", kind) ? py_value_real(strtod(text, NULL))
                                : py_value_int(atoll(text));
}

/* What py_sql may know of a name: its smallest value. */
static void take(struct py_name *name, const char *id, char *field,
                 struct py_value values[VALUES])
{
    static char *const least[NAMES] = { "0", "-9", "1", "0", "-9", "0", "nn" };

    name->name = name->sql = id;
    name->value = values[1] = of(*id, field);
    values[0] = of(*id, least[strchr("abcxyts", *id) - "abcxyts"]);
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
    static const char *const ids[NAMES] = { "a", "b", "c", "x", "y", "t", "s" };
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
