#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/python/py_internal.h"
#include "coordinator/python/py_lexer.h"

#define BLANKS " \t\r\n\f"
#define NUMBER_BYTES_MAX 200
#define SHOWN 20 /* of a number, in messages */

/* Longer ones first, so that "**" is not "*". */
static const char *const signs[] = {
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "<", ">",
    "+",  "-",  "*",  "/",  "%",  "(",  ")",  "[",  "]", "{",
    "}",  ",",  "|",  "^",  "&",  "~",  ".",  ":",
};

/* What other languages write. */
static const struct {
    const char *sign, *python;
} others[] = { { "&&", "and" }, { "||", "or" }, { "=", "==" }, { "!", "not" } };

int py_flaw_set(struct py_flaw *flaw, size_t at, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(flaw->what, sizeof(flaw->what), fmt, ap);
    va_end(ap);
    flaw->at = at;
    return ERR_INPUT;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Python reads "1or" as a number and a word. */
static bool is_operator(const char *text)
{
    static const char *const words[] = { "and", "or", "not", "in",
                                         "if",  "is", "for", "else" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0 &&
            !is_word(text[strlen(words[i])]))
            return true;
    return false;
}

/* A sign belongs to a number behind the 'e' of an exponent. */
static size_t number_length(const char *text)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    size_t n = 0;

    while ((is_word(text[n]) && (hex || !is_operator(text + n))) ||
           text[n] == '.' ||
           (!hex && n > 0 && (text[n] == '+' || text[n] == '-') &&
            (text[n - 1] == 'e' || text[n - 1] == 'E')))
        n++;
    return n;
}

/* The length with both quotes, or 0. */
static size_t string_length(const char *text)
{
    size_t n = 1;

    while (text[n] && text[n] != '\n' && text[n] != *text)
        n += text[n] == '\\' && text[n + 1] ? 2 : 1;
    return text[n] == *text ? n + 1 : 0;
}

/* A character by its number is not in the subset. */
static bool has_numbers(const char *text, size_t len)
{
    for (size_t i = 0; i + 1 < len; i++)
        if (text[i] == '\\') {
            if (strchr("xuUN01234567\n", text[i + 1]))
                return true;
            i++;
        }
    return false;
}

static int set(struct py_lexer *lexer, enum py_token token, size_t len)
{
    lexer->token = token;
    lexer->len = len;
    lexer->at += len;
    return 0;
}

static bool is_quote(char c)
{
    return c == '\'' || c == '"';
}

/* A text, or the rest of f'...' behind the letter. */
static int set_text(struct py_lexer *lexer, enum py_token token, size_t prefix)
{
    const char *at = lexer->at + prefix;
    size_t len = string_length(at);

    if (len == 0)
        return py_flaw_set(lexer->flaw, lexer->begin, "the text has no end");
    if (has_numbers(at, len))
        return py_flaw_set(lexer->flaw, lexer->begin,
                           "a text with such a '\\' is not part of the Python "
                           "subset");
    return set(lexer, token, prefix + len);
}

static int set_sign(struct py_lexer *lexer)
{
    const char *at = lexer->at;

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (strncmp(at, signs[i], strlen(signs[i])) == 0 &&
            !(strchr("&|", *at) && at[1] == *at))
            return set(lexer, PY_TOKEN_SIGN, strlen(signs[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strncmp(at, others[i].sign, strlen(others[i].sign)) == 0)
            return py_flaw_set(lexer->flaw, lexer->begin,
                               "'%s' is not part of the Python subset; write "
                               "'%s'",
                               others[i].sign, others[i].python);
    return py_flaw_set(lexer->flaw, lexer->begin,
                       isprint((unsigned char)*at)
                           ? "'%c' is not part of the Python subset"
                           : "byte %d is not part of the Python subset",
                       (unsigned char)*at);
}

int py_lexer_next(struct py_lexer *lexer)
{
    const char *at;
    size_t len;

    lexer->at += strspn(lexer->at, BLANKS);
    while (*lexer->at == '#') { /* a comment */
        lexer->at += strcspn(lexer->at, "\n");
        lexer->at += strspn(lexer->at, BLANKS);
    }
    at = lexer->at;
    lexer->begin = (size_t)(at - lexer->text);
    if (!*at)
        return set(lexer, PY_TOKEN_END, 0);
    if (isdigit((unsigned char)*at) ||
        (*at == '.' && isdigit((unsigned char)at[1])))
        return set(lexer, PY_TOKEN_NUMBER, number_length(at));
    if ((*at == 'f' || *at == 'F') && is_quote(at[1]))
        return set_text(lexer, PY_TOKEN_FORMAT, 1);
    if (is_word(*at)) {
        for (len = 1; is_word(at[len]); len++)
            ;
        return set(lexer, PY_TOKEN_NAME, len);
    }
    return is_quote(*at) ? set_text(lexer, PY_TOKEN_TEXT, 0) : set_sign(lexer);
}

bool py_lexer_is(const struct py_lexer *lexer, const char *word)
{
    return (lexer->token == PY_TOKEN_SIGN || lexer->token == PY_TOKEN_NAME) &&
           strlen(word) == lexer->len &&
           strncmp(lexer->text + lexer->begin, word, lexer->len) == 0;
}

/* Python allows 1_000, and neither 007 nor 1__0. */
static bool plain_digits(const char *from, size_t len, char *to)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        bool inside = i > 0 && i + 1 < len &&
                      isalnum((unsigned char)from[i - 1]) &&
                      isalnum((unsigned char)from[i + 1]);

        if (from[i] == '_' && !inside)
            return false;
        if (from[i] != '_')
            to[n++] = from[i];
    }
    to[n] = '\0';
    return true;
}

static const struct {
    const char *begin, *digits;
    int base;
} bases[] = {
    { "0x", "0123456789abcdefABCDEF", 16 },
    { "0o", "01234567", 8 },
    { "0b", "01", 2 },
};

/* The base of a whole number, whose digits begin at 'at'; 0: not a number. */
static int base_of(const char *digits, const char **at)
{
    *at = digits;
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
        if (strncasecmp(digits, bases[i].begin, 2) == 0) {
            *at += 2;
            return **at && strspn(*at, bases[i].digits) == strlen(*at)
                       ? bases[i].base
                       : 0;
        }
    return strspn(digits, "0123456789") == strlen(digits) &&
                   (*digits != '0' || strspn(digits, "0") == strlen(digits))
               ? 10
               : 0;
}

static bool is_real(const char *digits)
{
    char *end;

    if (strspn(digits, "0123456789.eE+-") != strlen(digits) ||
        !strpbrk(digits, ".eE"))
        return false;
    (void)strtod(digits, &end);
    return *end == '\0';
}

/* Returns whether it is too large. */
static bool whole_of(const char *digits, int base, py_int *out)
{
    *out = 0;
    for (; *digits; digits++) {
        int digit = isdigit((unsigned char)*digits)
                        ? *digits - '0'
                        : tolower((unsigned char)*digits) - 'a' + 10;

        if (__builtin_mul_overflow(*out, base, out) ||
            __builtin_add_overflow(*out, digit, out))
            return true;
    }
    return false;
}

int py_lexer_number(const struct py_lexer *lexer, struct py_value *out)
{
    const char *text = lexer->text + lexer->begin, *at;
    char digits[NUMBER_BYTES_MAX + 1] = "";
    py_int whole;
    int base = 0;

    if (lexer->len <= NUMBER_BYTES_MAX &&
        plain_digits(text, lexer->len, digits))
        base = base_of(digits, &at);
    else
        *digits = '\0';
    if (base == 0 && !is_real(digits))
        return py_flaw_set(lexer->flaw, lexer->begin, "'%.*s' is not a number",
                           lexer->len > SHOWN ? SHOWN : (int)lexer->len, text);
    if (base == 0) {
        *out = py_value_real(strtod(digits, NULL));
        return 0;
    }
    if (whole_of(at, base, &whole))
        return py_flaw_set(lexer->flaw, lexer->begin,
                           "'%.*s' is beyond %d bits", SHOWN, text,
                           PY_INT_BITS);
    *out = py_value_int(whole);
    return 0;
}

/* The character that stands for itself behind a '\', or 0. */
static char unescaped(char c)
{
    static const char letters[] = "\\'\"abfnrtv";
    static const char are[] = "\\'\"\a\b\f\n\r\t\v";
    const char *at = c ? strchr(letters, c) : NULL;

    return at ? are[at - letters] : '\0';
}

char *py_lexer_string(const char *from, size_t len)
{
    char *to = mem_dup(from, len);
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        char c = from[i] == '\\' && i + 1 < len ? unescaped(from[i + 1]) : 0;

        i += c != 0;
        to[n++] = c ? c : from[i];
    }
    to[n] = '\0';
    return to;
}
