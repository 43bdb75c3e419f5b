/* The tunables and conditions of a T1 file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/problem/t1_internal.h"
#include "coordinator/python/py_sql.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/source/identifier.h"

#define VALUES_MAX 4096    /* of a tunable in a sweep file */
#define STEPS_MAX 20000000 /* while counting: less than a second */

/* ---- tunables */

bool t1_value(const struct json *json, struct py_value *out)
{
    switch (json->kind) {
    case JSON_NUMBER:
        *out = json->whole ? py_value_int((int64_t)json->number)
                           : py_value_real(json->number);
        return true;
    case JSON_BOOL:
        *out = py_value_bool(json->truth);
        return true;
    case JSON_TEXT:
        *out = py_value_text(json->text);
        return true;
    default:
        return false;
    }
}

/* A list in JSON, though the schema wants a text. */
static int values_of_list(const struct t1 *problem, const struct json *list,
                          struct t1_tunable *tunable, struct err *err)
{
    tunable->values = mem_new(list->n + 1, sizeof(*tunable->values));
    tunable->n = list->n;
    for (size_t i = 0; i < list->n; i++)
        if (!t1_value(&list->items[i], &tunable->values[i]))
            return t1_flaw(problem, &list->items[i], NULL, err,
                           "a value of '%.60s' is no number, text or bool",
                           tunable->name);
    return 0;
}

/* "1, 2, 4" is a tuple in Python. */
static int parse_values(const char *text, struct py_expression **out,
                        struct py_flaw *flaw)
{
    struct py_flaw other;
    char *tuple;
    int rc = py_expression_parse(text, out, flaw);

    if (rc == 0)
        return rc;
    tuple = mem_printf("(%s\n)", text);
    rc = py_expression_parse(tuple, out, &other);
    free(tuple);
    return rc;
}

static int values_of_python(const struct t1 *problem, const struct json *text,
                            struct t1_tunable *tunable, struct err *err)
{
    struct py_scope nothing = { NULL, 0 };
    struct py_value list = { .kind = PY_INT };
    struct py_flaw flaw;
    int rc = parse_values(text->text, &tunable->list, &flaw);

    if (rc == 0)
        rc = py_expression_eval(tunable->list, &nothing, &list, &flaw);
    if (rc == 0 && list.kind != PY_LIST)
        return t1_flaw(problem, text, "as in \"[16, 32, 64]\"", err,
                       "the values of '%.60s' are not a list", tunable->name);
    if (rc < 0)
        return t1_flaw(problem, text, NULL, err, "the values of '%.60s': %s",
                       tunable->name, flaw.what);
    tunable->values = mem_new(list.n + 1, sizeof(*tunable->values));
    for (size_t i = 0; i < list.n; i++) {
        tunable->values[tunable->n++] = list.items[i];
        if (list.items[i].kind == PY_LIST)
            return t1_flaw(problem, text, NULL, err,
                           "a value of '%.60s' is a list", tunable->name);
    }
    return 0;
}

/* A sweep file wants distinct values. */
static void drop_repeated(struct t1_tunable *tunable)
{
    size_t n = 0;

    for (size_t i = 0; i < tunable->n; i++) {
        size_t k = 0;

        while (k < n &&
               !py_value_equal(&tunable->values[k], &tunable->values[i]))
            k++;
        if (k == n)
            tunable->values[n++] = tunable->values[i];
    }
    tunable->n = n;
}

/* Which a sweep file keeps apart: numbers, true and false, texts. */
static enum py_kind sort_of(const struct py_value *value)
{
    return value->kind == PY_REAL ? PY_INT : value->kind;
}

/* As the spec of a sweep file checks them, but at their place in this file. */
static int check_values(const struct t1 *problem, const struct json *at,
                        const struct t1_tunable *tunable, struct err *err)
{
    for (size_t i = 0; i < tunable->n; i++) {
        const struct py_value *value = &tunable->values[i];
        const char *flaw =
            value->kind == PY_TEXT ? identifier_value_flaw(value->text) : NULL;

        if (value->kind == PY_NONE ||
            (value->kind == PY_INT && !py_value_fits(value)))
            return t1_flaw(problem, at,
                           "use numbers of 64 bits, texts, true and false", err,
                           "%s of '%.60s' cannot stand in a sweep file",
                           value->kind == PY_NONE ? "the value None"
                                                  : "a value beyond 64 bits",
                           tunable->name);
        if (flaw)
            return t1_flaw(problem, at, flaw, err,
                           "the value '%.60s' of '%.60s' cannot stand in a "
                           "sweep file",
                           value->text, tunable->name);
        if (sort_of(value) != sort_of(&tunable->values[0]))
            return t1_flaw(problem, at,
                           "all values of a tunable must be of one kind: "
                           "numbers, true and false, or texts",
                           err, "'%.60s' mixes %s and %s", tunable->name,
                           py_value_kind_name(tunable->values[0].kind),
                           py_value_kind_name(value->kind));
    }
    return 0;
}

static const struct py_value *find_value(const struct t1_tunable *tunable,
                                         const struct py_value *value)
{
    for (size_t i = 0; i < tunable->n; i++)
        if (py_value_equal(&tunable->values[i], value))
            return &tunable->values[i];
    return NULL;
}

/* The value that a text is in Python: others write "True" for True. */
static const struct py_value *find_literal(const struct t1_tunable *tunable,
                                           const char *text)
{
    const struct py_value *found = NULL;
    struct py_scope nothing = { NULL, 0 };
    struct py_expression *python = NULL;
    struct py_value value;
    struct py_flaw flaw;

    if (py_expression_parse(text, &python, &flaw) == 0 &&
        py_expression_eval(python, &nothing, &value, &flaw) == 0)
        found = find_value(tunable, &value);
    py_expression_free(python);
    return found;
}

/* A default that is not among the values may still be the baseline, if it is of
 * their kind. */
static bool fits(const struct t1_tunable *tunable, const struct py_value *value)
{
    bool whole = true;

    for (size_t i = 0; i < tunable->n; i++)
        whole = whole && tunable->values[i].kind != PY_REAL;
    return sort_of(value) == sort_of(&tunable->values[0]) &&
           !(whole && value->kind == PY_REAL) &&
           !(value->kind == PY_TEXT && identifier_value_flaw(value->text));
}

static void read_default(struct t1 *problem, const struct json *json,
                         struct t1_tunable *tunable)
{
    const struct py_value *found = NULL;
    bool in_list = json && json->kind == JSON_ARRAY && json->n == 1;
    struct py_value value;

    tunable->start = tunable->values[0];
    if (!json || json->kind == JSON_NULL)
        return;
    if (in_list)
        json = &json->items[0];
    if (t1_value(json, &value)) {
        found = find_value(tunable, &value);
        if (!found && value.kind == PY_TEXT)
            found = find_literal(tunable, value.text);
        if (!found && !in_list && fits(tunable, &value))
            found = &value;
    }
    if (found)
        tunable->start = *found;
    else
        t1_note(problem,
                "line %d: the default of '%.60s' is not among its values, "
                "so the first one is used",
                caret_line_number(&problem->text, json->at), tunable->name);
}

void t1_tunable_fini(struct t1_tunable *tunable)
{
    free(tunable->name);
    free(tunable->sql);
    free(tunable->values);
    py_expression_free(tunable->list);
    memset(tunable, 0, sizeof(*tunable));
}

static bool same_values(const struct t1_tunable *a, const struct t1_tunable *b)
{
    size_t i = 0;

    while (i < a->n && i < b->n && py_value_equal(&a->values[i], &b->values[i]))
        i++;
    return i == a->n && i == b->n;
}

/* The last tunable may stand in the file twice, if both say the same. */
static int drop_same(struct t1 *problem, const struct json *json,
                     struct err *err)
{
    struct t1_tunable *last = &problem->tunables[problem->n_tunables - 1];
    struct t1_tunable *first = problem->tunables;

    while (strcmp(first->name, last->name) != 0)
        first++;
    if (first == last)
        return 0;
    if (!same_values(first, last))
        return t1_flaw(problem, json, NULL, err,
                       "there are two tuning parameters '%.60s'", last->name);
    t1_note(problem, "line %d: '%.60s' stands there twice",
            caret_line_number(&problem->text, json->at), last->name);
    t1_tunable_fini(last);
    problem->n_tunables--;
    return 0;
}

static int read_tunable(struct t1 *problem, const struct json *json,
                        struct err *err)
{
    struct t1_tunable *tunable = &problem->tunables[problem->n_tunables];
    const char *name = t1_text(t1_member(json, "Name"));
    const struct json *values = t1_member(json, "Values");
    const struct json *start = t1_member(json, "Default");
    int rc;

    if (!name || !values)
        return t1_flaw(problem, json, NULL, err,
                       "a tuning parameter has a \"Name\" and \"Values\"");
    problem->n_tunables++;
    tunable->name = mem_strdup(name);
    if (values->kind == JSON_TEXT)
        rc = values_of_python(problem, values, tunable, err);
    else if (values->kind == JSON_ARRAY)
        rc = values_of_list(problem, values, tunable, err);
    else
        rc = t1_flaw(problem, values, "as in \"[16, 32, 64]\"", err,
                     "\"Values\" must be a text with a list");
    if (rc < 0)
        return rc;
    drop_repeated(tunable);
    if (tunable->n < 1 || tunable->n > VALUES_MAX)
        return t1_flaw(problem, values, "as in \"[16, 32, 64]\"", err,
                       "'%.60s' has %zu values; it must have 1 to %d", name,
                       tunable->n, VALUES_MAX);
    rc = check_values(problem, values, tunable, err);
    if (rc == 0)
        read_default(problem, start, tunable);
    return rc < 0 ? rc : drop_same(problem, json, err);
}

/* Names that SQL or C++ does not allow are changed as those of a record. */
static void fit_names(struct t1 *problem)
{
    struct landscape_tunable fitted[T1_TUNABLES_MAX] = { { .name = NULL } };
    struct landscape land = { .tunables = fitted,
                              .tunables_n = (int)problem->n_tunables };

    for (size_t i = 0; i < problem->n_tunables; i++)
        fitted[i].name = mem_strdup(problem->tunables[i].name);
    landscape_fit_names(&land);
    for (size_t i = 0; i < problem->n_tunables; i++) {
        struct t1_tunable *tunable = &problem->tunables[i];

        tunable->sql = fitted[i].name;
        if (strcmp(tunable->sql, tunable->name) != 0)
            t1_note(problem, "'%.60s' is called %s in the sweep file",
                    tunable->name, tunable->sql);
        problem->names.list[i] = (struct py_name){ .name = tunable->name,
                                                   .sql = tunable->sql,
                                                   .value = tunable->start,
                                                   .values = tunable->values,
                                                   .n_values = tunable->n };
    }
}

int t1_read_tunables(struct t1 *problem, const struct json *space,
                     struct err *err)
{
    const struct json *list = t1_member(space, "TuningParameters");
    int rc = 0;

    if (!list || list->kind != JSON_ARRAY || list->n < 1 ||
        list->n > T1_TUNABLES_MAX)
        return t1_flaw(problem, list ? list : space, NULL, err,
                       "\"TuningParameters\" must be a list of 1 to %d",
                       T1_TUNABLES_MAX);
    for (size_t i = 0; rc == 0 && i < list->n; i++)
        rc = read_tunable(problem, &list->items[i], err);
    if (rc < 0)
        return rc;
    fit_names(problem);
    problem->names.n = problem->n_tunables;
    if (problem->n_sizes > 0)
        problem->names.list[problem->names.n++] = (struct py_name){
            .name = "ProblemSize",
            .sql = "P",
            .value = { .kind = PY_LIST,
                       .items = problem->sizes,
                       .n = problem->n_sizes },
        };
    return 0;
}

/* ---- conditions */

static int condition_sql(struct t1 *problem, struct t1_condition *condition,
                         struct py_flaw *flaw)
{
    struct py_scope scope = t1_scope(problem);
    struct buf sql;
    size_t at = 0;
    const char *unknown = py_expression_unknown(condition->python, &scope, &at);
    int rc = 0;

    if (unknown) {
        snprintf(flaw->what, sizeof(flaw->what),
                 "there is no tuning parameter '%.80s'", unknown);
        flaw->at = at;
        return ERR_INPUT;
    }
    buf_init(&sql, T1_SQL_MAX - 100);
    rc = py_sql_condition(condition->python, &scope, &sql, flaw);
    if (rc == 0 && strcmp(buf_text(&sql), "1") != 0)
        condition->sql = mem_strdup(buf_text(&sql));
    buf_fini(&sql);
    condition->fails = rc == 0 && py_sql_may_fail(condition->python, &scope);
    if (rc < 0)
        rc = t1_table(problem, condition);
    for (size_t i = 0; i < problem->n_tunables; i++)
        if (py_expression_uses(condition->python, problem->tunables[i].name))
            condition->last = i;
    return rc;
}

static int read_condition(struct t1 *problem, const struct json *json,
                          struct err *err)
{
    struct t1_condition *condition =
        &problem->conditions[problem->n_conditions];
    const struct json *text =
        json->kind == JSON_OBJECT ? t1_member(json, "Expression") : json;
    struct py_flaw flaw;
    int rc;

    if (!t1_text(text))
        return t1_flaw(problem, json, NULL, err,
                       "a condition has an \"Expression\", which is a text");
    condition->text = text->text;
    condition->at = text->at;
    rc = py_expression_parse(text->text, &condition->python, &flaw);
    if (rc == 0)
        rc = condition_sql(problem, condition, &flaw);
    if (rc == 0) {
        problem->n_conditions++;
        return 0;
    }
    py_expression_free(condition->python);
    free(condition->sql);
    memset(condition, 0, sizeof(*condition));
    if (!problem->lenient)
        return t1_python_flaw(problem, text->at, &flaw, text->text, err);
    t1_note(problem, "line %d: the condition '%.100s' is left out: %s",
            caret_line_number(&problem->text, text->at), text->text, flaw.what);
    return 0;
}

int t1_read_conditions(struct t1 *problem, const struct json *space,
                       struct err *err)
{
    const struct json *list = t1_member(space, "Conditions");
    int rc = 0;

    if (!list || list->kind == JSON_NULL)
        return 0;
    if (list->kind != JSON_ARRAY || list->n > T1_CONDITIONS_MAX)
        return t1_flaw(problem, list, NULL, err,
                       "\"Conditions\" must be a list of at most %d",
                       T1_CONDITIONS_MAX);
    for (size_t i = 0; rc == 0 && i < list->n; i++)
        rc = read_condition(problem, &list->items[i], err);
    return rc;
}

/* ---- counting */

struct walk {
    struct t1 *problem;
    long left;   /* steps of evaluations */
    bool raised; /* a condition has no value for this beginning */
    bool found;
    struct err *err;
};

/* 1: it holds, 0: it does not; or an error. */
static int holds(struct walk *walk, struct t1_condition *condition)
{
    struct t1 *problem = walk->problem;
    struct py_scope scope = t1_scope(problem);
    struct py_value value = { .kind = PY_INT };
    struct py_flaw flaw;

    int rc = py_expression_eval(condition->python, &scope, &value, &flaw);

    walk->left -= py_expression_steps(condition->python);
    if (rc == 0)
        return py_value_truth(&value);
    return problem->lenient ? 0
                            : t1_python_flaw(problem, condition->at, &flaw,
                                             condition->text, walk->err);
}

/* All conditions, in the order of the file. */
static int hold_all(struct walk *walk)
{
    struct t1 *problem = walk->problem;
    int rc = 1;

    for (size_t i = 0; rc == 1 && i < problem->n_conditions; i++)
        rc = holds(walk, &problem->conditions[i]);
    return rc;
}

/* The conditions whose last tunable is 't'; a constant one has the first.  One
 * that raises an error may stand behind one that rejects the configuration. */
static int hold_at(struct walk *walk, size_t t)
{
    struct t1 *problem = walk->problem;
    bool last = t + 1 == problem->n_tunables;
    int rc = 1;

    for (size_t i = 0; rc == 1 && i < problem->n_conditions; i++) {
        if (problem->conditions[i].last != t)
            continue;
        rc = holds(walk, &problem->conditions[i]);
        if (rc < 0) {
            walk->raised = true;
            rc = 1;
        }
    }
    return rc == 1 && last && walk->raised ? hold_all(walk) : rc;
}

static void found(struct walk *walk)
{
    struct t1 *problem = walk->problem;

    for (size_t t = 0; !walk->found && t < problem->n_tunables; t++)
        problem->baseline[t] = problem->names.list[t].value;
    walk->found = true;
    problem->passing++;
}

static int walk_from(struct walk *walk, size_t t)
{
    struct t1 *problem = walk->problem;
    bool raised = walk->raised;

    for (size_t i = 0; i < problem->tunables[t].n && walk->left > 0; i++) {
        int rc;

        walk->raised = raised;
        problem->names.list[t].value = problem->tunables[t].values[i];
        rc = hold_at(walk, t);
        walk->left--;
        if (rc == 1 && t + 1 < problem->n_tunables)
            rc = walk_from(walk, t + 1);
        else if (rc == 1)
            found(walk);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The defaults of the file, if they pass. */
static int try_defaults(struct walk *walk, bool *pass)
{
    struct t1 *problem = walk->problem;
    int rc;

    for (size_t t = 0; t < problem->n_tunables; t++)
        problem->names.list[t].value = problem->tunables[t].start;
    rc = hold_all(walk);
    *pass = rc == 1;
    return rc < 0 ? rc : 0;
}

int t1_walk(struct t1 *problem, struct err *err)
{
    struct walk walk = { .problem = problem, .left = STEPS_MAX, .err = err };
    bool pass;
    int rc = try_defaults(&walk, &pass);

    for (size_t t = 0; pass && t < problem->n_tunables; t++)
        problem->baseline[t] = problem->tunables[t].start;
    walk.found = pass;
    problem->points = 1;
    for (size_t t = 0; t < problem->n_tunables; t++)
        if (__builtin_mul_overflow(problem->points,
                                   (int64_t)problem->tunables[t].n,
                                   &problem->points))
            problem->points = INT64_MAX;
    if (rc == 0)
        rc = walk_from(&walk, 0);
    if (rc < 0)
        return rc;
    if (walk.left <= 0)
        problem->passing = -1;
    if (!walk.found)
        return err_set(err, ERR_INPUT, "%s: %s", problem->text.file,
                       walk.left > 0 ? "the conditions reject every "
                                       "configuration"
                                     : "the defaults do not pass the "
                                       "conditions, and no configuration that "
                                       "does was found in 20,000,000 steps");
    if (!pass)
        t1_note(problem, "the defaults do not pass the conditions; the "
                         "baseline is the first configuration that does");
    return 0;
}
