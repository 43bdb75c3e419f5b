#include "coordinator/problem/t1_argument.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/problem/t1_internal.h"
#include "coordinator/problem/t1_kernel.h"
#include "coordinator/source/type_name.h"
#include "coordinator/text/decimal.h"

#define ARGUMENTS_MAX 64
#define TYPE_BYTES 24

/* ---- values */

/* In as few digits as it takes. */
static char *number_text(double number)
{
    char text[DECIMAL_BYTES];

    if (number == floor(number) && fabs(number) < JSON_INTEGER_MAX)
        return mem_printf("%.0f", number);
    return mem_dup(text, decimal_text(number, text));
}

/* A Python expression without names. */
static bool evaluate(const char *text, double *out)
{
    struct py_scope nothing = { NULL, 0 };
    struct py_expression *python = NULL;
    struct py_value value;
    struct py_flaw flaw;
    bool is = py_expression_parse(text, &python, &flaw) == 0 &&
              py_expression_eval(python, &nothing, &value, &flaw) == 0 &&
              py_value_is_number(&value) && isfinite(py_value_number(&value));

    if (is)
        *out = py_value_number(&value);
    py_expression_free(python);
    return is;
}

/* The signed number with the same bits. */
static double as_signed(double value, const char *type)
{
    double limit = strcmp(type, "int8") == 0    ? 0x1p7
                   : strcmp(type, "int32") == 0 ? 0x1p31
                                                : 0;

    return limit > 0 && value >= limit && value < 2 * limit ? value - 2 * limit
                                                            : value;
}

/* Others write "4096" and true, too. */
static double fill_value(struct t1 *problem, const struct json *json,
                         const char *name, const char *type)
{
    const struct json *fill = t1_member(json, "FillValue");
    const char *text = t1_text(fill);
    struct py_value value;
    double number = 0, same;
    bool is = !fill || fill->kind == JSON_NULL;

    if (text) {
        is = evaluate(text, &number);
    } else if (fill && t1_value(fill, &value)) {
        number = py_value_number(&value);
        is = true;
    }
    if (fill && !is)
        t1_note(problem,
                "line %d: the value of the argument '%.60s' is taken "
                "for 0: it is not a number",
                caret_line_number(&problem->text, fill->at), name);
    same = as_signed(number, type);
    if (same != number)
        t1_note(problem, "%.17g for the argument '%.60s' is %.17g as %s",
                number, name, same, type);
    return same;
}

/* ---- fills */

static char *random_fill(double most, const char *type)
{
    return strncmp(type, "int", 3) == 0
               ? mem_printf("{ \"range\": [0, %.17g] }",
                            most >= 1 && most <= 127 ? most : 100.0)
               : mem_strdup("\"uniform\"");
}

/* Element i of the buffer is an expression of i. */
static char *generated_fill(const struct json *json)
{
    const char *source = t1_text(t1_member(json, "DataSource"));
    double number;

    if (source && strcmp(source, "i") == 0)
        return mem_strdup("\"iota\"");
    return source && evaluate(source, &number) ? number_text(number) : NULL;
}

static char *fill_of(struct t1 *problem, const struct json *json,
                     const struct t1_argument *argument)
{
    const struct json *how = t1_member(json, "FillType");
    double value = fill_value(problem, json, argument->name, argument->type);
    bool starts = !argument->access || strcmp(argument->access, "output") != 0;
    char *fill = NULL;

    if (t1_is_text(how, "Constant") ||
        t1_is_text(t1_member(json, "MemoryType"), "Scalar"))
        return number_text(value);
    if (t1_is_text(how, "Generator"))
        fill = generated_fill(json);
    if (!fill && starts && t1_text(how) && !t1_is_text(how, "Random") &&
        !t1_is_text(how, "Uninitialized"))
        t1_note(problem,
                "line %d: the argument '%.60s' is filled at random: "
                "'%.40s' has no counterpart in a sweep file",
                caret_line_number(&problem->text, how->at), argument->name,
                how->text);
    return fill ? fill : random_fill(value, argument->type);
}

static const char *access_of(const struct json *json)
{
    const struct json *output = t1_member(json, "Output");

    if (t1_is_text(t1_member(json, "AccessType"), "ReadWrite"))
        return "inout";
    return t1_is_text(t1_member(json, "AccessType"), "WriteOnly") ||
                   (output && output->kind == JSON_NUMBER && output->number > 0)
               ? "output"
               : NULL;
}

/* ---- arguments */

/* KTT wrote "Float" once. */
static const struct type_name *type_of(const struct json *json)
{
    const char *text = t1_text(t1_member(json, "Type"));
    char name[TYPE_BYTES] = "";

    for (size_t i = 0; text && text[i] && i + 1 < sizeof(name); i++)
        name[i] = (char)tolower((unsigned char)text[i]);
    return type_name_find(name, TYPE_NAME_T1);
}

static char *size_of(struct t1 *problem, const struct json *json, int elements)
{
    const struct json *size = t1_member(json, "Size");
    char *text;
    struct buf sql;

    buf_init(&sql, T1_SQL_MAX);
    if (size)
        t1_size_sql(problem, size, &sql);
    else
        buf_str(&sql, "1");
    text = elements == 1 ? mem_strdup(buf_text(&sql))
                         : mem_printf("%d * (%s)", elements, buf_text(&sql));
    buf_fini(&sql);
    return text;
}

static void read_argument(struct t1 *problem, const struct json *json, size_t i)
{
    struct t1_argument *argument = &problem->arguments[problem->n_arguments];
    const char *name = t1_text(t1_member(json, "Name"));
    const struct json *memory = t1_member(json, "MemoryType");
    const struct type_name *is = type_of(json);
    bool scalar = t1_is_text(memory, "Scalar");

    if (!is || t1_is_text(t1_member(json, "MemType"), "Constant") ||
        (t1_text(memory) && !scalar && !t1_is_text(memory, "Vector"))) {
        t1_note(problem,
                "the argument '%.60s' is left out: its type or memory "
                "has no counterpart in a sweep file",
                name ? name : "");
        return;
    }
    problem->n_arguments++;
    argument->name = name ? mem_strdup(name) : mem_printf("argument_%zu", i);
    argument->type = is->type;
    argument->access = access_of(json);
    argument->fill = fill_of(problem, json, argument);
    if (!scalar)
        argument->size = size_of(problem, json, is->elements);
}

int t1_read_arguments(struct t1 *problem, const struct json *kernel,
                      struct err *err)
{
    const struct json *list = t1_member(kernel, "Arguments");

    if (!list || list->kind != JSON_ARRAY)
        return 0;
    if (list->n > ARGUMENTS_MAX)
        return t1_flaw(problem, list, NULL, err, "more than %d arguments",
                       ARGUMENTS_MAX);
    problem->arguments = mem_new(list->n + 1, sizeof(*problem->arguments));
    for (size_t i = 0; i < list->n; i++)
        read_argument(problem, &list->items[i], i);
    return 0;
}

void t1_free_arguments(struct t1 *problem)
{
    for (size_t i = 0; i < problem->n_arguments; i++) {
        free(problem->arguments[i].name);
        free(problem->arguments[i].size);
        free(problem->arguments[i].fill);
    }
    free(problem->arguments);
}
