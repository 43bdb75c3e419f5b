/* The kernel of a T1 file: launch and arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/problem/t1_internal.h"
#include "coordinator/python/py_sql.h"
#include "coordinator/source/type_name.h"

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

/* A Python expression, or a number, as SQL.  What cannot be read is noted, and
 * 1: files of others have launches with names that are no tunables, and the
 * user has to look at the kernel anyway. */
static void sql_of(struct t1 *problem, const struct json *json, struct buf *out)
{
    struct py_scope scope = t1_scope(problem);
    struct py_expression *python;
    struct py_flaw flaw = { 0, "it is neither a number nor a text" };
    size_t before = out->len;
    int rc = ERR_INPUT;

    if (json->kind == JSON_NUMBER && json->whole) {
        buf_int(out, (int64_t)json->number);
        return;
    }
    if (json->kind == JSON_TEXT)
        rc = py_expression_parse(json->text, &python, &flaw);
    if (rc == 0) {
        rc = py_sql_expression(python, &scope, out, &flaw);
        py_expression_free(python);
    }
    if (rc == 0)
        return;
    while (out->len > before)
        out->bytes[--out->len] = '\0';
    buf_str(out, "1");
    t1_note(problem, "line %d: '%.60s' is taken for 1: %s",
            caret_line_number(&problem->text, json->at),
            json->kind == JSON_TEXT ? json->text : "", flaw.what);
}

/* ---- launch */

/* Blocks that cover a size, as Kernel Tuner counts them: the size divided by
 * the product of the list, rounded up. */
static void grid_of_divisors(struct t1 *problem, size_t axis,
                             const struct json *divisors, struct buf *out)
{
    struct buf product;

    buf_init(&product, T1_SQL_MAX);
    for (size_t i = 0; i < divisors->n; i++) {
        buf_str(&product, i ? " * " : "");
        sql_of(problem, &divisors->items[i], &product);
    }
    if (divisors->n == 0)
        buf_printf(out, "P%zu", axis);
    else
        buf_printf(out, "(P%zu + %s - 1) / (%s)", axis, buf_text(&product),
                   buf_text(&product));
    buf_fini(&product);
}

static void read_axis(struct t1 *problem, const struct json *kernel,
                      size_t axis)
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

    buf_init(&grid, T1_SQL_MAX);
    buf_init(&block, T1_SQL_MAX);
    if (local)
        sql_of(problem, local, &block);
    if (list && list->kind == JSON_ARRAY && axis < problem->n_sizes)
        grid_of_divisors(problem, axis, list, &grid);
    else if (global)
        sql_of(problem, global, &grid);
    problem->launch[axis] = global && grid.len && threads && !list
                                ? mem_printf("(%s) / (%s)", buf_text(&grid),
                                             block.len ? buf_text(&block) : "1")
                                : mem_strdup(grid.len ? buf_text(&grid) : "1");
    problem->launch[3 + axis] = mem_strdup(block.len ? buf_text(&block) : "1");
    buf_fini(&grid);
    buf_fini(&block);
}

/* ---- arguments */

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

static void read_argument(struct t1 *problem, const struct json *json, size_t i)
{
    struct t1_argument *argument = &problem->arguments[problem->n_arguments];
    const char *name = t1_text(t1_member(json, "Name"));
    const char *type = t1_text(t1_member(json, "Type"));
    const struct json *size = t1_member(json, "Size");
    const char *memory = t1_text(t1_member(json, "MemoryType"));
    const struct type_name *is =
        type ? type_name_find(type, TYPE_NAME_T1) : NULL;
    struct buf sql;

    if (!is || is_text(t1_member(json, "MemType"), "Constant") ||
        (memory && strcmp(memory, "Scalar") != 0 &&
         strcmp(memory, "Vector") != 0)) {
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
    argument->fill = fill_of(json, is->type);
    if (memory && strcmp(memory, "Scalar") == 0)
        return;
    buf_init(&sql, T1_SQL_MAX);
    if (size)
        sql_of(problem, size, &sql);
    argument->size = is->elements == 1
                         ? mem_strdup(sql.len ? buf_text(&sql) : "1")
                         : mem_printf("%d * (%s)", is->elements,
                                      sql.len ? buf_text(&sql) : "1");
    buf_fini(&sql);
}

int t1_read_kernel(struct t1 *problem, const struct json *kernel,
                   struct err *err)
{
    const struct json *list = t1_member(kernel, "Arguments");

    for (size_t axis = 0; axis < 3; axis++)
        read_axis(problem, kernel, axis);
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
