/* Writes the sweep file of a problem. */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/problem/t1_argument.h"
#include "coordinator/problem/t1_internal.h"
#include "coordinator/text/value.h"

static void put_value(const struct py_value *value, struct buf *out)
{
    struct value json = {
        .kind = value->kind == PY_REAL   ? VALUE_REAL
                : value->kind == PY_BOOL ? VALUE_BOOL
                : value->kind == PY_TEXT ? VALUE_TEXT
                                         : VALUE_INT,
        .integer = (int64_t)value->integer,
        .real = value->real,
        .text = value->text,
    };

    value_json(&json, out);
}

static void put_kernel(const struct t1 *problem, struct buf *out)
{
    const struct json *kernel =
        t1_member(json_root(problem->doc), "KernelSpecification");
    const char *source = t1_text(t1_member(kernel, "KernelFile"));
    const char *entry = t1_text(t1_member(kernel, "KernelName"));

    buf_str(out, "\"kernel\": { \"source\": ");
    value_quote(source ? source : "kernel.cu", out);
    buf_str(out, ", \"entry\": ");
    value_quote(entry ? entry : problem->name, out);
    buf_str(out, ", \"flags\": [");
    for (size_t i = 0; i < problem->compiler.n_flags; i++) {
        buf_str(out, i ? ", " : "");
        value_quote(problem->compiler.flags[i], out);
    }
    buf_str(out, "]");
    if (problem->compiler.standard) {
        buf_str(out, ", \"standard\": ");
        value_quote(problem->compiler.standard, out);
    }
    buf_str(out, " },\n");
}

static void put_tunables(const struct t1 *problem, struct buf *out)
{
    buf_str(out, "\"tunables\": {");
    for (size_t t = 0; t < problem->n_tunables; t++) {
        const struct t1_tunable *tunable = &problem->tunables[t];

        buf_printf(out, "%s\n  \"%s\": [", t ? "," : "", tunable->sql);
        for (size_t i = 0; i < tunable->n; i++) {
            buf_str(out, i ? ", " : "");
            put_value(&tunable->values[i], out);
        }
        buf_str(out, "]");
    }
    buf_str(out, "\n},\n\"baseline\": {");
    for (size_t t = 0; t < problem->n_tunables; t++) {
        buf_printf(out, "%s\"%s\": ", t ? ", " : " ", problem->tunables[t].sql);
        put_value(&problem->baseline[t], out);
    }
    buf_str(out, " },\n");
}

/* The conditions of one gate, which has the name of the first. */
static void put_gate(const struct t1 *problem, const size_t *conditions,
                     size_t n, struct buf *out)
{
    struct buf rule, why;

    buf_init(&rule, JSON_BYTES_MAX);
    buf_init(&why, JSON_BYTES_MAX);
    for (size_t i = 0; i < n; i++) {
        const struct t1_condition *condition =
            &problem->conditions[conditions[i]];

        /* A gate yields a value for every point, also for those that another
         * condition rejects before this one, and in Python raises an error. */
        buf_str(&rule, i ? " OR " : "");
        buf_printf(&rule, condition->fails ? "NOT coalesce(%s, 0)" : "NOT %s",
                   condition->sql);
        buf_printf(&why, "%s%s", i ? "; " : "", condition->text);
    }
    buf_printf(
        out, "{ \"name\": \"condition_%zu\", \"reject\": ", conditions[0] + 1);
    value_quote(buf_text(&rule), out);
    buf_str(out, ",\n    \"why\": ");
    value_quote(buf_text(&why), out);
    buf_str(out, " }");
    buf_fini(&rule);
    buf_fini(&why);
}

static void put_gates(const struct t1 *problem, struct buf *out)
{
    size_t with[T1_CONDITIONS_MAX], n = 0, per;

    for (size_t i = 0; i < problem->n_conditions; i++)
        if (problem->conditions[i].sql)
            with[n++] = i;
    per = n / T1_GATES_MAX + (n % T1_GATES_MAX > 0);
    buf_str(out, "\"gates\": [");
    for (size_t i = 0; i < n; i += per) {
        buf_str(out, i ? ",\n  " : "\n  ");
        put_gate(problem, &with[i], n - i < per ? n - i : per, out);
    }
    buf_str(out, n ? "\n],\n" : "],\n");
}

static void put_launch(const struct t1 *problem, struct buf *out)
{
    buf_str(out, "\"launch\": { \"grid\": [");
    for (size_t i = 0; i < 6; i++) {
        buf_str(out, i == 3 ? "], \"block\": [" : i ? ", " : "");
        value_quote(problem->launch.sizes[i], out);
    }
    buf_str(out, "], \"smem\": ");
    value_quote(problem->launch.smem, out);
    buf_str(out, " },\n");
    buf_str(out, "\"shapes\": [ { \"name\": \"problem\"");
    for (size_t i = 0; i < problem->n_sizes; i++)
        buf_printf(out, ", \"P%zu\": %lld", i,
                   (long long)problem->sizes[i].integer);
    buf_str(out, " } ],\n");
}

/* A sweep file takes a whole number, or an expression in a text. */
static void put_scalar(const char *number, struct buf *out)
{
    buf_str(out, ", \"value\": ");
    if (number[strspn(number, "-0123456789")])
        value_quote(number, out);
    else
        buf_str(out, number);
    buf_str(out, " }");
}

static void put_arguments(const struct t1 *problem, struct buf *out)
{
    buf_str(out, "\"arguments\": [");
    for (size_t i = 0; i < problem->n_arguments; i++) {
        const struct t1_argument *argument = &problem->arguments[i];
        bool output =
            argument->access && strcmp(argument->access, "output") == 0;

        buf_printf(out, "%s\n  { \"name\": ", i ? "," : "");
        value_quote(argument->name, out);
        buf_printf(out, ", \"type\": \"%s\"", argument->type);
        if (!argument->size) {
            put_scalar(argument->fill, out);
            continue;
        }
        buf_str(out, ", \"shape\": [");
        value_quote(argument->size, out);
        buf_str(out, "]");
        if (argument->access)
            buf_printf(out, ", \"%s\": true", argument->access);
        if (!output)
            buf_printf(out, ", \"fill\": %s", argument->fill);
        buf_str(out, " }");
    }
    buf_str(out, problem->n_arguments ? "\n],\n" : "],\n");
}

void t1_sweep_text(const struct t1 *problem, struct buf *out)
{
    buf_str(out, "// Made of a T1 file.  T1 has no reference: write "
                 "reference.cu, a kernel with the\n// same arguments whose "
                 "outputs are double (docs/sweep-file.md, 9).\n");
    for (size_t i = 0; i < problem->notes.n; i++)
        buf_printf(out, "// %s\n", problem->notes.list[i]);
    buf_str(out, "{\n\"name\": ");
    value_quote(problem->name, out);
    buf_str(out, ",\n");
    put_kernel(problem, out);
    put_tunables(problem, out);
    put_gates(problem, out);
    put_launch(problem, out);
    put_arguments(problem, out);
    buf_str(out, "\"reference\": { \"source\": \"reference.cu\", \"entry\": "
                 "\"reference\",\n  \"launch\": { \"grid\": [1], \"block\": "
                 "[256] } },\n\"tolerance\": { \"relative_l2\": 1e-3 }\n}\n");
}
