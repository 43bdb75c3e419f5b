#include "coordinator/source/kernel_scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/source/c_text.h"
#include "coordinator/source/kernel_find.h"
#include "coordinator/source/type_name.h"

#define WORD "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"

/* ---- its parameters */

/* An array of vectors, such as float4 *, is one of their elements. */
static const char *type_of(const char *words, bool pointer)
{
    const struct type_name *row;

    if (c_text_find_word(words,
                         "short")) /* no sweep file has one; "short int" */
        return NULL;
    for (size_t i = 0; (row = type_name_at(i)); i++)
        if (row->languages & TYPE_NAME_C && (pointer || row->elements == 1) &&
            c_text_find_word(words, row->name))
            return row->type;
    return NULL;
}

/* What is behind the name: [] or [8] of an array, or = and a default. */
static bool cut_behind_name(char *text)
{
    char *end = text + strcspn(text, "[=");
    bool array = *end == '[';

    *end = '\0';
    while (end > text && !c_text_is_word(end[-1]))
        *--end = '\0';
    return array;
}

/* Is what is pointed to constant?  'float *const x' can be written. */
static bool is_constant(const char *words, bool array)
{
    const char *is = c_text_find_word(words, "const");
    const char *star = strchr(words, '*');

    return is && (array || !star || is < star);
}

static int add_parameter(struct kernel_scan *out, const char *from, size_t len,
                         struct err *err)
{
    char *text = mem_dup(from, len), *whole = mem_dup(from, len), *name;
    bool array = cut_behind_name(text), nested;
    struct kernel_scan_parameter is = { .pointer = array || strchr(text, '*') };
    int rc = 0;

    for (name = text + strlen(text); name > text && c_text_is_word(name[-1]);
         name--)
        ;
    is.name = mem_strdup(name);
    *name = '\0';
    is.constant = is_constant(text, array);
    nested =
        strchr(text, '*') != strrchr(text, '*') || (array && strchr(text, '*'));
    is.type = nested ? NULL : type_of(text, is.pointer);
    if (!is.type || !*is.name)
        rc = err_set(
            err, ERR_INPUT,
            "parameter %zu, '%.80s': sweep files have no such type (they "
            "have fp16, bf16, fp32, fp64, int8, int32 and int64)",
            out->n + 1, c_text_skip_blanks(whole));
    free(whole);
    free(text);
    if (rc < 0) {
        free(is.name);
        return rc;
    }
    out->parameters =
        mem_grow(out->parameters, out->n + 1, sizeof(*out->parameters));
    out->parameters[out->n++] = is;
    return 0;
}

static int read_parameters(const char *at, struct kernel_scan *out,
                           struct err *err)
{
    const char *from = at;
    int depth = 0, rc = 0;

    for (; *at && rc == 0; at++) {
        bool ends = *at == ')' && depth == 0;

        if (depth == 0 && (*at == ',' || ends)) {
            if (*c_text_skip_blanks(from) != ')')
                rc = add_parameter(out, from, (size_t)(at - from), err);
            from = at + 1;
        }
        if (ends)
            return rc;
        depth += (*at == '(' || *at == '<') - (*at == ')' || *at == '>');
    }
    return rc < 0 ? rc
                  : err_set(err, ERR_INPUT, "the parameters of '%s' do not end",
                            out->entry);
}

/* ---- macros */

static bool is_value(const char *text, size_t len)
{
    if ((len == 4 && memcmp(text, "true", 4) == 0) ||
        (len == 5 && memcmp(text, "false", 5) == 0))
        return true;
    for (size_t i = 0; i < len; i++)
        if (!isdigit((unsigned char)text[i]))
            return false;
    return len > 0 && len < 10;
}

struct word {
    const char *at;
    size_t len;
};

/* The length of the word of a directive such as '#ifndef BLOCK' at 'at'; 0 for
 * any other line. */
static size_t directive(const char *at, const char *what, const char **word)
{
    at += strspn(at, " \t");
    if (*at++ != '#')
        return 0;
    at += strspn(at, " \t");
    if (strncmp(at, what, strlen(what)) != 0)
        return 0;
    at += strlen(what);
    *word = at + strspn(at, " \t");
    return *word > at ? strspn(*word, WORD) : 0;
}

/* Does '#if NAME' with nothing behind it stand in the text? */
static bool is_switch(const char *text, const char *name)
{
    size_t len = strlen(name);
    const char *word = "";

    for (const char *at = text; *at;) {
        if (directive(at, "if", &word) == len && memcmp(word, name, len) == 0 &&
            strchr("\r\n", word[len + strspn(word + len, " \t")]))
            return true;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return false;
}

static void add_macro(struct kernel_scan_macro **list, size_t *n,
                      const char *text, const struct word *name,
                      const struct word *value)
{
    struct kernel_scan_macro macro = { mem_dup(name->at, name->len),
                                       mem_dup(value->at, value->len), false };

    macro.is_switch = is_switch(text, macro.name);
    *list = mem_grow(*list, *n + 1, sizeof(**list));
    (*list)[(*n)++] = macro;
}

/* The value of a macro, (4) as 4. */
static struct word value_of(const char *at)
{
    struct word value;

    at += strspn(at, " \t");
    value = (struct word){ at, strcspn(at, " \t\r\n") };
    if (value.len > 2 && *at == '(' && at[value.len - 1] == ')')
        value = (struct word){ at + 1, value.len - 2 };
    return value;
}

/* The length of NAME in '#ifndef NAME', '#if !defined(NAME)' and '#if !defined
 * NAME'; 0 for any other line. */
static size_t guard(const char *at, const char **word)
{
    const char *behind = "";
    size_t len = directive(at, "ifndef", word);

    if (len > 0)
        return len;
    (void)directive(at, "if", &behind);
    if (*behind != '!')
        return 0;
    behind += 1 + strspn(behind + 1, " \t");
    if (strncmp(behind, "defined", 7) != 0)
        return 0;
    *word = behind + 7 + strspn(behind + 7, " \t(");
    return *word > behind + 7 ? strspn(*word, WORD) : 0;
}

static void read_macros(const char *text, struct kernel_scan *out)
{
    struct word guarded = { "", 0 };

    for (const char *at = text; *at;) {
        struct word name = { "", 0 }, value;

        name.len = guard(at, &name.at);
        if (name.len > 0) {
            guarded = name;
        } else if ((name.len = directive(at, "define", &name.at)) > 0) {
            value = value_of(name.at + name.len);
            if (!is_value(value.at, value.len))
                ;
            else if (name.len == guarded.len &&
                     memcmp(name.at, guarded.at, name.len) == 0)
                add_macro(&out->macros, &out->n_macros, text, &name, &value);
            else
                add_macro(&out->fixed, &out->n_fixed, text, &name, &value);
        }
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
}

int kernel_scan(const char *text, const char *entry, struct kernel_scan *out,
                struct err *err)
{
    char *plain = c_text_plain(text);
    struct kernel_found found = { .is_c = false };
    int rc;

    *out = (struct kernel_scan){ .n = 0 };
    rc = kernel_find(plain, entry, &found, err);
    if (rc == 0) {
        out->entry = mem_dup(found.name, found.len);
        rc = read_parameters(found.parameters, out, err);
    }
    if (rc == 0)
        read_macros(plain, out);
    else
        kernel_scan_fini(out);
    free(plain);
    return rc;
}

static void free_macros(struct kernel_scan_macro *macros, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(macros[i].name);
        free(macros[i].value);
    }
    free(macros);
}

void kernel_scan_fini(struct kernel_scan *scan)
{
    for (size_t i = 0; i < scan->n; i++)
        free(scan->parameters[i].name);
    free(scan->parameters);
    free_macros(scan->macros, scan->n_macros);
    free_macros(scan->fixed, scan->n_fixed);
    free(scan->entry);
    *scan = (struct kernel_scan){ .n = 0 };
}
