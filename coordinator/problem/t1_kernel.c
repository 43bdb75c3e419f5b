/* The kernel of a T1 file: launch and arguments. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/problem/t1_internal.h"
#include "coordinator/python/py_sql.h"
#include "coordinator/source/type_name.h"

#define ARGUMENTS_MAX 64
#define SIZE_MOST 0x1p53

/* A size that is not negative; others write 4096.0 and "4096", too. */
static bool size_of(const struct json *json, int64_t *out)
{
    struct py_scope nothing = { NULL, 0 };
    struct py_value value = { .kind = PY_LIST };
    struct py_expression *python = NULL;
    struct py_flaw flaw;
    bool is;

    if (json->kind == JSON_NUMBER)
        value = py_value_real(json->number);
    else if (!t1_text(json) ||
             py_expression_parse(json->text, &python, &flaw) < 0 ||
             py_expression_eval(python, &nothing, &value, &flaw) < 0)
        value.kind = PY_LIST;
    py_expression_free(python);
    is = py_value_is_number(&value) && py_value_number(&value) >= 0 &&
         py_value_number(&value) <= SIZE_MOST &&
         floor(py_value_number(&value)) == py_value_number(&value);
    *out = is ? (int64_t)py_value_number(&value) : 0;
    return is;
}

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
        int64_t size;

        if (!size_of(&items[i], &size))
            return t1_flaw(problem, &items[i], "as in [4096, 4096]", err,
                           "a size in \"ProblemSize\" must be a whole number");
        problem->sizes[problem->n_sizes++] = py_value_int(size);
    }
    return 0;
}

/* A Python expression, or a number, as SQL.  What cannot be read is noted, and
 * 'otherwise': files of others have launches with names that are no tunables,
 * and the user has to look at the kernel anyway. */
static void sql_or(struct t1 *problem, const struct json *json,
                   const char *otherwise, struct buf *out)
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
    buf_str(out, otherwise);
    t1_note(problem, "line %d: '%.60s' is taken for %s: %s",
            caret_line_number(&problem->text, json->at),
            json->kind == JSON_TEXT ? json->text : json_kind_name(json->kind),
            otherwise, flaw.what);
}

static void sql_of(struct t1 *problem, const struct json *json, struct buf *out)
{
    sql_or(problem, json, "1", out);
}

/* ---- launch */

/* Blocks that cover a size, as Kernel Tuner counts them: the size divided by
 * the product of the list, rounded up.  Without a list, it is one divisor. */
static void grid_of_divisors(struct t1 *problem, size_t axis,
                             const struct json *divisors, struct buf *out)
{
    bool is_list = divisors->kind == JSON_ARRAY;
    size_t n = is_list ? divisors->n : 1;
    struct buf product;

    buf_init(&product, T1_SQL_MAX);
    for (size_t i = 0; i < n; i++) {
        buf_str(&product, i ? " * " : "");
        sql_of(problem, is_list ? &divisors->items[i] : divisors, &product);
    }
    if (n == 0)
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
    bool divided = list && list->kind != JSON_NULL;
    struct buf grid, block;

    buf_init(&grid, T1_SQL_MAX);
    buf_init(&block, T1_SQL_MAX);
    if (local)
        sql_of(problem, local, &block);
    if (divided && axis < problem->n_sizes)
        grid_of_divisors(problem, axis, list, &grid);
    else if (global)
        sql_of(problem, global, &grid);
    else if (divided && !(list->kind == JSON_ARRAY && list->n == 0))
        t1_note(problem, "%s is left out: \"ProblemSize\" has no size for it",
                divisors[axis]);
    problem->launch.sizes[axis] =
        global && grid.len && threads && !divided
            ? mem_printf("(%s) / (%s)", buf_text(&grid),
                         block.len ? buf_text(&block) : "1")
            : mem_strdup(grid.len ? buf_text(&grid) : "1");
    problem->launch.sizes[3 + axis] =
        mem_strdup(block.len ? buf_text(&block) : "1");
    buf_fini(&grid);
    buf_fini(&block);
}

static void read_launch(struct t1 *problem, const struct json *kernel)
{
    static const char *const sizes[] = { "GlobalSize", "LocalSize" };
    const struct json *shared = t1_member(kernel, "SharedMemory");
    struct buf smem;

    for (size_t i = 0; i < 2; i++) {
        const struct json *size = t1_member(kernel, sizes[i]);

        if (size && size->kind != JSON_OBJECT && size->kind != JSON_NULL)
            t1_note(problem, "line %d: %s is left out: it has no X, Y and Z",
                    caret_line_number(&problem->text, size->at), sizes[i]);
    }
    for (size_t axis = 0; axis < 3; axis++)
        read_axis(problem, kernel, axis);
    buf_init(&smem, T1_SQL_MAX);
    if (shared && shared->kind != JSON_NULL)
        sql_or(problem, shared, "0", &smem);
    problem->launch.smem = mem_strdup(smem.len ? buf_text(&smem) : "0");
    buf_fini(&smem);
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

    read_launch(problem, kernel);
    t1_read_options(problem, kernel);
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
