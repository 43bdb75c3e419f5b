#include "coordinator/source/identifier.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <sqlite3.h>

#define IDENTIFIER_MAX_BYTES 64
#define FLAG_MAX 128

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define WORD LETTERS "0123456789_"

/* C++17 and C17, [lex.key] and what nvcc adds; alphabetical, for bsearch. */
static const char *const keywords[] = {
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
};

/* Keywords of SQL that are names inside an expression; kernels have rows and
 * offsets. Any case, alphabetical, for bsearch. */
static const char *const sql_names[] = {
    "column", "filter", "first", "groups", "last", "offset", "partition",
    "plan",   "query",  "range", "row",    "rows", "temp",   "window",
};

static int by_letters(const void *key, const void *item)
{
    return strcasecmp(key, *(const char *const *)item);
}

static int by_text(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

const char *identifier_entry_flaw(const char *name)
{
    if (!*name || strlen(name) > IDENTIFIER_MAX_BYTES ||
        strspn(name, WORD) != strlen(name) || isdigit((unsigned char)*name))
        return "a name has 1 to 64 letters, digits and _, and does not begin "
               "with a digit";
    if (strncmp(name, "__", 2) == 0)
        return "names that begin with __ are reserved for the compiler";
    if (bsearch(name, keywords, sizeof(keywords) / sizeof(keywords[0]),
                sizeof(keywords[0]), by_text))
        return "it is a keyword of C++; choose another name";
    return NULL;
}

const char *identifier_flaw(const char *name)
{
    const char *flaw = identifier_entry_flaw(name);

    if (flaw)
        return flaw;
    if (sqlite3_keyword_check(name, (int)strlen(name)) &&
        !bsearch(name, sql_names, sizeof(sql_names) / sizeof(sql_names[0]),
                 sizeof(sql_names[0]), by_letters))
        return "it is a keyword of SQL, in which rules are written; choose "
               "another name";
    return NULL;
}

const char *identifier_label_flaw(const char *label)
{
    if (!*label || strlen(label) > IDENTIFIER_MAX_BYTES ||
        strspn(label, WORD "-") != strlen(label))
        return "this name has 1 to 64 letters, digits, _ and -";
    return NULL;
}

const char *identifier_value_flaw(const char *text)
{
    if (strlen(text) > IDENTIFIER_MAX_BYTES ||
        strspn(text, WORD ".:+-") != strlen(text))
        return "a text has at most 64 letters, digits and _ . : + -";
    return NULL;
}

static bool has_odd_part(const char *path)
{
    const char *part = path;

    while (part) {
        size_t len = strcspn(part, "/");

        if (len == 0 || (len == 1 && *part == '.') ||
            (len == 2 && memcmp(part, "..", 2) == 0) || *part == '-')
            return true;
        part = strchr(part, '/');
        part = part ? part + 1 : NULL;
    }
    return false;
}

/* 'outside' is for a path that may leave the folder. */
static const char *path_flaw(const char *path, const char *outside)
{
    if (*path == '/')
        return "a path is relative to the folder of the sweep file";
    if (strlen(path) > 200 || strspn(path, WORD "./-") != strlen(path))
        return "a path has at most 200 letters, digits and _ . / -";
    return has_odd_part(path) ? outside : NULL;
}

#define ODD_PART "; no part of a path may be empty, be . or .., or begin with -"

const char *identifier_path_flaw(const char *path)
{
    return path_flaw(
        path, "keep all sources in the folder of the sweep file" ODD_PART);
}

const char *identifier_input_flaw(const char *path)
{
    return path_flaw(
        path, "keep all inputs in the folder of the sweep file" ODD_PART);
}

/* ---- flags */

enum flag_value {
    FLAG_ALONE,
    FLAG_BOOL,  /* =true or =false */
    FLAG_COUNT, /* =N */
    FLAG_CACHE, /* =ca and so on */
};

static const struct flag {
    const char *name; /* without its dashes, one or two */
    enum flag_value value;
} flags_allowed[] = {
    { "O0", FLAG_ALONE },
    { "O1", FLAG_ALONE },
    { "O2", FLAG_ALONE },
    { "O3", FLAG_ALONE },
    { "lineinfo", FLAG_ALONE },
    { "generate-line-info", FLAG_ALONE },
    { "use_fast_math", FLAG_ALONE },
    { "extra-device-vectorization", FLAG_ALONE },
    { "restrict", FLAG_ALONE },
    { "expt-relaxed-constexpr", FLAG_ALONE },
    { "expt-extended-lambda", FLAG_ALONE },
    { "extended-lambda", FLAG_ALONE },
    { "maxrregcount", FLAG_COUNT },
    { "ftz", FLAG_BOOL },
    { "prec-div", FLAG_BOOL },
    { "prec-sqrt", FLAG_BOOL },
    { "fmad", FLAG_BOOL },
};

static const struct flag ptxas_allowed[] = {
    { "O0", FLAG_ALONE },          { "O1", FLAG_ALONE },
    { "O2", FLAG_ALONE },          { "O3", FLAG_ALONE },
    { "v", FLAG_ALONE },           { "verbose", FLAG_ALONE },
    { "warn-spills", FLAG_ALONE }, { "warn-lmem-usage", FLAG_ALONE },
    { "dlcm", FLAG_CACHE },        { "dscm", FLAG_CACHE },
};

static bool value_fits(enum flag_value kind, const char *value)
{
    static const char *const words[] = { "true", "false", "ca", "cg",
                                         "cs",   "cv",    "wb", "wt" };
    size_t from = kind == FLAG_BOOL ? 0 : 2, to = kind == FLAG_BOOL ? 2 : 8;

    if (kind == FLAG_COUNT)
        return *value && strlen(value) <= 3 &&
               strspn(value, "0123456789") == strlen(value);
    for (size_t i = from; i < to; i++)
        if (strcmp(value, words[i]) == 0)
            return true;
    return false;
}

static bool is_in(const struct flag *table, size_t n, const char *flag)
{
    const char *name = flag + 1 + (flag[0] == '-' && flag[1] == '-');
    size_t len = strcspn(name, "=");

    if (flag[0] != '-')
        return false;
    for (size_t i = 0; i < n; i++) {
        if (strlen(table[i].name) != len ||
            memcmp(table[i].name, name, len) != 0)
            continue;
        if (table[i].value == FLAG_ALONE)
            return !name[len];
        return name[len] == '=' && value_fits(table[i].value, name + len + 1);
    }
    return false;
}

/* What follows -Xptxas: flags of ptxas, commas between. */
static bool ptxas_list_allowed(const char *list)
{
    char copy[FLAG_MAX], *rest = copy, *flag;

    if (strlen(list) >= sizeof(copy))
        return false;
    memcpy(copy, list, strlen(list) + 1);
    while ((flag = strsep(&rest, ",")))
        if (!is_in(ptxas_allowed,
                   sizeof(ptxas_allowed) / sizeof(ptxas_allowed[0]), flag))
            return false;
    return true;
}

bool identifier_flag_allowed(char *const *flags, size_t n, size_t i,
                             size_t *taken)
{
    *taken = 1;
    if (strncmp(flags[i], "-Xptxas=", 8) == 0)
        return ptxas_list_allowed(flags[i] + 8);
    if (strcmp(flags[i], "-Xptxas") == 0 && i + 1 < n) {
        *taken = 2;
        return ptxas_list_allowed(flags[i + 1]);
    }
    return is_in(flags_allowed,
                 sizeof(flags_allowed) / sizeof(flags_allowed[0]), flags[i]);
}
