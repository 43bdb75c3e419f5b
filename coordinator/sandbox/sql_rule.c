#include "coordinator/sandbox/sql_rule.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <sqlite3.h>

#include "common/err.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/text/suggest.h"

#define NAMES_MAX (2 * SPEC_LIST_MAX + SPEC_VARS_MAX + GPU_ARCH_FACTS + 32)

/* Functions that are known at every point, deterministic and without side
 * effects. */
static const char *const functions[] = {
    "abs", "ceil",  "ceiling", "coalesce", "exp",  "floor", "ifnull", "iif",
    "ln",  "log",   "log10",   "log2",     "max",  "min",   "mod",    "nullif",
    "pow", "power", "round",   "sign",     "sqrt", "trunc",
};

static const char *const words[] = {
    "AND",   "AS", "BETWEEN", "CASE", "CAST",   "ELSE", "END",
    "FALSE", "IN", "INTEGER", "IS",   "ISNULL", "NOT",  "NOTNULL",
    "NULL",  "OR", "REAL",    "THEN", "TRUE",   "WHEN",
};

enum {
    N_FUNCTIONS = sizeof(functions) / sizeof(functions[0]),
    N_WORDS = sizeof(words) / sizeof(words[0])
};

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_OTHER, /* number, text, operator: copied unchanged */
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_FLAW,
};

struct token {
    enum token_kind kind;
    size_t at, len;
    const char *flaw, *why;
};

struct found {
    enum sql_rule_scope scope;
    size_t index;
};

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

static void refuse(struct token *token, const char *flaw, const char *why)
{
    token->kind = TOKEN_FLAW;
    token->flaw = flaw;
    token->why = why;
}

/* Operators that mean something else than in C, and text that SQL would take
 * for a comment, a name or a parameter. */
static void look_at_symbol(const char *p, struct token *token)
{
    token->kind = *p == '('   ? TOKEN_OPEN
                  : *p == ')' ? TOKEN_CLOSE
                              : TOKEN_OTHER;
    if (strncmp(p, "&&", 2) == 0)
        refuse(token, "'&&' is not SQL", "write AND");
    else if (strncmp(p, "||", 2) == 0)
        refuse(token, "'||' joins texts in SQL", "write OR");
    else if (strncmp(p, "--", 2) == 0)
        refuse(token, "'--' begins a comment in SQL",
               "write comments outside the rule, and minus a negative number "
               "as - (-1)");
    else if (strncmp(p, "/*", 2) == 0)
        refuse(token, "a comment in a rule", "write comments outside the rule");
    else if (*p == '!' && p[1] != '=')
        refuse(token, "'!' is not SQL", "write NOT");
    else if (strncmp(p, "->", 2) == 0 || !strchr("()+-*/%<>=!&|~,", *p))
        refuse(token, "this character is not allowed in a rule",
               *p == '"' || *p == '`' || *p == '['
                   ? "write names without quotes, and texts in '...'"
                   : "rules are SQL expressions: + - * / % < <= = <> AND OR "
                     "NOT ( )");
}

static void next_token(const char *text, size_t at, struct token *token)
{
    size_t end;

    while (text[at] && strchr(" \t\r\n", text[at]))
        at++;
    *token = (struct token){ .kind = TOKEN_OTHER, .at = at, .len = 1 };
    end = at;
    if (!text[at]) {
        token->kind = TOKEN_END;
        token->len = 0;
    } else if (isdigit((unsigned char)text[at]) ||
               (text[at] == '.' && isdigit((unsigned char)text[at + 1]))) {
        while (is_word_char(text[end]) || text[end] == '.' ||
               (strchr("+-", text[end]) && text[end] &&
                tolower((unsigned char)text[end - 1]) == 'e' &&
                strncasecmp(text + at, "0x", 2) != 0))
            end++;
        token->len = end - at;
    } else if (is_word_char(text[at])) {
        while (is_word_char(text[end]))
            end++;
        token->len = end - at;
        token->kind = TOKEN_NAME;
        if (text[end] == '\'')
            refuse(token, "this text has a prefix", "write texts in '...'");
    } else if (text[at] == '\'') {
        const char *close = strchr(text + at + 1, '\'');

        if (close)
            token->len = (size_t)(close - text) + 1 - at;
        else
            refuse(token, "this text does not end", "write texts in '...'");
    } else {
        look_at_symbol(text + at, token);
    }
}

static bool same(const char *name, const char *text, size_t len)
{
    return strlen(name) == len && strncasecmp(name, text, len) == 0;
}

static bool is_in(const char *const *list, size_t n, const char *text,
                  size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (same(list[i], text, len))
            return true;
    return false;
}

bool sql_rule_function_allowed(const char *name)
{
    return is_in(functions, N_FUNCTIONS, name, strlen(name));
}

static bool find_name(const struct spec *spec, const char *text, size_t len,
                      struct found *out)
{
    for (size_t i = 0; i < spec->space.n_axes; i++) {
        *out = (struct found){ SQL_RULE_TUNABLE, i };
        if (same(spec->space.axes[i].name, text, len))
            return true;
    }
    for (size_t i = 0; i < spec->space.n_derived; i++) {
        *out = (struct found){ SQL_RULE_DERIVED, i };
        if (same(spec->space.derived[i].name, text, len))
            return true;
    }
    for (size_t i = 0; i < spec->shapes.n_vars; i++) {
        *out = (struct found){ SQL_RULE_VAR, i };
        if (same(spec->shapes.vars[i], text, len))
            return true;
    }
    for (size_t i = 0; i < GPU_ARCH_FACTS; i++) {
        *out = (struct found){ SQL_RULE_FACT, i };
        if (same(gpu_arch_fact_name(i), text, len))
            return true;
    }
    *out = (struct found){ SQL_RULE_TIME, 0 };
    return same("time_s", text, len);
}

/* ---- flaws */

static int unknown_name(const struct sql_rule_use *use,
                        const struct spec_rule *rule, const struct token *token,
                        struct err *err)
{
    const struct spec *spec = use->spec;
    const char *names[NAMES_MAX], *near;
    char why[200];
    size_t n = 0;

    for (size_t i = 0; i < spec->space.n_axes && use->scopes & SQL_RULE_TUNABLE;
         i++)
        names[n++] = spec->space.axes[i].name;
    for (size_t i = 0; i < use->n_derived && use->scopes & SQL_RULE_DERIVED;
         i++)
        names[n++] = spec->space.derived[i].name;
    for (size_t i = 0; i < spec->shapes.n_vars && use->scopes & SQL_RULE_VAR;
         i++)
        names[n++] = spec->shapes.vars[i];
    for (size_t i = 0; i < GPU_ARCH_FACTS && use->scopes & SQL_RULE_FACT; i++)
        names[n++] = gpu_arch_fact_name(i);
    near = suggest_name(rule->text + token->at, token->len, names, n);
    snprintf(why, sizeof(why), near ? "did you mean '%s'?" : "%s",
             near ? near
                  : "use tunables, derived values, variables of the shapes and "
                    "device facts");
    return spec_err_in(
        spec, rule, token->at, err, why, "%s: there is no '%.*s'", use->what,
        (int)(token->len < 64 ? token->len : 64), rule->text + token->at);
}

static int check_function(const struct sql_rule_use *use,
                          const struct spec_rule *rule,
                          const struct token *token, struct err *err)
{
    const char *text = rule->text + token->at, *near;
    char why[300] = "functions are";

    if (is_in(functions, N_FUNCTIONS, text, token->len) ||
        is_in(words, N_WORDS, text, token->len))
        return 0;
    near = suggest_name(text, token->len, functions, N_FUNCTIONS);
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        snprintf(why + strlen(why), sizeof(why) - strlen(why), " %s",
                 functions[i]);
    if (near)
        snprintf(why, sizeof(why), "did you mean '%s'?", near);
    return spec_err_in(use->spec, rule, token->at, err, why,
                       "%s: there is no function '%.*s'", use->what,
                       (int)(token->len < 64 ? token->len : 64), text);
}

static const char *scope_name(enum sql_rule_scope scope)
{
    switch (scope) {
    case SQL_RULE_TUNABLE:
        return "tunable";
    case SQL_RULE_DERIVED:
        return "derived value";
    case SQL_RULE_VAR:
        return "shape variable";
    case SQL_RULE_FACT:
        return "device fact";
    case SQL_RULE_TIME:
        break;
    }
    return "measured time";
}

/* ---- check */

static void need(const struct sql_rule_use *use, const struct found *found,
                 struct sql_rule_needs *needs)
{
    if (found->scope != SQL_RULE_FACT)
        needs->names = true;
    if (found->scope == SQL_RULE_TUNABLE)
        needs->axes |= UINT64_C(1) << found->index;
    else if (found->scope == SQL_RULE_VAR)
        needs->vars |= UINT64_C(1) << found->index;
    else if (found->scope == SQL_RULE_TIME)
        needs->time = true;
    else if (found->scope == SQL_RULE_DERIVED)
        needs->axes |= use->derived[found->index].axes;
}

static int check_name(const struct sql_rule_use *use,
                      const struct spec_rule *rule, const struct token *token,
                      struct sql_rule_needs *needs, struct err *err)
{
    const char *text = rule->text + token->at;
    struct found found;

    if (find_name(use->spec, text, token->len, &found)) {
        if (found.scope == SQL_RULE_DERIVED && use->scopes & SQL_RULE_DERIVED &&
            found.index >= use->n_derived)
            return spec_err_in(use->spec, rule, token->at, err,
                               "a derived value may use only those above it",
                               "%s: '%s' is defined further down", use->what,
                               use->spec->space.derived[found.index].name);
        if (!(found.scope & use->scopes))
            return spec_err_in(use->spec, rule, token->at, err, use->why,
                               "%s cannot use the %s '%.*s'", use->what,
                               scope_name(found.scope), (int)token->len, text);
        need(use, &found, needs);
        return 0;
    }
    if (is_in(words, N_WORDS, text, token->len))
        return 0;
    if (token->len < 64 && sqlite3_keyword_check(text, (int)token->len))
        return spec_err_in(use->spec, rule, token->at, err,
                           "a rule must be one expression, not a statement",
                           "%s: '%.*s' is not allowed in a rule", use->what,
                           (int)token->len, text);
    return unknown_name(use, rule, token, err);
}

int sql_rule_check(const struct sql_rule_use *use, const struct spec_rule *rule,
                   struct sql_rule_needs *needs, struct err *err)
{
    struct token token, after;
    int depth = 0, rc;

    *needs = (struct sql_rule_needs){ 0 };
    for (size_t at = 0;; at = token.at + token.len) {
        next_token(rule->text, at, &token);
        if (token.kind == TOKEN_END)
            break;
        depth += (token.kind == TOKEN_OPEN) - (token.kind == TOKEN_CLOSE);
        if (depth < 0)
            refuse(&token, "this ) closes nothing", "write one ( for each )");
        if (token.kind == TOKEN_FLAW)
            return spec_err_in(use->spec, rule, token.at, err, token.why,
                               "%s: %s", use->what, token.flaw);
        if (token.kind != TOKEN_NAME)
            continue;
        next_token(rule->text, token.at + token.len, &after);
        rc = after.kind == TOKEN_OPEN
                 ? check_function(use, rule, &token, err)
                 : check_name(use, rule, &token, needs, err);
        if (rc < 0)
            return rc;
    }
    if (depth > 0)
        return spec_err_in(use->spec, rule, strlen(rule->text), err,
                           "write one ) for each (", "%s: a ) is missing",
                           use->what);
    return 0;
}

void sql_rule_expand(const struct spec *spec, const char *text,
                     sql_rule_put *put, void *arg, struct buf *out)
{
    struct token token, after;
    struct found found;
    size_t at = 0;

    for (;; at = token.at + token.len) {
        next_token(text, at, &token);
        buf_add(out, text + at, token.at - at);
        if (token.kind == TOKEN_END || out->truncated)
            return;
        next_token(text, token.at + token.len, &after);
        if (token.kind != TOKEN_NAME || after.kind == TOKEN_OPEN ||
            !find_name(spec, text + token.at, token.len, &found)) {
            buf_add(out, text + token.at, token.len);
        } else if (found.scope == SQL_RULE_DERIVED) {
            buf_add(out, "(", 1);
            sql_rule_expand(spec, spec->space.derived[found.index].rule.text,
                            put, arg, out);
            buf_add(out, ")", 1);
        } else {
            put(arg, found.scope, found.index, out);
        }
    }
}
