#include "coordinator/python/py_parse.h"

#include <string.h>

#include "common/err.h"
#include "common/mem.h"

int py_parse_next(struct py_parser *parser)
{
    return py_lexer_next(&parser->lexer);
}

bool py_parse_is(const struct py_parser *parser, const char *word)
{
    return py_lexer_is(&parser->lexer, word);
}

int py_parse_unexpected(struct py_parser *parser)
{
    const struct py_lexer *lexer = &parser->lexer;

    if (lexer->token == PY_TOKEN_END)
        return py_flaw_set(lexer->flaw, lexer->begin,
                           "the expression ends too early");
    return py_flaw_set(lexer->flaw, lexer->begin, "'%.*s' does not belong here",
                       lexer->len > 40 ? 40 : (int)lexer->len,
                       lexer->text + lexer->begin);
}

int py_parse_expect(struct py_parser *parser, const char *word)
{
    if (py_parse_is(parser, word))
        return py_parse_next(parser);
    if (parser->lexer.token == PY_TOKEN_END)
        return py_flaw_set(parser->lexer.flaw, parser->lexer.begin,
                           "'%s' is missing at the end", word);
    return py_parse_unexpected(parser);
}

struct py_node *py_parse_make(struct py_parser *parser, enum py_op op)
{
    struct py_expression *to = parser->to;
    struct py_node *node = mem_new(1, sizeof(*node));

    node->op = op;
    node->at = parser->lexer.begin;
    to->nodes = mem_grow(to->nodes, to->n_nodes + 1, sizeof(struct py_node *));
    to->nodes[to->n_nodes++] = node;
    return node;
}

void py_parse_add(struct py_node *node, struct py_node *item)
{
    node->items = mem_grow(node->items, node->n + 1, sizeof(struct py_node *));
    node->items[node->n++] = item;
}

/* ---- operators */

static int parse_unary(struct py_parser *parser, struct py_node **out);

static int parse_power(struct py_parser *parser, struct py_node **out)
{
    struct py_node *node, *right = NULL;
    int rc = py_parse_postfix(parser, out);

    if (rc < 0 || !py_parse_is(parser, "**"))
        return rc;
    node = py_parse_make(parser, PY_OP_POWER);
    rc = py_parse_next(parser);
    if (rc == 0)
        rc = parse_unary(parser, &right); /* 2 ** -1; it binds to the right */
    if (rc < 0)
        return rc;
    py_parse_add(node, *out);
    py_parse_add(node, right);
    *out = node;
    return 0;
}

static int parse_prefixed(struct py_parser *parser, enum py_op op,
                          int (*operand)(struct py_parser *, struct py_node **),
                          struct py_node **out)
{
    struct py_node *node = py_parse_make(parser, op), *item = NULL;
    int rc = py_parse_next(parser);

    if (rc == 0 && ++parser->depth > PY_EXPRESSION_DEPTH)
        return py_flaw_set(parser->lexer.flaw, node->at, "it is too deep");
    if (rc == 0)
        rc = operand(parser, &item);
    parser->depth--;
    if (rc < 0)
        return rc;
    py_parse_add(node, item);
    *out = node;
    return 0;
}

static int parse_unary(struct py_parser *parser, struct py_node **out)
{
    if (py_parse_is(parser, "-"))
        return parse_prefixed(parser, PY_OP_NEGATE, parse_unary, out);
    if (py_parse_is(parser, "+"))
        return parse_prefixed(parser, PY_OP_PLUS, parse_unary, out);
    if (py_parse_is(parser, "~"))
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

static bool operator_of(const struct py_parser *parser,
                        const struct level *level, enum py_op *op)
{
    for (size_t i = 0; i < 4 && level->list[i].sign; i++)
        if (py_parse_is(parser, level->list[i].sign)) {
            *op = level->list[i].op;
            return true;
        }
    return false;
}

static int parse_level(struct py_parser *parser, size_t at,
                       struct py_node **out)
{
    enum py_op op;
    int rc = at + 1 < LEVELS ? parse_level(parser, at + 1, out)
                             : parse_unary(parser, out);

    while (rc == 0 && operator_of(parser, &levels[at], &op)) {
        struct py_node *node = py_parse_make(parser, op), *right = NULL;

        rc = py_parse_next(parser);
        if (rc == 0)
            rc = at + 1 < LEVELS ? parse_level(parser, at + 1, &right)
                                 : parse_unary(parser, &right);
        if (rc < 0)
            return rc;
        py_parse_add(node, *out);
        py_parse_add(node, right);
        *out = node;
    }
    return rc;
}

static int parse_relation(struct py_parser *parser, enum py_relation *out,
                          bool *found)
{
    static const char *const names[] = {
        "<", "<=", ">", ">=", "==", "!=", "in"
    };
    int rc;

    *found = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (py_parse_is(parser, names[i])) {
            *out = (enum py_relation)i;
            *found = true;
            return py_parse_next(parser);
        }
    if (py_parse_is(parser, "is")) {
        *found = true;
        rc = py_parse_next(parser);
        *out = py_parse_is(parser, "not") ? PY_IS_NOT : PY_IS;
        return rc < 0 || *out == PY_IS ? rc : py_parse_next(parser);
    }
    if (!py_parse_is(parser, "not"))
        return 0;
    *out = PY_NOT_IN;
    *found = true;
    rc = py_parse_next(parser);
    return rc < 0 ? rc : py_parse_expect(parser, "in");
}

static int parse_comparison(struct py_parser *parser, struct py_node **out)
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
            node = py_parse_make(parser, PY_OP_COMPARE);
            node->at = at;
            py_parse_add(node, *out);
            *out = node;
        }
        rc = parse_level(parser, 0, &right);
        if (rc < 0)
            return rc;
        py_parse_add(node, right);
        node->relations =
            mem_grow(node->relations, node->n, sizeof(*node->relations));
        node->relations[node->n - 2] = relation;
    }
    return rc;
}

static int parse_not(struct py_parser *parser, struct py_node **out)
{
    return py_parse_is(parser, "not")
               ? parse_prefixed(parser, PY_OP_NOT, parse_not, out)
               : parse_comparison(parser, out);
}

static int parse_joined(struct py_parser *parser, const char *word,
                        enum py_op op,
                        int (*operand)(struct py_parser *, struct py_node **),
                        struct py_node **out)
{
    struct py_node *node = NULL, *right = NULL;
    int rc = operand(parser, out);

    while (rc == 0 && py_parse_is(parser, word)) {
        if (!node) {
            node = py_parse_make(parser, op);
            py_parse_add(node, *out);
            *out = node;
        }
        rc = py_parse_next(parser);
        if (rc == 0)
            rc = operand(parser, &right);
        if (rc == 0)
            py_parse_add(node, right);
    }
    return rc;
}

static int parse_and(struct py_parser *parser, struct py_node **out)
{
    return parse_joined(parser, "and", PY_OP_AND, parse_not, out);
}

int py_parse_or(struct py_parser *parser, struct py_node **out)
{
    return parse_joined(parser, "or", PY_OP_OR, parse_and, out);
}

/* "A if CONDITION else B" */
int py_parse_condition(struct py_parser *parser, struct py_node **out)
{
    struct py_node *node, *condition = NULL, *other = NULL;
    int rc;

    if (++parser->depth > PY_EXPRESSION_DEPTH)
        return py_flaw_set(parser->lexer.flaw, parser->lexer.begin,
                           "it is too deep");
    rc = py_parse_or(parser, out);
    if (rc == 0 && py_parse_is(parser, "if")) {
        node = py_parse_make(parser, PY_OP_IF);
        rc = py_parse_next(parser);
        if (rc == 0)
            rc = py_parse_or(parser, &condition);
        if (rc == 0)
            rc = py_parse_expect(parser, "else");
        if (rc == 0)
            rc = py_parse_condition(parser, &other);
        py_parse_add(node, condition);
        py_parse_add(node, *out);
        py_parse_add(node, other);
        *out = node;
    }
    parser->depth--;
    return rc;
}

int py_expression_parse(const char *text, struct py_expression **out,
                        struct py_flaw *flaw)
{
    struct py_parser parser = { .lexer = {
                                    .text = text, .at = text, .flaw = flaw } };
    int rc;

    if (strnlen(text, PY_EXPRESSION_BYTES_MAX + 1) > PY_EXPRESSION_BYTES_MAX)
        return py_flaw_set(flaw, 0, "it has more than %d bytes",
                           PY_EXPRESSION_BYTES_MAX);
    parser.to = mem_new(1, sizeof(*parser.to));
    rc = py_parse_next(&parser);
    if (rc == 0)
        rc = py_parse_condition(&parser, &parser.to->root);
    if (rc == 0 && parser.lexer.token != PY_TOKEN_END)
        rc = py_parse_unexpected(&parser);
    if (rc < 0)
        py_expression_free(parser.to);
    else
        *out = parser.to;
    return rc;
}
