#include "coordinator/points/int_expr_parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/mem.h"
#include "coordinator/points/int_expr.h"
#include "coordinator/points/int_expr_call.h"

#define DEPTH_MAX 100    /* of brackets, far from the end of the stack */
#define EVALUATED_MAX 64 /* parts, for the time that they take */
#define ARGUMENTS_MAX 32

struct parser {
    struct int_expr *expr;
    const struct int_expr_parse_use *use;
    const char *text;
    size_t at, len; /* the current token */
    size_t before;  /* where the previous token ends */
    bool wrong;     /* not an expression of the kind known here */
    int depth, evaluated;
};

struct part {
    int node;      /* INT_EXPR_NONE: not known */
    uint64_t axes; /* that it names */
    size_t begin;
};

static struct part parse_any(struct parser *parser);
static struct part parse_relation(struct parser *parser);

/* ---- tokens */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t symbol_length(const char *p)
{
    static const char *const pairs[] = { "<=", ">=", "<>", "!=",
                                         "==", "<<", ">>" };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (strncmp(p, pairs[i], 2) == 0)
            return 2;
    return *p ? 1 : 0;
}

static void step(struct parser *parser)
{
    const char *text = parser->text;
    size_t at = parser->at + parser->len, end;

    parser->before = at;
    while (text[at] && strchr(" \t\r\n", text[at]))
        at++;
    end = at;
    if (text[at] == '\'') {
        const char *close = strchr(text + at + 1, '\'');

        end = close ? (size_t)(close - text) + 1 : at + strlen(text + at);
    } else if (isdigit((unsigned char)text[at]) || text[at] == '.') {
        while (is_word(text[end]) || text[end] == '.' ||
               (text[end] && strchr("+-", text[end]) &&
                tolower((unsigned char)text[end - 1]) == 'e'))
            end++;
    } else if (is_word(text[at]) || text[at] == '?') {
        end++;
        while (is_word(text[end]))
            end++;
    } else {
        end += symbol_length(text + at);
    }
    parser->at = at;
    parser->len = end - at;
}

static bool sees(const struct parser *parser, const char *what)
{
    return parser->len == strlen(what) &&
           strncasecmp(parser->text + parser->at, what, parser->len) == 0;
}

static bool take(struct parser *parser, const char *what)
{
    if (!sees(parser, what))
        return false;
    step(parser);
    return true;
}

static void expect(struct parser *parser, const char *what)
{
    if (!take(parser, what))
        parser->wrong = true;
}

/* ---- parts */

static size_t combinations(const struct parser *parser, uint64_t axes,
                           size_t most)
{
    size_t n = 1;

    for (size_t a = 0; a < int_expr_n_axes(parser->expr) && n <= most; a++)
        if (axes >> a & 1)
            n *= int_expr_levels(parser->expr, a);
    return n;
}

static int evaluate(struct parser *parser, size_t begin, size_t end,
                    uint64_t axes, size_t most)
{
    size_t n = combinations(parser, axes, most);
    int node = INT_EXPR_NONE;
    int64_t *values;

    if (n > most || parser->evaluated++ >= EVALUATED_MAX)
        return INT_EXPR_NONE;
    values = mem_new(n, sizeof(*values));
    if (parser->use->evaluate(parser->use->arg, parser->text + begin,
                              end - begin, axes, values, n))
        node = axes ? int_expr_table(parser->expr, axes, values)
                    : int_expr_constant(parser->expr, values[0]);
    free(values);
    return node;
}

/* The part that ends before the current token. */
static struct part finish(struct parser *parser, size_t begin, uint64_t axes,
                          int node)
{
    struct part part = { node, axes, begin };

    if (node < 0 && !parser->wrong)
        part.node = evaluate(parser, begin, parser->before, axes,
                             INT_EXPR_PARSE_PART_MAX);
    return part;
}

static struct part wrong(struct parser *parser)
{
    parser->wrong = true;
    return (struct part){ .node = INT_EXPR_NONE, .begin = parser->at };
}

/* ---- single values */

static struct part parse_number(struct parser *parser)
{
    struct part part = { INT_EXPR_NONE, 0, parser->at };
    const char *text = parser->text + parser->at;
    int64_t value = 0;
    size_t i = 0;

    while (i < parser->len && isdigit((unsigned char)text[i]) &&
           value < INT64_MAX / 16)
        value = 10 * value + (text[i++] - '0');
    if (i == parser->len)
        part.node = int_expr_constant(parser->expr, value);
    step(parser);
    return part;
}

static struct part parse_axis(struct parser *parser)
{
    size_t axis = strtoul(parser->text + parser->at + 1, NULL, 10) - 1;
    struct part part = { INT_EXPR_NONE, 0, parser->at };

    if (axis >= int_expr_n_axes(parser->expr))
        return wrong(parser);
    part.node = parser->use->nodes[axis];
    part.axes = UINT64_C(1) << axis;
    step(parser);
    return part;
}

static struct part parse_brackets(struct parser *parser)
{
    size_t begin = parser->at;
    struct part part;

    step(parser);
    part = parse_any(parser);
    expect(parser, ")");
    part.begin = begin;
    return part;
}

static struct part parse_cast(struct parser *parser)
{
    size_t begin = parser->at;
    struct part part;
    bool whole;

    step(parser);
    expect(parser, "(");
    part = parse_any(parser);
    expect(parser, "AS");
    whole = sees(parser, "INTEGER");
    if (!whole && !sees(parser, "REAL"))
        return wrong(parser);
    step(parser);
    expect(parser, ")");
    return finish(parser, begin, part.axes, whole ? part.node : INT_EXPR_NONE);
}

/* ---- CASE */

struct branch {
    struct part when, then;
};

static struct part parse_case(struct parser *parser)
{
    struct int_expr *expr = parser->expr;
    struct branch branches[ARGUMENTS_MAX];
    size_t begin = parser->at, n = 0;
    struct part base = { INT_EXPR_NONE, 0, 0 };
    int node = INT_EXPR_NONE;
    bool has_base;

    step(parser);
    has_base = !sees(parser, "WHEN");
    if (has_base)
        base = parse_any(parser);
    while (!parser->wrong && n < ARGUMENTS_MAX && take(parser, "WHEN")) {
        branches[n].when = parse_any(parser);
        expect(parser, "THEN");
        branches[n++].then = parse_any(parser);
    }
    if (take(parser, "ELSE")) {
        struct part last = parse_any(parser);

        node = last.node;
        base.axes |= last.axes;
    }
    expect(parser, "END");
    while (n-- > 0) {
        int when = branches[n].when.node;

        if (has_base)
            when = int_expr_equal(expr, base.node, when);
        node = int_expr_if(expr, when, branches[n].then.node, node);
        base.axes |= branches[n].when.axes | branches[n].then.axes;
    }
    return finish(parser, begin, base.axes, node);
}

/* ---- words */

static struct part parse_call(struct parser *parser, size_t begin, size_t len)
{
    int args[ARGUMENTS_MAX];
    uint64_t axes = 0;
    size_t n = 0;

    do {
        struct part part;

        if (n == ARGUMENTS_MAX || parser->wrong)
            return wrong(parser);
        part = parse_any(parser);
        axes |= part.axes;
        args[n++] = part.node;
    } while (take(parser, ","));
    expect(parser, ")");
    return finish(
        parser, begin, axes,
        int_expr_call(parser->expr, parser->text + begin, len, args, n));
}

static struct part parse_word(struct parser *parser)
{
    size_t begin = parser->at, len = parser->len;
    struct part part = { INT_EXPR_NONE, 0, begin };

    if (sees(parser, "CASE"))
        return parse_case(parser);
    if (sees(parser, "CAST"))
        return parse_cast(parser);
    if (sees(parser, "TRUE") || sees(parser, "FALSE"))
        part.node = int_expr_constant(parser->expr, sees(parser, "TRUE"));
    else if (!sees(parser, "NULL")) {
        step(parser);
        return take(parser, "(") ? parse_call(parser, begin, len)
                                 : wrong(parser);
    }
    step(parser);
    return part;
}

static struct part parse_single(struct parser *parser)
{
    struct part part = { INT_EXPR_NONE, 0, parser->at };
    char c = parser->text[parser->at];

    if (c == '(')
        return parse_brackets(parser);
    if (c == '?')
        return parse_axis(parser);
    if (isdigit((unsigned char)c) || c == '.')
        return parse_number(parser);
    if (c == '\'') {
        step(parser);
        return part;
    }
    return is_word(c) ? parse_word(parser) : wrong(parser);
}

/* ---- operators, from those that bind most to those that bind least */

static struct part parse_signed(struct parser *parser)
{
    size_t begin = parser->at;
    bool minus = sees(parser, "-"), flips = sees(parser, "~");
    struct part part;

    if (parser->depth > DEPTH_MAX)
        return wrong(parser);
    if (!minus && !flips && !sees(parser, "+"))
        return parse_single(parser);
    step(parser);
    parser->depth++;
    part = parse_signed(parser);
    parser->depth--;
    if (minus)
        part.node = int_expr_negative(parser->expr, part.node);
    return finish(parser, begin, part.axes, flips ? INT_EXPR_NONE : part.node);
}

static struct part parse_product(struct parser *parser)
{
    struct part all = parse_signed(parser);

    while (!parser->wrong &&
           (sees(parser, "*") || sees(parser, "/") || sees(parser, "%"))) {
        char c = parser->text[parser->at];
        struct part next;

        step(parser);
        next = parse_signed(parser);
        all = finish(parser, all.begin, all.axes | next.axes,
                     (c == '*'   ? int_expr_product
                      : c == '/' ? int_expr_quotient
                                 : int_expr_remainder)(parser->expr, all.node,
                                                       next.node));
    }
    return all;
}

static struct part parse_sum(struct parser *parser)
{
    struct part all = parse_product(parser);

    while (!parser->wrong && (sees(parser, "+") || sees(parser, "-"))) {
        int factor = sees(parser, "+") ? 1 : -1;
        struct part next;

        step(parser);
        next = parse_product(parser);
        all =
            finish(parser, all.begin, all.axes | next.axes,
                   int_expr_sum(parser->expr, 1, all.node, factor, next.node));
    }
    return all;
}

static struct part parse_bits(struct parser *parser)
{
    struct part all = parse_sum(parser);

    while (!parser->wrong && (sees(parser, "&") || sees(parser, "|") ||
                              sees(parser, "<<") || sees(parser, ">>"))) {
        struct part next;

        step(parser);
        next = parse_sum(parser);
        all = finish(parser, all.begin, all.axes | next.axes, INT_EXPR_NONE);
    }
    return all;
}

static struct part parse_relation(struct parser *parser)
{
    struct part all = parse_bits(parser);

    while (!parser->wrong && (sees(parser, "<") || sees(parser, "<=") ||
                              sees(parser, ">") || sees(parser, ">="))) {
        bool less = parser->text[parser->at] == '<';
        bool strict = parser->len == 1;
        struct int_expr *expr = parser->expr;
        struct part next;
        int node;

        step(parser);
        next = parse_bits(parser);
        node = less != strict ? int_expr_at_most(expr, all.node, next.node)
                              : int_expr_at_most(expr, next.node, all.node);
        if (strict)
            node = int_expr_not(expr, node);
        all = finish(parser, all.begin, all.axes | next.axes, node);
    }
    return all;
}

static int in_list(struct parser *parser, const struct part *what,
                   uint64_t *axes)
{
    struct int_expr *expr = parser->expr;
    int node = int_expr_constant(expr, 0);

    expect(parser, "(");
    if (sees(parser, ")"))
        parser->wrong = true;
    do {
        struct part next = parse_any(parser);

        *axes |= next.axes;
        node = int_expr_or(expr, node,
                           int_expr_equal(expr, what->node, next.node));
    } while (!parser->wrong && take(parser, ","));
    expect(parser, ")");
    return node;
}

static int between(struct parser *parser, const struct part *what,
                   uint64_t *axes)
{
    struct part low = parse_relation(parser), high;

    expect(parser, "AND");
    high = parse_relation(parser);
    *axes |= low.axes | high.axes;
    return int_expr_and(parser->expr,
                        int_expr_at_most(parser->expr, low.node, what->node),
                        int_expr_at_most(parser->expr, what->node, high.node));
}

/* = and IS, of which nothing here is NULL. */
static int equal(struct parser *parser, const struct part *what, uint64_t *axes)
{
    struct part next = parse_relation(parser);

    *axes |= next.axes;
    return int_expr_equal(parser->expr, what->node, next.node);
}

/* The operator after 'what'; false: another text. */
static bool parse_comparison(struct parser *parser, const struct part *what,
                             uint64_t *axes, int *node)
{
    bool negated, is;

    if (take(parser, "=") || take(parser, "==")) {
        *node = equal(parser, what, axes);
        return true;
    }
    negated = take(parser, "<>") || take(parser, "!=");
    is = !negated && take(parser, "IS");
    if (negated || is) {
        negated |= is && take(parser, "NOT");
        /* IS TRUE and IS (TRUE) are not comparisons with 1. */
        parser->wrong |= is && (sees(parser, "TRUE") || sees(parser, "FALSE") ||
                                sees(parser, "("));
        *node = equal(parser, what, axes);
    } else {
        negated = take(parser, "NOT");
        if (take(parser, "IN"))
            *node = in_list(parser, what, axes);
        else if (take(parser, "BETWEEN"))
            *node = between(parser, what, axes);
        else if (negated)
            parser->wrong = true;
        else
            return false;
    }
    if (negated)
        *node = int_expr_not(parser->expr, *node);
    return true;
}

static struct part parse_equal(struct parser *parser)
{
    struct part all = parse_relation(parser);
    uint64_t axes = all.axes;
    int node = INT_EXPR_NONE;

    while (!parser->wrong && parse_comparison(parser, &all, &axes, &node))
        all = finish(parser, all.begin, axes, node);
    return all;
}

static struct part parse_not(struct parser *parser)
{
    size_t begin = parser->at;
    struct part part;

    if (!take(parser, "NOT"))
        return parse_equal(parser);
    if (++parser->depth > DEPTH_MAX)
        return wrong(parser);
    part = parse_not(parser);
    parser->depth--;
    return finish(parser, begin, part.axes,
                  int_expr_not(parser->expr, part.node));
}

static struct part parse_and(struct parser *parser)
{
    struct part all = parse_not(parser);

    while (!parser->wrong && take(parser, "AND")) {
        struct part next = parse_not(parser);

        all = finish(parser, all.begin, all.axes | next.axes,
                     int_expr_and(parser->expr, all.node, next.node));
    }
    return all;
}

static struct part parse_any(struct parser *parser)
{
    struct part all;

    if (++parser->depth > DEPTH_MAX || parser->wrong)
        return wrong(parser);
    all = parse_and(parser);
    while (!parser->wrong && take(parser, "OR")) {
        struct part next = parse_and(parser);

        all = finish(parser, all.begin, all.axes | next.axes,
                     int_expr_or(parser->expr, all.node, next.node));
    }
    parser->depth--;
    return all;
}

int int_expr_parse(struct int_expr *expr, const char *text, uint64_t axes,
                   const struct int_expr_parse_use *use)
{
    struct parser parser = { .expr = expr, .use = use, .text = text };
    struct part all;

    step(&parser);
    all = parse_any(&parser);
    if (!parser.wrong && !parser.len && all.node >= 0)
        return all.node;
    parser.evaluated = 0;
    return evaluate(&parser, 0, strlen(text), axes, INT_EXPR_PARSE_WHOLE_MAX);
}
