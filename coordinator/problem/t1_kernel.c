/* The kernel of a T1 file: launch and arguments. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/problem/t1_internal.h"
#include "coordinator/problem/t1_kernel.h"
#include "coordinator/python/py_sql.h"

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

void t1_size_sql(struct t1 *problem, const struct json *json, struct buf *out)
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
        t1_size_sql(problem, is_list ? &divisors->items[i] : divisors,
                    &product);
    }
    if (n == 0)
        buf_printf(out, "P%zu", axis);
    else
        buf_printf(out, "(P%zu + %s - 1) / (%s)", axis, buf_text(&product),
                   buf_text(&product));
    buf_fini(&product);
}

/* The global size is in threads; the last block may be partly used. */
static char *blocks_of_threads(const char *threads, const char *block)
{
    return strcmp(block, "1") == 0
               ? mem_strdup(threads)
               : mem_printf("(%s + %s - 1) / (%s)", threads, block, block);
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
    bool threads = t1_is_text(t1_member(kernel, "GlobalSizeType"), "OpenCL");
    bool divided = list && list->kind != JSON_NULL;
    bool covers = divided && axis < problem->n_sizes;
    struct buf grid, block;

    buf_init(&grid, T1_SQL_MAX);
    buf_init(&block, T1_SQL_MAX);
    if (local)
        t1_size_sql(problem, local, &block);
    if (block.len == 0)
        buf_str(&block, "1");
    if (covers)
        grid_of_divisors(problem, axis, list, &grid);
    else if (global)
        t1_size_sql(problem, global, &grid);
    else if (divided && !(list->kind == JSON_ARRAY && list->n == 0))
        t1_note(problem, "%s is left out: \"ProblemSize\" has no size for it",
                divisors[axis]);
    if (grid.len == 0)
        buf_str(&grid, "1");
    problem->launch.sizes[axis] =
        threads && !covers && global
            ? blocks_of_threads(buf_text(&grid), buf_text(&block))
            : mem_strdup(buf_text(&grid));
    problem->launch.sizes[3 + axis] = mem_strdup(buf_text(&block));
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

/* What Kernel Tuner, BAT and KTT take of a kernel, and a sweep file does not.
 */
static void note_the_rest(struct t1 *problem, const struct json *kernel)
{
    const struct json *language = t1_member(kernel, "Language");
    const struct json *modifiers = t1_member(kernel, "Modifiers");

    if (t1_text(language) && !t1_is_text(language, "CUDA"))
        t1_note(problem,
                "line %d: the kernel is in %.40s; a sweep needs it in "
                "CUDA",
                caret_line_number(&problem->text, language->at),
                language->text);
    if (modifiers && modifiers->n > 0)
        t1_note(problem,
                "line %d: \"Modifiers\" is left out, so the launch is "
                "not what it was",
                caret_line_number(&problem->text, modifiers->at));
}

void t1_read_kernel(struct t1 *problem, const struct json *kernel)
{
    note_the_rest(problem, kernel);
    read_launch(problem, kernel);
    t1_read_options(problem, kernel);
}
