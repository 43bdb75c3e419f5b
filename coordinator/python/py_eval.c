#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/python/py_function.h"
#include "coordinator/python/py_run.h"

/* The list that a "for" collects. */
struct collection {
    struct py_value *items;
    size_t n, cap;
};

static int eval(struct py_run *run, const struct py_node *node,
                struct py_value *out);

static const struct py_name *find(const struct py_run *run, const char *name)
{
    for (size_t i = run->n_bound; i > 0; i--)
        if (strcmp(run->bound[i - 1].name, name) == 0)
            return &run->bound[i - 1];
    for (size_t i = 0; i < run->scope->n; i++)
        if (strcmp(run->scope->names[i].name, name) == 0)
            return &run->scope->names[i];
    return NULL;
}

static int eval_name(struct py_run *run, const struct py_node *node,
                     struct py_value *out)
{
    const struct py_name *name = find(run, node->text);

    if (!name)
        return py_flaw_set(run->flaw, node->at, "there is no name '%s'",
                           node->text);
    *out = name->value;
    return 0;
}

static int eval_items(struct py_run *run, const struct py_node *node,
                      struct py_value **out)
{
    int rc = py_run_list(run, node->at, node->n, out);

    for (size_t i = 0; rc == 0 && i < node->n; i++)
        rc = eval(run, node->items[i], &(*out)[i]);
    return rc;
}

static int eval_list(struct py_run *run, const struct py_node *node,
                     struct py_value *out)
{
    struct py_value *items = NULL;
    int rc = eval_items(run, node, &items);

    *out = py_value_list(node->value.form, items, node->n);
    return rc;
}

/* The value of an operand, not its truth. */
static int eval_joined(struct py_run *run, const struct py_node *node,
                       struct py_value *out)
{
    bool ends = node->op == PY_OP_OR;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < node->n; i++) {
        rc = eval(run, node->items[i], out);
        if (rc == 0 && py_value_truth(out) == ends)
            break;
    }
    return rc;
}

static int contains(struct py_run *run, const struct py_node *node,
                    const struct py_value *list, const struct py_value *value,
                    bool *out)
{
    if (list->kind == PY_TEXT && value->kind == PY_TEXT) {
        *out = strstr(list->text, value->text) != NULL;
        return 0;
    }
    if (list->kind != PY_LIST)
        return py_flaw_set(run->flaw, node->at, "%s has no items for 'in'",
                           py_value_kind_name(list->kind));
    *out = false;
    if (py_run_spend(run, node->at, list->n) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < list->n && !*out; i++)
        *out = py_value_equal(&list->items[i], value);
    return 0;
}

static bool holds(enum py_relation relation, int order)
{
    switch (relation) {
    case PY_LESS:
        return order == -1;
    case PY_LESS_EQUAL:
        return order <= 0;
    case PY_GREATER:
        return order == 1;
    default:
        return order == 0 || order == 1;
    }
}

/* Of which Python has only one. */
static bool is_single(const struct py_value *value)
{
    return value->kind == PY_BOOL || value->kind == PY_NONE;
}

static int relate(struct py_run *run, const struct py_node *node,
                  enum py_relation relation, const struct py_value *a,
                  const struct py_value *b, bool *out)
{
    int order, rc;

    if (relation == PY_EQUAL || relation == PY_NOT_EQUAL) {
        *out = py_value_equal(a, b) == (relation == PY_EQUAL);
        return 0;
    }
    if (relation == PY_IN || relation == PY_NOT_IN) {
        rc = contains(run, node, b, a, out);
        *out = *out == (relation == PY_IN);
        return rc;
    }
    if (relation == PY_IS || relation == PY_IS_NOT) {
        *out =
            (a->kind == b->kind && py_value_equal(a, b)) == (relation == PY_IS);
        return is_single(a) || is_single(b)
                   ? 0
                   : py_flaw_set(run->flaw, node->at,
                                 "'is' compares only with True, False and "
                                 "None");
    }
    if (!py_value_order(a, b, &order))
        return py_flaw_set(run->flaw, node->at, "%s and %s have no order",
                           py_value_kind_name(a->kind),
                           py_value_kind_name(b->kind));
    *out = order != PY_VALUE_UNORDERED && holds(relation, order);
    return 0;
}

/* "a < b < c" evaluates b once, and c only if a < b. */
static int eval_compare(struct py_run *run, const struct py_node *node,
                        struct py_value *out)
{
    struct py_value left = { .kind = PY_INT }, right = left;
    bool truth = true;
    int rc = eval(run, node->items[0], &left);

    for (size_t i = 1; rc == 0 && truth && i < node->n; i++) {
        rc = eval(run, node->items[i], &right);
        if (rc == 0)
            rc = relate(run, node, node->relations[i - 1], &left, &right,
                        &truth);
        left = right;
    }
    *out = py_value_bool(truth);
    return rc;
}

static int eval_prefixed(struct py_run *run, const struct py_node *node,
                         struct py_value *out)
{
    static const struct py_value zero = { .kind = PY_INT };
    static const struct py_value ones = { .kind = PY_INT, .integer = -1 };
    struct py_value value = { .kind = PY_INT };
    int rc = eval(run, node->items[0], &value);

    if (rc < 0)
        return rc;
    if (node->op == PY_OP_NOT) {
        *out = py_value_bool(!py_value_truth(&value));
        return 0;
    }
    if (node->op == PY_OP_NEGATE && value.kind == PY_REAL) {
        *out = py_value_real(-value.real); /* 0 - 0.0 has no sign */
        return 0;
    }
    return py_arithmetic(node->op == PY_OP_INVERT   ? PY_OP_BIT_XOR
                         : node->op == PY_OP_NEGATE ? PY_OP_SUBTRACT
                                                    : PY_OP_ADD,
                         node->op == PY_OP_INVERT ? &ones : &zero, &value,
                         node->at, out, run->flaw);
}

static int eval_index(struct py_run *run, const struct py_node *node,
                      struct py_value *out)
{
    struct py_value list = { .kind = PY_INT }, place = list;
    int rc = eval(run, node->items[0], &list);

    if (rc == 0)
        rc = eval(run, node->items[1], &place);
    return rc < 0 ? rc : py_sequence_item(run, node, &list, &place, out);
}

static int eval_slice(struct py_run *run, const struct py_node *node,
                      struct py_value *out)
{
    struct py_value parts[4] = { { .kind = PY_INT } };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < 4; i++)
        rc = eval(run, node->items[i], &parts[i]);
    return rc < 0 ? rc : py_sequence_slice(run, node, parts, out);
}

/* max(NAME) and min(NAME) of a tunable are over all its values. */
static bool over_values(const struct py_run *run, const struct py_node *node,
                        struct py_value *out)
{
    const struct py_name *name;

    if (node->n != 1 || node->items[0]->op != PY_OP_NAME ||
        (strcmp(node->text, "max") != 0 && strcmp(node->text, "min") != 0))
        return false;
    name = find(run, node->items[0]->text);
    if (!name || !name->values)
        return false;
    *out = py_value_list(PY_FORM_LIST, name->values, name->n_values);
    return true;
}

static int eval_call(struct py_run *run, const struct py_node *node,
                     struct py_value *out)
{
    struct py_value *arguments, values;
    int rc;

    if (over_values(run, node, &values))
        return py_function_call(run, node, &values, 1, out);
    rc = eval_items(run, node, &arguments);
    for (size_t i = 0; rc == 0 && i < node->n; i++)
        if (arguments[i].kind == PY_LIST)
            rc = py_run_spend(run, node->at, arguments[i].n);
    return rc < 0 ? rc : py_function_call(run, node, arguments, node->n, out);
}

/* ---- "for" */

static int collect(struct py_run *run, const struct py_node *node,
                   struct collection *to);

static int collect_each(struct py_run *run, const struct py_node *node,
                        struct collection *to)
{
    struct py_value list = { .kind = PY_INT };
    int rc = eval(run, node->items[0], &list);

    if (rc == 0 && list.kind == PY_TEXT)
        rc = py_text_characters(run, node->at, list.text, &list);
    if (rc == 0 && list.kind != PY_LIST)
        return py_flaw_set(run->flaw, node->at, "%s has no items for 'for'",
                           py_value_kind_name(list.kind));
    if (rc == 0 && run->n_bound == PY_RUN_BOUND_MAX)
        return py_flaw_set(run->flaw, node->at,
                           "more than %d 'for' inside of each other",
                           PY_RUN_BOUND_MAX);
    if (rc < 0)
        return rc;
    run->n_bound++;
    for (size_t i = 0; rc == 0 && i < list.n; i++) {
        run->bound[run->n_bound - 1] =
            (struct py_name){ .name = node->text, .value = list.items[i] };
        rc = collect(run, node->items[1], to);
    }
    run->n_bound--;
    return rc;
}

static int collect(struct py_run *run, const struct py_node *node,
                   struct collection *to)
{
    struct py_value value = { .kind = PY_INT };
    int rc = py_run_spend(run, node->at, 1);

    if (rc < 0)
        return rc;
    if (node->op == PY_OP_FOR)
        return collect_each(run, node, to);
    if (node->op == PY_OP_FILTER) {
        rc = eval(run, node->items[0], &value);
        return rc == 0 && py_value_truth(&value)
                   ? collect(run, node->items[1], to)
                   : rc;
    }
    rc = eval(run, node, &value);
    if (rc < 0)
        return rc;
    if (to->n == to->cap) {
        to->cap = 2 * to->cap + 16;
        to->items = mem_grow(to->items, to->cap, sizeof(*to->items));
    }
    to->items[to->n++] = value;
    return 0;
}

static int eval_collect(struct py_run *run, const struct py_node *node,
                        struct py_value *out)
{
    struct collection found = { NULL, 0, 0 };
    struct py_value *items;
    int rc = collect(run, node->items[0], &found);

    if (rc == 0)
        rc = py_run_list(run, node->at, found.n, &items);
    if (rc == 0) {
        if (found.n)
            memcpy(items, found.items, found.n * sizeof(*items));
        *out = py_value_list(node->value.form, items, found.n);
    }
    free(found.items);
    return rc;
}

/* ---- all */

static int eval_if(struct py_run *run, const struct py_node *node,
                   struct py_value *out)
{
    struct py_value condition = { .kind = PY_INT };
    int rc = eval(run, node->items[0], &condition);

    return rc < 0 ? rc
                  : eval(run, node->items[py_value_truth(&condition) ? 1 : 2],
                         out);
}

static int eval_pair(struct py_run *run, const struct py_node *node,
                     struct py_value *out)
{
    struct py_value a = { .kind = PY_INT }, b = a;
    int rc = eval(run, node->items[0], &a);

    if (rc == 0)
        rc = eval(run, node->items[1], &b);
    if (rc < 0)
        return rc;
    if (node->op == PY_OP_ADD && py_sequence_joins(&a) && a.kind == b.kind &&
        a.form == b.form)
        return py_sequence_sum(run, node, &a, &b, out);
    if (node->op == PY_OP_MULTIPLY && py_sequence_joins(&a) &&
        py_value_is_whole(&b))
        return py_sequence_repeat(run, node, &a, b.integer, out);
    if (node->op == PY_OP_MULTIPLY && py_sequence_joins(&b) &&
        py_value_is_whole(&a))
        return py_sequence_repeat(run, node, &b, a.integer, out);
    return py_arithmetic(node->op, &a, &b, node->at, out, run->flaw);
}

/* f'{a}x{b}' */
static int eval_format(struct py_run *run, const struct py_node *node,
                       struct py_value *out)
{
    struct py_value value = { .kind = PY_INT }, part = value;
    int rc = 0;

    *out = py_value_text("");
    for (size_t i = 0; rc == 0 && i < node->n; i++) {
        struct py_value before = *out;

        rc = eval(run, node->items[i], &value);
        part.kind = PY_TEXT;
        if (rc == 0)
            rc = py_text_of(run, node->at, &value, &part.text);
        if (rc == 0)
            rc = py_sequence_sum(run, node, &before, &part, out);
    }
    return rc;
}

static int eval(struct py_run *run, const struct py_node *node,
                struct py_value *out)
{
    *out = py_value_int(0);
    if (py_run_spend(run, node->at, 1) < 0)
        return ERR_INPUT;
    switch (node->op) {
    case PY_OP_CONST:
        *out = node->value;
        return 0;
    case PY_OP_NAME:
        return eval_name(run, node, out);
    case PY_OP_LIST:
        return eval_list(run, node, out);
    case PY_OP_OR:
    case PY_OP_AND:
        return eval_joined(run, node, out);
    case PY_OP_COMPARE:
        return eval_compare(run, node, out);
    case PY_OP_NOT:
    case PY_OP_NEGATE:
    case PY_OP_PLUS:
    case PY_OP_INVERT:
        return eval_prefixed(run, node, out);
    case PY_OP_IF:
        return eval_if(run, node, out);
    case PY_OP_INDEX:
        return eval_index(run, node, out);
    case PY_OP_SLICE:
        return eval_slice(run, node, out);
    case PY_OP_FORMAT:
        return eval_format(run, node, out);
    case PY_OP_CALL:
        return eval_call(run, node, out);
    case PY_OP_COLLECT:
        return eval_collect(run, node, out);
    default:
        return eval_pair(run, node, out);
    }
}

int py_eval_node(struct py_expression *expression, const struct py_node *node,
                 const struct py_scope *scope, long *steps,
                 struct py_value *out, struct py_flaw *flaw)
{
    struct py_run run = {
        .expression = expression, .scope = scope, .steps = *steps, .flaw = flaw
    };
    int rc = eval(&run, node, out);

    *steps = run.steps;
    return rc;
}

int py_expression_eval(struct py_expression *expression,
                       const struct py_scope *scope, struct py_value *out,
                       struct py_flaw *flaw)
{
    long steps = PY_EXPRESSION_STEPS;
    int rc;

    py_run_drop(expression);
    rc = py_eval_node(expression, expression->root, scope, &steps, out, flaw);
    expression->steps = PY_EXPRESSION_STEPS - steps;
    return rc;
}

long py_expression_steps(const struct py_expression *expression)
{
    return expression->steps;
}

void py_expression_free(struct py_expression *expression)
{
    if (!expression)
        return;
    py_run_drop(expression);
    for (size_t i = 0; i < expression->n_nodes; i++) {
        free(expression->nodes[i]->text);
        free(expression->nodes[i]->items);
        free(expression->nodes[i]->relations);
        free(expression->nodes[i]);
    }
    for (size_t i = 0; i < expression->n_texts; i++)
        free(expression->texts[i]);
    free(expression->nodes);
    free(expression->texts);
    free(expression);
}

/* ---- names */

typedef bool name_fn(const struct py_node *node, const void *arg);

/* The first free name that 'fits'; 'bound' are the variables around it. */
static const struct py_node *first_name(const struct py_node *node,
                                        const struct py_node **bound,
                                        size_t n_bound, name_fn *fits,
                                        const void *arg)
{
    const struct py_node *found = NULL;

    if (node->op == PY_OP_NAME) {
        for (size_t i = 0; i < n_bound; i++)
            if (strcmp(bound[i]->text, node->text) == 0)
                return NULL;
        return fits(node, arg) ? node : NULL;
    }
    for (size_t i = 0; !found && i < node->n; i++) {
        if (node->op == PY_OP_FOR && i == 1) {
            if (n_bound == PY_RUN_BOUND_MAX)
                return NULL; /* its evaluation is refused */
            bound[n_bound++] = node;
        }
        found = first_name(node->items[i], bound, n_bound, fits, arg);
    }
    return found;
}

static bool has_name(const struct py_node *node, const void *name)
{
    return strcmp(node->text, name) == 0;
}

static bool not_in_scope(const struct py_node *node, const void *arg)
{
    const struct py_scope *scope = arg;

    for (size_t i = 0; i < scope->n; i++)
        if (strcmp(scope->names[i].name, node->text) == 0)
            return false;
    return true;
}

bool py_expression_uses(const struct py_expression *expression,
                        const char *name)
{
    const struct py_node *bound[PY_RUN_BOUND_MAX];

    return first_name(expression->root, bound, 0, has_name, name) != NULL;
}

const char *py_expression_unknown(const struct py_expression *expression,
                                  const struct py_scope *scope, size_t *at)
{
    const struct py_node *bound[PY_RUN_BOUND_MAX];
    const struct py_node *found =
        first_name(expression->root, bound, 0, not_in_scope, scope);

    if (found)
        *at = found->at;
    return found ? found->text : NULL;
}
