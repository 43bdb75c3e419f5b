#include "coordinator/text/json_scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/text/json.h"
#include "coordinator/text/utf8.h"

#define NUMBER_MAX 60 /* characters; cJSON reads 63 */

/* The pass: a position in the text, blanking comments behind it. */
struct pass {
    struct json_scan *scan;
    char *p;
    char *end;
    int depth;
    struct err *err;
};

static int scan_value(struct pass *pass, size_t key_at);

static int flaw(struct pass *pass, const char *at, const char *what,
                const char *why)
{
    return caret_text_err(pass->err, &pass->scan->source,
                          (size_t)(at - pass->scan->plain), why, "%s", what);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int skip_comment(struct pass *pass)
{
    char *from = pass->p, *end;

    if (from[1] == '/') {
        end = memchr(from, '\n', (size_t)(pass->end - from));
        end = end ? end : pass->end;
    } else if (from[1] == '*') {
        end = strstr(from + 2, "*/");
        if (!end)
            return flaw(pass, from, "this comment does not end",
                        "a comment that begins with /* ends with */");
        end += 2;
    } else {
        return flaw(pass, from, "a stray '/'",
                    "write // to the end of a line, or /* ... */");
    }
    while (pass->p < end) {
        *pass->p = *pass->p == '\n' ? '\n' : ' ';
        pass->p++;
    }
    return 0;
}

static int skip_blanks(struct pass *pass)
{
    while (pass->p < pass->end) {
        if (*pass->p == '/') {
            if (skip_comment(pass) < 0)
                return ERR_INPUT;
        } else if (is_blank(*pass->p)) {
            pass->p++;
        } else {
            break;
        }
    }
    return 0;
}

static int hex4(const char *p)
{
    int code = 0;

    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef";
        const char *digit = p[i] ? strchr(digits, p[i] | 0x20) : NULL;

        if (!digit || (p[i] < '0'))
            return -1;
        code = code * 16 + (int)(digit - digits);
    }
    return code;
}

/* At a backslash; moves past the escape. */
static int scan_escape(struct pass *pass)
{
    char *p = pass->p;
    int code;

    if (p[1] != 'u') {
        if (!p[1] || !strchr("\"\\/bfnrt", p[1]))
            return flaw(pass, p, "unknown escape",
                        "write a backslash itself as \\\\");
        pass->p += 2;
        return 0;
    }
    code = hex4(p + 2);
    if (code < 0)
        return flaw(pass, p, "\\u needs four hex digits", "as in \\u00e9");
    if (code == 0)
        return flaw(pass, p, "a NUL in a text",
                    "names and values cannot contain it");
    pass->p += 6;
    if (code < 0xd800 || code > 0xdfff)
        return 0;
    if (code >= 0xdc00 || pass->p[0] != '\\' || pass->p[1] != 'u' ||
        hex4(pass->p + 2) < 0xdc00 || hex4(pass->p + 2) > 0xdfff)
        return flaw(pass, p, "half of a surrogate pair",
                    "write the character itself, in UTF-8");
    pass->p += 6;
    return 0;
}

static int scan_text(struct pass *pass)
{
    char *from = pass->p++;

    while (*pass->p != '"') {
        size_t n = utf8_sequence(pass->p);

        if (pass->p >= pass->end || *pass->p == '\n')
            return flaw(pass, from, "this text does not end",
                        "end the text with \" on the line where it begins");
        if ((unsigned char)*pass->p < 0x20)
            return flaw(pass, pass->p, "a control character in a text",
                        "write \\t for a tab, \\n for a new line");
        if (*pass->p == '\\') {
            if (scan_escape(pass) < 0)
                return ERR_INPUT;
            continue;
        }
        if (n == 0)
            return flaw(pass, pass->p, "bytes that are not UTF-8",
                        "save the file as UTF-8");
        pass->p += n;
    }
    pass->p++;
    return 0;
}

static void skip_digits(struct pass *pass)
{
    while (*pass->p >= '0' && *pass->p <= '9')
        pass->p++;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool number_is_formed(struct pass *pass, bool *whole)
{
    char *p;

    *whole = true;
    pass->p += *pass->p == '-';
    p = pass->p;
    if (!is_digit(*p))
        return false;
    skip_digits(pass);
    if (*p == '0' && pass->p > p + 1)
        return false;
    if (*pass->p == '.') {
        *whole = false;
        if (!is_digit(*++pass->p))
            return false;
        skip_digits(pass);
    }
    if ((*pass->p | 0x20) == 'e') {
        *whole = false;
        pass->p++;
        pass->p += *pass->p == '+' || *pass->p == '-';
        if (!is_digit(*pass->p))
            return false;
        skip_digits(pass);
    }
    return !strchr("+-.xXabcdefABCDEF_", *pass->p) || !*pass->p;
}

/* Compare the digits: as a double, 2^53 + 1 equals 2^53. */
static bool is_kept_exactly(const char *digits)
{
    const long long most = (long long)JSON_INTEGER_MAX;
    long long number = strtoll(digits, NULL, 10); /* too many: the limits */

    return number >= -most && number <= most;
}

static int scan_number(struct pass *pass, struct json_place *place)
{
    char *from = pass->p;
    double number;

    if (!number_is_formed(pass, &place->whole))
        return flaw(pass, from, "this is not a number in JSON",
                    "write 64, -1, 0.5 or 1e-6, for example; leading zeros and "
                    "plus signs are not allowed");
    if (pass->p - from > NUMBER_MAX)
        return flaw(pass, from, "this number is too long",
                    "write at most 17 digits, all that a double holds");
    number = strtod(from, NULL);
    if (!isfinite(number))
        return flaw(pass, from, "this number is too large",
                    "at most 1.797e308");
    if (place->whole && !is_kept_exactly(from))
        return flaw(pass, from, "this whole number is beyond 2^53",
                    "larger whole numbers are not kept exactly");
    return 0;
}

/* The blanks before it are read. */
static bool ends(const struct pass *pass)
{
    return pass->p == pass->end;
}

static int scan_member(struct pass *pass)
{
    size_t key_at = (size_t)(pass->p - pass->scan->plain);

    if (*pass->p != '"')
        return flaw(pass, pass->p, "a key is missing",
                    ends(pass) ? "the file ends here"
                               : "write keys as texts, as in \"name\": ...; no "
                                 "comma after the last member");
    if (scan_text(pass) < 0 || skip_blanks(pass) < 0)
        return ERR_INPUT;
    if (*pass->p != ':')
        return flaw(pass, pass->p, "':' is missing",
                    ends(pass) ? "the file ends here"
                               : "as in \"name\": value");
    pass->p++;
    return skip_blanks(pass) < 0 ? ERR_INPUT : scan_value(pass, key_at);
}

static int scan_list(struct pass *pass, char closing)
{
    char *from = pass->p++;

    if (++pass->depth > JSON_DEPTH)
        return flaw(pass, from, "too many levels", "at most 64");
    if (skip_blanks(pass) < 0)
        return ERR_INPUT;
    while (*pass->p != closing) {
        int rc = closing == '}' ? scan_member(pass) : scan_value(pass, 0);

        if (rc < 0 || skip_blanks(pass) < 0)
            return ERR_INPUT;
        if (*pass->p == closing)
            break;
        if (*pass->p != ',')
            return flaw(pass, pass->p,
                        closing == '}' ? "',' or '}' is missing"
                                       : "',' or ']' is missing",
                        ends(pass) ? "the file ends here"
                                   : "separate members with commas");
        pass->p++;
        if (skip_blanks(pass) < 0)
            return ERR_INPUT;
        if (*pass->p == closing)
            return flaw(pass, pass->p, "a value is missing after ','",
                        "write no comma after the last one");
    }
    pass->p++;
    pass->depth--;
    return 0;
}

static int scan_word(struct pass *pass)
{
    static const char *const words[] = { "true", "false", "null" };

    for (size_t i = 0; i < 3; i++) {
        size_t len = strlen(words[i]);
        char after = strncmp(pass->p, words[i], len) == 0 ? pass->p[len] : '_';

        if (is_blank(after) || !after || strchr(",]}/", after)) {
            pass->p += len;
            return 0;
        }
    }
    if (ends(pass))
        return flaw(pass, pass->p, "a value is missing",
                    pass->scan->n == 1 ? "the file is empty"
                                       : "the file ends here");
    return flaw(
        pass, pass->p, "this is not a value",
        "write a number, a \"text\", true, false, null, [...] or {...}");
}

static int scan_value(struct pass *pass, size_t key_at)
{
    struct json_scan *scan = pass->scan;
    struct json_place *place;

    if (scan->n == JSON_VALUES_MAX)
        return flaw(pass, pass->p, "too many values", "at most 1,000,000");
    if (scan->n == scan->cap) {
        scan->cap = scan->cap ? 2 * scan->cap : 256;
        scan->places = mem_grow(scan->places, scan->cap, sizeof(*scan->places));
    }
    place = &scan->places[scan->n++];
    *place = (struct json_place){ .at = (size_t)(pass->p - scan->plain),
                                  .key_at = key_at };
    if (*pass->p == '{')
        return scan_list(pass, '}');
    if (*pass->p == '[')
        return scan_list(pass, ']');
    if (*pass->p == '"')
        return scan_text(pass);
    if (*pass->p == '-' || *pass->p == '+' || *pass->p == '.' ||
        is_digit(*pass->p))
        return scan_number(pass, place);
    return scan_word(pass);
}

int json_scan(struct json_scan *scan, struct err *err)
{
    struct pass pass = { .scan = scan, .err = err };
    char *nul;

    scan->plain = mem_dup(scan->source.text, scan->source.len);
    pass.p = scan->plain;
    pass.end = scan->plain + scan->source.len;
    nul = memchr(scan->plain, '\0', scan->source.len);
    if (strncmp(scan->plain, "SQLite format 3", 15) == 0)
        return flaw(&pass, pass.p, "this is a database",
                    "a file of JSON belongs here; a command that reads a "
                    "database takes it by --db");
    if (nul)
        return flaw(&pass, nul, "a NUL byte", "this is not a text file");
    if (strncmp(pass.p, "\xef\xbb\xbf", 3) == 0) {
        memset(pass.p, ' ', 3); /* a byte order mark */
        pass.p += 3;
    }
    if (skip_blanks(&pass) < 0 || scan_value(&pass, 0) < 0 ||
        skip_blanks(&pass) < 0)
        return ERR_INPUT;
    if (pass.p < pass.end)
        return flaw(&pass, pass.p, "something follows the value",
                    "a file must hold only one value");
    return 0;
}
