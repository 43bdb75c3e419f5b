/* A recursive descent over the grammar of Python's expressions, with its
 * precedences (docs.python.org/3/reference/expressions.html). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/python/py_internal.h"
#include "coordinator/python/py_lexer.h"

#define NAME_BYTES_MAX 100

struct parser {
    struct py_lexer lexer;
    struct py_expression *to;
    int depth;
};

static int parse_condition(struct parser *parser, struct py_node **out);
static int parse_or(struct parser *parser, struct py_node **out);

static int next(struct parser *parser)
{
    return py_lexer_next(&parser->lexer);
}

static bool is(const struct parser *parser, const char *word)
{
    return py_lexer_is(&parser->lexer, word);
}

static int unexpected(struct parser *parser)
{
    const struct py_lexer *lexer = &parser->lexer;

    if (lexer->token == PY_TOKEN_END)
        return py_flaw_set(lexer->flaw, lexer->begin,
                           "the expression ends too early");
    return py_flaw_set(lexer->flaw, lexer->begin, "'%.*s' does not belong here",
                       lexer->len > 40 ? 40 : (int)lexer->len,
                       lexer->text + lexer->begin);
}

static int expect(struct parser *parser, const char *word)
{
    if (is(parser, word))
        return next(parser);
    if (parser->lexer.token == PY_TOKEN_END)
        return py_flaw_set(parser->lexer.flaw, parser->lexer.begin,
                           "'%s' is missing at the end", word);
    return unexpected(parser);
}

static struct py_node *make(struct parser *parser, enum py_op op)
{
    struct py_expression *to = parser->to;
    struct py_node *node = mem_new(1, sizeof(*node));

    node->op = op;
    node->at = parser->lexer.begin;
    to->nodes = mem_grow(to->nodes, to->n_nodes + 1, sizeof(struct py_node *));
    to->nodes[to->n_nodes++] = node;
    return node;
}

static void add(struct py_node *node, struct py_node *item)
{
    node->items = mem_grow(node->items, node->n + 1, sizeof(struct py_node *));
    node->items[node->n++] = item;
}

/* ---- lists and calls */

/* Behind an element: "for NAME in LIST if CONDITION ...".  The clauses stand in
 * each other, the first one outermost, and 'body' is in the last. */
static int parse_clauses(struct parser *parser, struct py_node *body,
                         struct py_node **out)
{
    struct py_node *clause = make(parser, PY_OP_FOR), *inner = body;
    struct py_lexer *lexer = &parser->lexer;
    bool filter = is(parser, "if");
    struct py_node *head = NULL;
    int rc = next(parser);

    if (rc == 0 && !filter) {
        if (lexer->token != PY_TOKEN_NAME || lexer->len > NAME_BYTES_MAX)
            return unexpected(parser);
        clause->text = mem_dup(lexer->text + lexer->begin, lexer->len);
        rc = next(parser);
        if (rc == 0)
            rc = expect(parser, "in");
    }
    clause->op = filter ? PY_OP_FILTER : PY_OP_FOR;
    if (rc == 0)
        rc = parse_or(parser, &head);
    if (rc == 0 && (is(parser, "for") || is(parser, "if"))) {
        if (++parser->depth > PY_EXPRESSION_DEPTH)
            return py_flaw_set(lexer->flaw, lexer->begin, "it is too deep");
        rc = parse_clauses(parser, body, &inner);
        parser->depth--;
    }
    if (rc < 0)
        return rc;
    add(clause, head);
    add(clause, inner);
    *out = clause;
    return 0;
}

/* Elements up to 'closing', or one with clauses. */
static int parse_items(struct parser *parser, struct py_node *list,
                       const char *closing, bool *comma)
{
    int rc = 0;

    *comma = false;
    while (rc == 0 && !is(parser, closing)) {
        struct py_node *item = NULL, *collect;

        rc = parse_condition(parser, &item);
        if (rc == 0 && is(parser, "for") && list->n == 0) {
            collect = make(parser, PY_OP_COLLECT);
            rc = parse_clauses(parser, item, &item);
            if (rc == 0)
                add(collect, item);
            item = collect;
        }
        if (rc < 0)
            return rc;
        add(list, item);
        if (!is(parser, ","))
            break;
        *comma = true;
        rc = next(parser);
    }
    return rc < 0 ? rc : expect(parser, closing);
}

/* "[x for ...]" is the list that its only item collects. */
static struct py_node *list_of(struct py_node *list)
{
    return list->n == 1 && list->items[0]->op == PY_OP_COLLECT ? list->items[0]
                                                               : list;
}

static int parse_brackets(struct parser *parser, struct py_node **out)
{
    struct py_node *list = make(parser, PY_OP_LIST);
    bool round = is(parser, "("), comma = false;
    int rc = next(parser);

    if (rc == 0)
        rc = parse_items(parser, list, round ? ")" : "]", &comma);
    if (rc < 0)
        return rc;
    *out = round && list->n == 1 && !comma ? list->items[0] : list_of(list);
    return 0;
}

/* "{1, 2}" is set([1, 2]); "{}" is a dict in Python. */
static int parse_set(struct parser *parser, struct py_node **out)
{
    struct py_node *call = make(parser, PY_OP_CALL);
    struct py_node *list = make(parser, PY_OP_LIST);
    bool comma;
    int rc = next(parser);

    if (rc == 0 && is(parser, "}"))
        return unexpected(parser);
    if (rc == 0)
        rc = parse_items(parser, list, "}", &comma);
    if (rc < 0)
        return rc;
    call->text = mem_strdup("set");
    add(call, list_of(list));
    *out = call;
    return 0;
}

/* A name, or a function of the module math. */
static int parse_name(struct parser *parser, struct py_node **out)
{
    struct py_node *node = make(parser, PY_OP_NAME);
    struct py_lexer *lexer = &parser->lexer;
    bool comma;
    int rc = 0;

    if (is(parser, "math")) {
        rc = next(parser);
        if (rc == 0)
            rc = expect(parser, ".");
    }
    if (rc < 0)
        return rc;
    if (lexer->token != PY_TOKEN_NAME || lexer->len > NAME_BYTES_MAX)
        return unexpected(parser);
    node->text = mem_dup(lexer->text + lexer->begin, lexer->len);
    rc = next(parser);
    if (rc < 0 || !is(parser, "(")) {
        *out = node;
        return rc;
    }
    if (!py_function_known(node->text))
        return py_flaw_set(lexer->flaw, node->at,
                           "there is no function '%s' in the Python subset",
                           node->text);
    node->op = PY_OP_CALL;
    rc = next(parser);
    if (rc == 0)
        rc = parse_items(parser, node, ")", &comma);
    *out = node;
    return rc;
}

static bool is_keyword(const struct parser *parser)
{
    static const char *const words[] = { "and", "or",   "not", "in",    "if",
                                         "for", "else", "is",  "lambda" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (is(parser, words[i]))
            return true;
    return false;
}

static void keep_text(struct parser *parser, struct py_value *out)
{
    struct py_expression *to = parser->to;

    to->texts = mem_grow(to->texts, to->n_texts + 1, sizeof(char *));
    to->texts[to->n_texts] = py_lexer_string(&parser->lexer);
    *out = py_value_text(to->texts[to->n_texts++]);
}

static int parse_atom(struct parser *parser, struct py_node **out)
{
    struct py_node *node;
    int rc = 0;

    if (is(parser, "(") || is(parser, "["))
        return parse_brackets(parser, out);
    if (is(parser, "{"))
        return parse_set(parser, out);
    if (parser->lexer.token == PY_TOKEN_END ||
        parser->lexer.token == PY_TOKEN_SIGN || is_keyword(parser))
        return unexpected(parser);
    if (parser->lexer.token == PY_TOKEN_NAME && !is(parser, "True") &&
        !is(parser, "False"))
        return parse_name(parser, out);
    node = make(parser, PY_OP_CONST);
    if (parser->lexer.token == PY_TOKEN_NUMBER)
        rc = py_lexer_number(&parser->lexer, &node->value);
    else if (parser->lexer.token == PY_TOKEN_TEXT)
        keep_text(parser, &node->value);
    else
        node->value = py_value_bool(is(parser, "True"));
    *out = node;
    return rc < 0 ? rc : next(parser);
}

static int parse_postfix(struct parser *parser, struct py_node **out)
{
    int rc = parse_atom(parser, out);

    while (rc == 0 && is(parser, "[")) {
        struct py_node *node = make(parser, PY_OP_INDEX), *place = NULL;

        rc = next(parser);
        if (rc == 0)
            rc = parse_condition(parser, &place);
        if (rc == 0)
            rc = expect(parser, "]");
        if (rc < 0)
            return rc;
        add(node, *out);
        add(node, place);
        *out = node;
    }
    return rc;
}

/* ---- operators */

static int parse_unary(struct parser *parser, struct py_node **out);

static int parse_power(struct parser *parser, struct py_node **out)
{
    struct py_node *node, *right = NULL;
    int rc = parse_postfix(parser, out);

    if (rc < 0 || !is(parser, "**"))
        return rc;
    node = make(parser, PY_OP_POWER);
    rc = next(parser);
    if (rc == 0)
        rc = parse_unary(parser, &right); /* 2 ** -1; it binds to the right */
    if (rc < 0)
        return rc;
    add(node, *out);
    add(node, right);
    *out = node;
    return 0;
}

static int parse_prefixed(struct parser *parser, enum py_op op,
                          int (*operand)(struct parser *, struct py_node **),
                          struct py_node **out)
{
    struct py_node *node = make(parser, op), *item = NULL;
    int rc = next(parser);

    if (rc == 0 && ++parser->depth > PY_EXPRESSION_DEPTH)
        return py_flaw_set(parser->lexer.flaw, node->at, "it is too deep");
    if (rc == 0)
        rc = operand(parser, &item);
    parser->depth--;
    if (rc < 0)
        return rc;
    add(node, item);
    *out = node;
    return 0;
}

static int parse_unary(struct parser *parser, struct py_node **out)
{
    if (is(parser, "-"))
        return parse_prefixed(parser, PY_OP_NEGATE, parse_unary, out);
    if (is(parser, "+"))
        return parse_prefixed(parser, PY_OP_PLUS, parse_unary, out);
    if (is(parser, "~"))
        return parse_prefixed(parser, PY_OP_INVERT, parse_unary, out);
    if (++parser->depth > PY_EXPRESSION_DEPTH)
        return py_flaw_set(parser->lexer.flaw, parser->lexer.begin,
                           "it is too deep");
    {
        int rc = parse_power(parser, out);

        parser->depth--;
        return rc;
    }
}

/* Operators of two operands that bind to the left, loosest level first. */
static const struct level {
    struct {
        const char *sign;
        enum py_op op;
    } list[4];
} levels[] = {
    { { { "|", PY_OP_BIT_OR } } },
    { { { "^", PY_OP_BIT_XOR } } },
    { { { "&", PY_OP_BIT_AND } } },
    { { { "<<", PY_OP_SHIFT_LEFT }, { ">>", PY_OP_SHIFT_RIGHT } } },
    { { { "+", PY_OP_ADD }, { "-", PY_OP_SUBTRACT } } },
    { { { "*", PY_OP_MULTIPLY },
        { "/", PY_OP_DIVIDE },
        { "//", PY_OP_FLOOR_DIVIDE },
        { "%", PY_OP_MODULO } } },
};

#define LEVELS (sizeof(levels) / sizeof(levels[0]))

static bool operator_of(const struct parser *parser, const struct level *level,
                        enum py_op *op)
{
    for (size_t i = 0; i < 4 && level->list[i].sign; i++)
        if (is(parser, level->list[i].sign)) {
            *op = level->list[i].op;
            return true;
        }
    return false;
}

static int parse_level(struct parser *parser, size_t at, struct py_node **out)
{
    enum py_op op;
    int rc = at + 1 < LEVELS ? parse_level(parser, at + 1, out)
                             : parse_unary(parser, out);

    while (rc == 0 && operator_of(parser, &levels[at], &op)) {
        struct py_node *node = make(parser, op), *right = NULL;

        rc = next(parser);
        if (rc == 0)
            rc = at + 1 < LEVELS ? parse_level(parser, at + 1, &right)
                                 : parse_unary(parser, &right);
        if (rc < 0)
            return rc;
        add(node, *out);
        add(node, right);
        *out = node;
    }
    return rc;
}

static int parse_relation(struct parser *parser, enum py_relation *out,
                          bool *found)
{
    static const char *const names[] = {
        "<", "<=", ">", ">=", "==", "!=", "in"
    };
    int rc;

    *found = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is(parser, names[i])) {
            *out = (enum py_relation)i;
            *found = true;
            return next(parser);
        }
    if (is(parser, "is")) {
        *found = true;
        rc = next(parser);
        *out = is(parser, "not") ? PY_IS_NOT : PY_IS;
        return rc < 0 || *out == PY_IS ? rc : next(parser);
    }
    if (!is(parser, "not"))
        return 0;
    *out = PY_NOT_IN;
    *found = true;
    rc = next(parser);
    return rc < 0 ? rc : expect(parser, "in");
}

static int parse_comparison(struct parser *parser, struct py_node **out)
{
    struct py_node *node = NULL, *right = NULL;
    enum py_relation relation;
    bool found = true;
    int rc = parse_level(parser, 0, out);

    while (rc == 0) {
        size_t at = parser->lexer.begin;

        rc = parse_relation(parser, &relation, &found);
        if (rc < 0 || !found)
            return rc;
        if (!node) {
            node = make(parser, PY_OP_COMPARE);
            node->at = at;
            add(node, *out);
            *out = node;
        }
        rc = parse_level(parser, 0, &right);
        if (rc < 0)
            return rc;
        add(node, right);
        node->relations =
            mem_grow(node->relations, node->n, sizeof(*node->relations));
        node->relations[node->n - 2] = relation;
    }
    return rc;
}

static int parse_not(struct parser *parser, struct py_node **out)
{
    return is(parser, "not") ? parse_prefixed(parser, PY_OP_NOT, parse_not, out)
                             : parse_comparison(parser, out);
}

static int parse_joined(struct parser *parser, const char *word, enum py_op op,
                        int (*operand)(struct parser *, struct py_node **),
                        struct py_node **out)
{
    struct py_node *node = NULL, *right = NULL;
    int rc = operand(parser, out);

    while (rc == 0 && is(parser, word)) {
        if (!node) {
            node = make(parser, op);
            add(node, *out);
            *out = node;
        }
        rc = next(parser);
        if (rc == 0)
            rc = operand(parser, &right);
        if (rc == 0)
            add(node, right);
    }
    return rc;
}

static int parse_and(struct parser *parser, struct py_node **out)
{
    return parse_joined(parser, "and", PY_OP_AND, parse_not, out);
}

static int parse_or(struct parser *parser, struct py_node **out)
{
    return parse_joined(parser, "or", PY_OP_OR, parse_and, out);
}

/* "A if CONDITION else B" */
static int parse_condition(struct parser *parser, struct py_node **out)
{
    struct py_node *node, *condition = NULL, *other = NULL;
    int rc;

    if (++parser->depth > PY_EXPRESSION_DEPTH)
        return py_flaw_set(parser->lexer.flaw, parser->lexer.begin,
                           "it is too deep");
    rc = parse_or(parser, out);
    if (rc == 0 && is(parser, "if")) {
        node = make(parser, PY_OP_IF);
        rc = next(parser);
        if (rc == 0)
            rc = parse_or(parser, &condition);
        if (rc == 0)
            rc = expect(parser, "else");
        if (rc == 0)
            rc = parse_condition(parser, &other);
        add(node, condition);
        add(node, *out);
        add(node, other);
        *out = node;
    }
    parser->depth--;
    return rc;
}

int py_expression_parse(const char *text, struct py_expression **out,
                        struct py_flaw *flaw)
{
    struct parser parser = { .lexer = {
                                 .text = text, .at = text, .flaw = flaw } };
    int rc;

    if (strnlen(text, PY_EXPRESSION_BYTES_MAX + 1) > PY_EXPRESSION_BYTES_MAX)
        return py_flaw_set(flaw, 0, "it has more than %d bytes",
                           PY_EXPRESSION_BYTES_MAX);
    parser.to = mem_new(1, sizeof(*parser.to));
    rc = next(&parser);
    if (rc == 0)
        rc = parse_condition(&parser, &parser.to->root);
    if (rc == 0 && parser.lexer.token != PY_TOKEN_END)
        rc = unexpected(&parser);
    if (rc < 0)
        py_expression_free(parser.to);
    else
        *out = parser.to;
    return rc;
}
