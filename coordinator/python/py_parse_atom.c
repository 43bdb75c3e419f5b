/* Names, literals, lists and calls. */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/python/py_function.h"
#include "coordinator/python/py_parse.h"

#define NAME_BYTES_MAX 100
#define BLANKS " \t\r\n\f"

/* ---- lists */

/* Behind an element: "for NAME in LIST if CONDITION ...".  The clauses stand in
 * each other, the first one outermost, and 'body' is in the last. */
static int parse_clauses(struct py_parser *parser, struct py_node *body,
                         struct py_node **out)
{
    struct py_node *clause = py_parse_make(parser, PY_OP_FOR), *inner = body;
    struct py_lexer *lexer = &parser->lexer;
    bool filter = py_parse_is(parser, "if");
    struct py_node *head = NULL;
    int rc = py_parse_next(parser);

    if (rc == 0 && !filter) {
        if (lexer->token != PY_TOKEN_NAME || lexer->len > NAME_BYTES_MAX)
            return py_parse_unexpected(parser);
        clause->text = mem_dup(lexer->text + lexer->begin, lexer->len);
        rc = py_parse_next(parser);
        if (rc == 0)
            rc = py_parse_expect(parser, "in");
    }
    clause->op = filter ? PY_OP_FILTER : PY_OP_FOR;
    if (rc == 0)
        rc = py_parse_or(parser, &head);
    if (rc == 0 && (py_parse_is(parser, "for") || py_parse_is(parser, "if"))) {
        if (++parser->depth > PY_EXPRESSION_DEPTH)
            return py_flaw_set(lexer->flaw, lexer->begin, "it is too deep");
        rc = parse_clauses(parser, body, &inner);
        parser->depth--;
    }
    if (rc < 0)
        return rc;
    py_parse_add(clause, head);
    py_parse_add(clause, inner);
    *out = clause;
    return 0;
}

/* Elements up to 'closing', or one with clauses, which is then collected in
 * this form. */
static int parse_items(struct py_parser *parser, struct py_node *list,
                       const char *closing, enum py_form form, bool *comma)
{
    struct py_node *collect = NULL;
    int rc = 0;

    *comma = false;
    while (rc == 0 && !py_parse_is(parser, closing)) {
        struct py_node *item = NULL;

        rc = py_parse_condition(parser, &item);
        if (rc == 0 && py_parse_is(parser, "for") && list->n == 0) {
            collect = py_parse_make(parser, PY_OP_COLLECT);
            collect->value.form = form;
            rc = parse_clauses(parser, item, &item);
            if (rc == 0)
                py_parse_add(collect, item);
            item = collect;
        }
        if (rc < 0)
            return rc;
        py_parse_add(list, item);
        if (collect || !py_parse_is(parser, ","))
            break;
        *comma = true;
        rc = py_parse_next(parser);
    }
    return rc < 0 ? rc : py_parse_expect(parser, closing);
}

/* "[x for ...]" is the list that its only item collects. */
static struct py_node *list_of(struct py_node *list)
{
    return list->n == 1 && list->items[0]->op == PY_OP_COLLECT ? list->items[0]
                                                               : list;
}

static int parse_list(struct py_parser *parser, struct py_node **out)
{
    struct py_node *list = py_parse_make(parser, PY_OP_LIST);
    bool comma;
    int rc = py_parse_next(parser);

    if (rc == 0)
        rc = parse_items(parser, list, "]", PY_FORM_LIST, &comma);
    *out = list_of(list);
    return rc;
}

/* What "(...)" holds, or a tuple. */
static int parse_brackets(struct py_parser *parser, struct py_node **out)
{
    struct py_node *list = py_parse_make(parser, PY_OP_LIST);
    bool comma = false;
    int rc = py_parse_next(parser);

    list->value.form = PY_FORM_TUPLE;
    if (rc == 0)
        rc = parse_items(parser, list, ")", PY_FORM_ONCE, &comma);
    *out = list->n == 1 && !comma ? list->items[0] : list;
    return rc;
}

/* "{1, 2}" is set([1, 2]); "{}" is a dict in Python. */
static int parse_set(struct py_parser *parser, struct py_node **out)
{
    struct py_node *call = py_parse_make(parser, PY_OP_CALL);
    struct py_node *list = py_parse_make(parser, PY_OP_LIST);
    bool comma;
    int rc = py_parse_next(parser);

    if (rc == 0 && py_parse_is(parser, "}"))
        return py_parse_unexpected(parser);
    if (rc == 0)
        rc = parse_items(parser, list, "}", PY_FORM_ONCE, &comma);
    if (rc < 0)
        return rc;
    call->text = mem_strdup("set");
    py_parse_add(call, list_of(list));
    *out = call;
    return 0;
}

/* ---- names and calls */

static bool stands_behind(const struct py_parser *parser, char sign)
{
    const char *at = parser->lexer.at;

    return at[strspn(at, BLANKS)] == sign;
}

/* The module in front of a name; pass over it and the '.'. */
static int parse_module(struct py_parser *parser, enum py_module *out)
{
    int rc;

    *out = PY_MODULE_NONE;
    if (!stands_behind(parser, '.'))
        return 0;
    if (py_parse_is(parser, "math"))
        *out = PY_MODULE_MATH;
    else if (py_parse_is(parser, "np") || py_parse_is(parser, "numpy"))
        *out = PY_MODULE_NP;
    else
        return 0;
    rc = py_parse_next(parser);
    return rc < 0 ? rc : py_parse_next(parser);
}

static int no_function(struct py_parser *parser, const struct py_node *node,
                       const char *which)
{
    return py_flaw_set(parser->lexer.flaw, node->at,
                       "there is no %s '%s' in the Python subset", which,
                       node->text);
}

/* The name of the function that is called is 'node->text'. */
static int parse_call(struct py_parser *parser, enum py_module module,
                      struct py_node *node)
{
    const char *name;
    bool comma;
    int rc = py_parse_next(parser);

    if (rc == 0)
        rc = parse_items(parser, node, ")", PY_FORM_ONCE, &comma);
    if (rc < 0)
        return rc;
    name = py_function_name(module, node->text, node->n);
    if (!name)
        return no_function(parser, node, "function");
    node->op = PY_OP_CALL;
    free(node->text);
    node->text = mem_strdup(name);
    return 0;
}

/* A name, or a function or number of a module. */
static int parse_name(struct py_parser *parser, struct py_node **out)
{
    struct py_node *node = py_parse_make(parser, PY_OP_NAME);
    const struct py_lexer *lexer = &parser->lexer;
    enum py_module module;
    double real;
    int rc = parse_module(parser, &module);

    if (rc < 0)
        return rc;
    if (lexer->token != PY_TOKEN_NAME || lexer->len > NAME_BYTES_MAX)
        return py_parse_unexpected(parser);
    *out = node;
    node->text = mem_dup(lexer->text + lexer->begin, lexer->len);
    rc = py_parse_next(parser);
    if (rc < 0)
        return rc;
    if (py_parse_is(parser, "("))
        return parse_call(parser, module, node);
    if (module == PY_MODULE_NONE)
        return 0;
    if (!py_function_constant(node->text, &real))
        return no_function(parser, node, "number");
    node->op = PY_OP_CONST;
    node->value = py_value_real(real);
    return 0;
}

/* Behind the object: ".NAME(...)". */
static int parse_method(struct py_parser *parser, struct py_node **out)
{
    struct py_node *node = py_parse_make(parser, PY_OP_CALL);
    const struct py_lexer *lexer = &parser->lexer;
    const char *name;
    bool comma;
    int rc = py_parse_next(parser);

    if (rc < 0)
        return rc;
    if (lexer->token != PY_TOKEN_NAME || lexer->len > NAME_BYTES_MAX)
        return py_parse_unexpected(parser);
    node->text = mem_dup(lexer->text + lexer->begin, lexer->len);
    name = py_function_method(node->text);
    rc = py_parse_next(parser);
    if (rc < 0)
        return rc;
    if (!name || !py_parse_is(parser, "("))
        return no_function(parser, node, "method");
    free(node->text);
    node->text = mem_strdup(name);
    py_parse_add(node, *out);
    *out = node;
    rc = py_parse_next(parser);
    return rc < 0 ? rc : parse_items(parser, node, ")", PY_FORM_ONCE, &comma);
}

/* ---- literals */

static struct py_node *make_text(struct py_parser *parser, const char *from,
                                 size_t len)
{
    struct py_node *node = py_parse_make(parser, PY_OP_CONST);
    struct py_expression *to = parser->to;

    to->texts = mem_grow(to->texts, to->n_texts + 1, sizeof(char *));
    to->texts[to->n_texts] = py_lexer_string(from, len);
    node->value = py_value_text(to->texts[to->n_texts++]);
    return node;
}

/* "{expression}" inside of f'...'; 'at' is behind it then. */
static int parse_field(struct py_parser *parser, const char **at,
                       const char *end, struct py_node *format)
{
    struct py_lexer *lexer = &parser->lexer;
    struct py_node *item = NULL;
    int rc;

    lexer->at = *at + 1;
    rc = py_parse_next(parser);
    if (rc == 0)
        rc = py_parse_condition(parser, &item);
    if (rc < 0)
        return rc;
    if (!py_parse_is(parser, "}") || lexer->at > end)
        return py_flaw_set(lexer->flaw, lexer->begin,
                           "only {expression} may stand in a text f'...'");
    *at = lexer->at;
    py_parse_add(format, item);
    return 0;
}

/* f'...'; "{{" and "}}" stand for one of them. */
static int parse_format(struct py_parser *parser, struct py_node **out)
{
    struct py_node *format = py_parse_make(parser, PY_OP_FORMAT);
    struct py_lexer *lexer = &parser->lexer;
    const char *end = lexer->at - 1, *at = lexer->text + lexer->begin + 2;
    int rc = 0;

    if (++parser->depth > PY_EXPRESSION_DEPTH)
        return py_flaw_set(lexer->flaw, format->at, "it is too deep");
    *out = format;
    while (rc == 0 && at < end) {
        const char *from = at;

        while (at < end && *at != '{' && *at != '}')
            at++;
        if (at > from)
            py_parse_add(format, make_text(parser, from, (size_t)(at - from)));
        if (at == end)
            break;
        if (at[1] == *at) {
            py_parse_add(format, make_text(parser, at, 1));
            at += 2;
        } else if (*at == '{') {
            rc = parse_field(parser, &at, end, format);
        } else {
            return py_flaw_set(lexer->flaw, (size_t)(at - lexer->text),
                               "'}' does not belong here");
        }
    }
    parser->depth--;
    lexer->at = end + 1;
    return rc < 0 ? rc : py_parse_next(parser);
}

static bool is_keyword(const struct py_parser *parser)
{
    static const char *const words[] = { "and", "or",   "not", "in",    "if",
                                         "for", "else", "is",  "lambda" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (py_parse_is(parser, words[i]))
            return true;
    return false;
}

/* 'a' 'b' is 'ab'. */
static int parse_texts(struct py_parser *parser, struct py_node **out)
{
    const struct py_lexer *lexer = &parser->lexer;
    struct py_node *format = NULL;
    int rc = 0;

    *out = NULL;
    while (rc == 0 && lexer->token == PY_TOKEN_TEXT) {
        struct py_node *text =
            make_text(parser, lexer->text + lexer->begin + 1, lexer->len - 2);

        if (*out && !format) {
            format = py_parse_make(parser, PY_OP_FORMAT);
            py_parse_add(format, *out);
        }
        if (format)
            py_parse_add(format, text);
        *out = format ? format : text;
        rc = py_parse_next(parser);
    }
    return rc;
}

static int parse_constant(struct py_parser *parser, struct py_node **out)
{
    struct py_lexer *lexer = &parser->lexer;
    struct py_node *node = NULL;
    int rc = 0;

    if (lexer->token == PY_TOKEN_TEXT)
        return parse_texts(parser, out);
    *out = node = py_parse_make(parser, PY_OP_CONST);
    if (lexer->token == PY_TOKEN_NUMBER)
        rc = py_lexer_number(lexer, &node->value);
    else if (py_parse_is(parser, "None"))
        node->value.kind = PY_NONE;
    else
        node->value = py_value_bool(py_parse_is(parser, "True"));
    return rc < 0 ? rc : py_parse_next(parser);
}

static int parse_atom(struct py_parser *parser, struct py_node **out)
{
    if (py_parse_is(parser, "("))
        return parse_brackets(parser, out);
    if (py_parse_is(parser, "["))
        return parse_list(parser, out);
    if (py_parse_is(parser, "{"))
        return parse_set(parser, out);
    if (parser->lexer.token == PY_TOKEN_FORMAT)
        return parse_format(parser, out);
    if (parser->lexer.token == PY_TOKEN_END ||
        parser->lexer.token == PY_TOKEN_SIGN || is_keyword(parser))
        return py_parse_unexpected(parser);
    return parser->lexer.token == PY_TOKEN_NAME &&
                   !py_parse_is(parser, "True") &&
                   !py_parse_is(parser, "False") && !py_parse_is(parser, "None")
               ? parse_name(parser, out)
               : parse_constant(parser, out);
}

/* ---- behind an atom */

/* A part of a slice that may be missing. */
static int parse_part(struct py_parser *parser, struct py_node *slice)
{
    struct py_node *part = NULL;
    int rc;

    if (py_parse_is(parser, ":") || py_parse_is(parser, "]")) {
        part = py_parse_make(parser, PY_OP_CONST);
        part->value.kind = PY_NONE;
        py_parse_add(slice, part);
        return 0;
    }
    rc = py_parse_condition(parser, &part);
    if (rc == 0)
        py_parse_add(slice, part);
    return rc;
}

/* "[place]" or "[from:to:step]" */
static int parse_places(struct py_parser *parser, struct py_node **out)
{
    struct py_node *node = py_parse_make(parser, PY_OP_INDEX);
    int rc = py_parse_next(parser);

    if (rc == 0 && py_parse_is(parser, "]"))
        return py_parse_unexpected(parser);
    py_parse_add(node, *out);
    *out = node;
    if (rc == 0)
        rc = parse_part(parser, node);
    if (rc < 0 || !py_parse_is(parser, ":"))
        return rc < 0 ? rc : py_parse_expect(parser, "]");
    node->op = PY_OP_SLICE;
    rc = py_parse_next(parser);
    if (rc == 0)
        rc = parse_part(parser, node);
    if (rc == 0 && py_parse_is(parser, ":"))
        rc = py_parse_next(parser);
    if (rc == 0)
        rc = parse_part(parser, node);
    return rc < 0 ? rc : py_parse_expect(parser, "]");
}

int py_parse_postfix(struct py_parser *parser, struct py_node **out)
{
    int rc = parse_atom(parser, out);

    while (rc == 0) {
        if (py_parse_is(parser, "["))
            rc = parse_places(parser, out);
        else if (py_parse_is(parser, "."))
            rc = parse_method(parser, out);
        else
            break;
    }
    return rc;
}
