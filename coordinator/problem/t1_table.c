/* A condition that has no counterpart in SQL, as a list of the values for which
 * it holds: "(A = 1 AND B IN (2, 4)) OR (A = 2 AND B = 8)". */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/problem/t1_internal.h"
#include "coordinator/python/py_sql.h"

#define COMBINATIONS_MAX 100000
#define STEPS_MAX 20000000 /* less than a second */

struct table {
    struct t1 *problem;
    struct t1_condition *condition;
    size_t used[T1_TUNABLES_MAX]; /* the tunables that it names */
    size_t n;
    long left;  /* steps of evaluations */
    bool valid; /* it has a value for at least one combination */
};

/* The values, and the default if it is not among them. */
static size_t value_count(const struct t1_tunable *tunable)
{
    for (size_t i = 0; i < tunable->n; i++)
        if (py_value_equal(&tunable->values[i], &tunable->start))
            return tunable->n;
    return tunable->n + 1;
}

static const struct py_value *value_at(const struct t1_tunable *tunable,
                                       size_t i)
{
    return i < tunable->n ? &tunable->values[i] : &tunable->start;
}

/* It fits: few combinations of few tunables. */
static bool begin(struct table *table)
{
    const struct t1 *problem = table->problem;
    size_t combinations = 1;

    for (size_t t = 0; t < problem->n_tunables; t++)
        if (py_expression_uses(table->condition->python,
                               problem->tunables[t].name)) {
            table->used[table->n++] = t;
            combinations *= value_count(&problem->tunables[t]);
            if (combinations > COMBINATIONS_MAX)
                return false;
        }
    return table->n > 0;
}

/* Where Python raises an error, it does not hold. */
static char *truth(struct table *table)
{
    struct py_scope scope = t1_scope(table->problem);
    struct py_value value = { .kind = PY_INT };
    struct py_flaw flaw;
    int rc =
        py_expression_eval(table->condition->python, &scope, &value, &flaw);

    table->left -= py_expression_steps(table->condition->python);
    table->valid = table->valid || rc == 0;
    return mem_strdup(rc == 0 && py_value_truth(&value) ? "1" : "0");
}

/* The values from 'first' on that need the same of the other tunables. */
static void put_group(const struct t1_tunable *tunable, char *const *needs,
                      size_t n, size_t first, struct buf *out)
{
    size_t listed = 0;

    buf_printf(out, "%s(%s IN (", out->len ? " OR " : "", tunable->sql);
    for (size_t i = first; i < n; i++)
        if (strcmp(needs[i], needs[first]) == 0) {
            buf_str(out, listed++ ? ", " : "");
            py_sql_write(value_at(tunable, i), out);
        }
    buf_str(out, ")");
    if (strcmp(needs[first], "1") != 0)
        buf_printf(out, " AND (%s)", needs[first]);
    buf_str(out, ")");
}

static bool is_first(char *const *needs, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(needs[k], needs[i]) == 0)
            return false;
    return true;
}

/* What the needs of all values are together; NULL: too long. */
static char *joined(const struct t1_tunable *tunable, char *const *needs,
                    size_t n)
{
    struct buf out;
    char *text = NULL;
    size_t same = 0;

    while (same < n && strcmp(needs[same], needs[0]) == 0)
        same++;
    if (same == n)
        return mem_strdup(needs[0]);
    buf_init(&out, T1_SQL_MAX - 100);
    for (size_t i = 0; i < n && !out.truncated; i++)
        if (strcmp(needs[i], "0") != 0 && is_first(needs, i))
            put_group(tunable, needs, n, i, &out);
    if (!out.truncated)
        text = mem_strdup(buf_text(&out));
    buf_fini(&out);
    return text;
}

/* What is needed of the tunables from 'at' on; NULL: too long. */
static char *need(struct table *table, size_t at)
{
    struct t1 *problem = table->problem;
    const struct t1_tunable *tunable;
    struct py_value *current;
    char **needs, *text = NULL;
    size_t n, done = 0;

    if (at == table->n)
        return truth(table);
    tunable = &problem->tunables[table->used[at]];
    current = &problem->names.list[table->used[at]].value;
    n = value_count(tunable);
    needs = mem_new(n, sizeof(*needs));
    for (; done < n && table->left > 0; done++) {
        *current = *value_at(tunable, done);
        needs[done] = need(table, at + 1);
        if (!needs[done])
            break;
    }
    if (done == n)
        text = joined(tunable, needs, n);
    *current = tunable->start;
    for (size_t i = 0; i < done; i++)
        free(needs[i]);
    free(needs);
    return text;
}

int t1_table(struct t1 *problem, struct t1_condition *condition)
{
    struct table table = { .problem = problem,
                           .condition = condition,
                           .left = STEPS_MAX };
    char *text = begin(&table) ? need(&table, 0) : NULL;

    if (!text || !table.valid) {
        free(text);
        return ERR_INPUT;
    }
    if (strcmp(text, "1") != 0)
        condition->sql = mem_printf("(%s)", text);
    free(text);
    return 0;
}
