/* The kernel of a T1 file: launch and arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/problem/t1_internal.h"
#include "coordinator/python/py_sql.h"

#define ARGUMENTS_MAX 64

int t1_read_sizes(struct t1 *problem, const struct json *kernel,
                  struct err *err)
{
    const struct json *list = t1_member(kernel, "ProblemSize");
    const struct json *items = list;
    size_t n = 1;

    if (!list || list->kind == JSON_NULL)
        return 0;
    if (list->kind == JSON_ARRAY) {
        items = list->items;
        n = list->n;
    }
    if (n > T1_SIZES_MAX)
        return t1_flaw(problem, list, NULL, err,
                       "\"ProblemSize\" has more than %d sizes", T1_SIZES_MAX);
    for (size_t i = 0; i < n; i++) {
        if (items[i].kind != JSON_NUMBER || !items[i].whole ||
            items[i].number < 0)
            return t1_flaw(problem, &items[i], NULL, err,
                           "a size in \"ProblemSize\" must be a whole number");
        problem->sizes[problem->n_sizes++] =
            py_value_int((int64_t)items[i].number);
    }
    return 0;
}

/* A Python expression, or a number, as SQL. */
static int sql_of(struct t1 *problem, const struct json *json, struct buf *out,
                  struct err *err)
{
    struct py_scope scope = t1_scope(problem);
    struct py_expression *python;
    struct py_flaw flaw;
    int rc;

    if (json->kind == JSON_NUMBER && json->whole) {
        buf_int(out, (int64_t)json->number);
        return 0;
    }
    if (json->kind != JSON_TEXT)
        return t1_flaw(problem, json, NULL, err,
                       "it must be a whole number, or a text with an "
                       "expression");
    rc = py_expression_parse(json->text, &python, &flaw);
    if (rc == 0) {
        rc = py_sql_expression(python, &scope, out, &flaw);
        py_expression_free(python);
    }
    return rc < 0 ? t1_flaw(problem, json, NULL, err, "'%.60s': %s", json->text,
                            flaw.what)
                  : 0;
}

/* ---- launch */

/* Blocks that cover a size, as Kernel Tuner counts them: the size divided by
 * the product of the list, rounded up. */
static int grid_of_divisors(struct t1 *problem, size_t axis,
                            const struct json *divisors, struct buf *out,
                            struct err *err)
{
    struct buf product;
    int rc = 0;

    buf_init(&product, T1_SQL_MAX);
    for (size_t i = 0; rc == 0 && i < divisors->n; i++) {
        buf_str(&product, i ? " * " : "");
        rc = sql_of(problem, &divisors->items[i], &product, err);
    }
    if (divisors->n == 0)
        buf_printf(out, "P%zu", axis);
    else
        buf_printf(out, "(P%zu + %s - 1) / (%s)", axis, buf_text(&product),
                   buf_text(&product));
    buf_fini(&product);
    return rc;
}

static int read_axis(struct t1 *problem, const struct json *kernel, size_t axis,
                     struct err *err)
{
    static const char *const names[] = { "X", "Y", "Z" };
    static const char *const divisors[] = { "GridDivX", "GridDivY",
                                            "GridDivZ" };
    const struct json *global =
        t1_member(t1_member(kernel, "GlobalSize"), names[axis]);
    const struct json *local =
        t1_member(t1_member(kernel, "LocalSize"), names[axis]);
    const struct json *list = t1_member(kernel, divisors[axis]);
    const char *kind = t1_text(t1_member(kernel, "GlobalSizeType"));
    bool threads = kind && strcmp(kind, "OpenCL") == 0;
    struct buf grid, block;
    int rc = 0;

    buf_init(&grid, T1_SQL_MAX);
    buf_init(&block, T1_SQL_MAX);
    if (local)
        rc = sql_of(problem, local, &block, err);
    if (rc == 0 && list && list->kind == JSON_ARRAY && axis < problem->n_sizes)
        rc = grid_of_divisors(problem, axis, list, &grid, err);
    else if (rc == 0 && global)
        rc = sql_of(problem, global, &grid, err);
    problem->launch[axis] = global && grid.len && threads && !list
                                ? mem_printf("(%s) / (%s)", buf_text(&grid),
                                             block.len ? buf_text(&block) : "1")
                                : mem_strdup(grid.len ? buf_text(&grid) : "1");
    problem->launch[3 + axis] = mem_strdup(block.len ? buf_text(&block) : "1");
    buf_fini(&grid);
    buf_fini(&block);
    return rc;
}

/* ---- arguments */

/* T1's types, and how many elements one is. */
static const struct {
    const char *t1, *type;
    int n;
} types[] = {
    { "float", "fp32", 1 },    { "float2", "fp32", 2 },
    { "float4", "fp32", 4 },   { "float8", "fp32", 8 },
    { "float16", "fp32", 16 }, { "double", "fp64", 1 },
    { "double2", "fp64", 2 },  { "double4", "fp64", 4 },
    { "half", "fp16", 1 },     { "half2", "fp16", 2 },
    { "half4", "fp16", 4 },    { "half8", "fp16", 8 },
    { "int8", "int8", 1 },     { "int32", "int32", 1 },
    { "int", "int32", 1 },     { "int64", "int64", 1 },
};

static bool is_text(const struct json *value, const char *text)
{
    return t1_text(value) && strcmp(value->text, text) == 0;
}

static char *fill_of(const struct json *json, const char *type)
{
    const struct json *number = t1_member(json, "FillValue");
    double value = number && number->kind == JSON_NUMBER ? number->number : 0;

    if (is_text(t1_member(json, "FillType"), "Constant") ||
        is_text(t1_member(json, "MemoryType"), "Scalar"))
        return mem_printf("%.17g", value);
    if (strncmp(type, "int", 3) == 0)
        return mem_printf("{ \"range\": [0, %.17g] }",
                          value >= 1 && value <= 127 ? value : 100.0);
    return mem_strdup("\"uniform\"");
}

static const char *access_of(const struct json *json)
{
    const struct json *output = t1_member(json, "Output");

    if (is_text(t1_member(json, "AccessType"), "ReadWrite"))
        return "inout";
    return is_text(t1_member(json, "AccessType"), "WriteOnly") ||
                   (output && output->kind == JSON_NUMBER && output->number > 0)
               ? "output"
               : NULL;
}

static int read_argument(struct t1 *problem, const struct json *json, size_t i,
                         struct err *err)
{
    struct t1_argument *argument = &problem->arguments[problem->n_arguments];
    const char *name = t1_text(t1_member(json, "Name"));
    const struct json *type = t1_member(json, "Type");
    const struct json *size = t1_member(json, "Size");
    const char *memory = t1_text(t1_member(json, "MemoryType"));
    size_t k = 0;
    struct buf sql;
    int rc;

    while (k < sizeof(types) / sizeof(types[0]) && !is_text(type, types[k].t1))
        k++;
    if (k == sizeof(types) / sizeof(types[0]) ||
        is_text(t1_member(json, "MemType"), "Constant") ||
        (memory && strcmp(memory, "Scalar") != 0 &&
         strcmp(memory, "Vector") != 0)) {
        t1_note(problem,
                "the argument '%.60s' is left out: its type or memory "
                "has no counterpart in a sweep file",
                name ? name : "");
        return 0;
    }
    problem->n_arguments++;
    argument->name = name ? mem_strdup(name) : mem_printf("argument_%zu", i);
    argument->type = types[k].type;
    argument->access = access_of(json);
    argument->fill = fill_of(json, types[k].type);
    if (memory && strcmp(memory, "Scalar") == 0)
        return 0;
    buf_init(&sql, T1_SQL_MAX);
    rc = size ? sql_of(problem, size, &sql, err) : 0;
    argument->size = types[k].n == 1
                         ? mem_strdup(sql.len ? buf_text(&sql) : "1")
                         : mem_printf("%d * (%s)", types[k].n,
                                      sql.len ? buf_text(&sql) : "1");
    buf_fini(&sql);
    return rc;
}

int t1_read_kernel(struct t1 *problem, const struct json *kernel,
                   struct err *err)
{
    const struct json *list = t1_member(kernel, "Arguments");
    int rc = 0;

    for (size_t axis = 0; rc == 0 && axis < 3; axis++)
        rc = read_axis(problem, kernel, axis, err);
    if (rc < 0 || !list || list->kind != JSON_ARRAY)
        return rc;
    if (list->n > ARGUMENTS_MAX)
        return t1_flaw(problem, list, NULL, err, "more than %d arguments",
                       ARGUMENTS_MAX);
    problem->arguments = mem_new(list->n + 1, sizeof(*problem->arguments));
    for (size_t i = 0; rc == 0 && i < list->n; i++)
        rc = read_argument(problem, &list->items[i], i, err);
    return rc;
}
