#include "coordinator/source/kernel_scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/source/type_name.h"
#include "coordinator/text/suggest.h"

#define NAMES_MAX 64 /* kernels that are counted */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Blanks instead of comments and of what strings hold, but "C" stays. */
static char *without_comments(const char *text)
{
    char *plain = mem_strdup(text), *at = plain;

    while (*at) {
        char *end = NULL;

        if (strncmp(at, "//", 2) == 0)
            end = at + strcspn(at, "\n");
        else if (strncmp(at, "/*", 2) == 0)
            end = strstr(at + 2, "*/") ? strstr(at + 2, "*/") + 2
                                       : at + strlen(at);
        for (; end && at < end; at++)
            if (*at != '\n')
                *at = ' ';
        if (!end)
            at++;
    }
    return plain;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* The end of what begins with '(' at 'at'; NULL if it does not end. */
static const char *skip_parentheses(const char *at)
{
    int depth = 0;

    for (; *at; at++) {
        depth += *at == '(';
        depth -= *at == ')';
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

/* ---- the kernel */

struct found {
    const char *name, *parameters; /* behind its '(' */
    size_t len;
    bool is_c;        /* extern "C" */
    bool is_template; /* of C++ */
};

static const char *find_word(const char *text, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = text; (at = strstr(at, word)); at += len)
        if ((at == text || !is_word(at[-1])) && !is_word(at[len]))
            return at;
    return NULL;
}

/* The end of what was before 'at'. */
static const char *declaration(const char *text, const char *at)
{
    while (at > text && at[-1] != ';' && at[-1] != '}')
        at--;
    return at;
}

/* extern "C" between the end of what was before and 'at'. */
static bool is_extern_c(const char *text, const char *at)
{
    for (const char *from = declaration(text, at); from < at; from++)
        if (strncmp(from, "extern", 6) == 0 &&
            strncmp(skip_blanks(from + 6), "\"C\"", 3) == 0)
            return true;
    return false;
}

/* The kernel whose __global__ is the next one from '*at' on. */
static bool next_kernel(const char *text, const char **at, struct found *out)
{
    const char *global = find_word(*at, "__global__"), *p, *name = NULL;
    size_t len = 0;

    if (!global)
        return false;
    p = global + strlen("__global__");
    *at = p;
    out->is_c = is_extern_c(text, global);
    name = find_word(declaration(text, global), "template");
    out->is_template = name && name < global;
    name = NULL;
    while (*p && *p != '{' && *p != ';') {
        p = skip_blanks(p);
        if (*p == '(' && name &&
            !(len == 17 && strncmp(name, "__launch_bounds__", len) == 0)) {
            *out =
                (struct found){ name, p + 1, len, out->is_c, out->is_template };
            return true;
        }
        if (*p == '(') {
            p = skip_parentheses(p);
            if (!p)
                return false;
            continue;
        }
        if (!is_word(*p)) {
            p += *p != '\0';
            continue;
        }
        name = p;
        while (is_word(*p))
            p++;
        len = (size_t)(p - name);
    }
    out->name = NULL;
    return true;
}

static bool is_named(const struct found *found, const char *name)
{
    return strlen(name) == found->len &&
           memcmp(found->name, name, found->len) == 0;
}

/* 'entry' NULL: none was asked for. */
static int no_kernel(const char *text, const char *entry, struct err *err)
{
    char *names[NAMES_MAX], ending[SUGGEST_BYTES] = "";
    struct found found;
    size_t n = 0;

    for (const char *at = text;
         n < NAMES_MAX && next_kernel(text, &at, &found);)
        if (found.name)
            names[n++] = mem_dup(found.name, found.len);
    if (entry && entry[0] && entry[1]) /* one letter is like any other */
        (void)suggest_ending(entry, strlen(entry), (const char *const *)names,
                             n, ending);
    while (n > 0)
        free(names[--n]);
    return err_set(err, ERR_INPUT, "there is no __global__ function%s%.64s%s",
                   entry ? " " : "", entry ? entry : "", ending);
}

/* Of several, the only one that is extern "C" is meant: it calls templates. */
static int find_kernel(const char *text, const char *entry, struct found *out,
                       struct err *err)
{
    const char *at = text;
    struct found found = { .is_c = false };
    size_t n = 0, n_c = 0;

    while (n < NAMES_MAX && next_kernel(text, &at, &found)) {
        if (!found.name || (entry && !is_named(&found, entry)))
            continue;
        if (n == 0 || (found.is_c && n_c == 0))
            *out = found;
        n++;
        n_c += found.is_c;
    }
    if (n == 0)
        return no_kernel(text, entry, err);
    if (n > 1 && n_c != 1 && !entry)
        return err_set(err, ERR_INPUT,
                       "there are %zu kernels; choose one with --entry", n);
    if (out->is_template)
        return err_set(err, ERR_INPUT,
                       "'%.*s' is a template; write an extern \"C\" __global__ "
                       "function that calls its body with macros as the "
                       "template arguments (docs/own-kernel.md)",
                       (int)out->len, out->name);
    if (!out->is_c)
        return err_set(err, ERR_INPUT,
                       "'%.*s' is not extern \"C\", so its name in the "
                       "compiled file is another one; write extern \"C\" "
                       "before __global__",
                       (int)out->len, out->name);
    return 0;
}

/* ---- its parameters */

/* An array of vectors, such as float4 *, is one of their elements. */
static const char *type_of(const char *words, bool pointer)
{
    const struct type_name *row;

    if (find_word(words, "short")) /* no sweep file has one; "short int" */
        return NULL;
    for (size_t i = 0; (row = type_name_at(i)); i++)
        if (row->languages & TYPE_NAME_C && (pointer || row->elements == 1) &&
            find_word(words, row->name))
            return row->type;
    return NULL;
}

static int add_parameter(struct kernel_scan *out, const char *from, size_t len,
                         struct err *err)
{
    char *text = mem_dup(from, len), *whole = mem_dup(from, len);
    char *end = text + len, *name;
    struct kernel_scan_parameter is = { .pointer = strchr(text, '*') != NULL,
                                        .constant = find_word(text, "const") };
    int rc = 0;

    while (end > text && !is_word(end[-1]))
        *--end = '\0';
    for (name = end; name > text && is_word(name[-1]); name--)
        ;
    is.name = mem_strdup(name);
    *name = '\0';
    is.type = type_of(text, is.pointer);
    if (!is.type || !*is.name)
        rc = err_set(
            err, ERR_INPUT,
            "parameter %zu, '%.80s': sweep files have no such type (they "
            "have fp16, bf16, fp32, fp64, int8, int32 and int64)",
            out->n + 1, skip_blanks(whole));
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
            if (*skip_blanks(from) != ')')
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
    return *word > at ? strspn(*word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "abcdefghijklmnopqrstuvwxyz_0123456789")
                      : 0;
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

static void read_macros(const char *text, struct kernel_scan *out)
{
    struct word guarded = { "", 0 };

    for (const char *at = text; *at;) {
        struct word name = { "", 0 }, value;

        name.len = directive(at, "ifndef", &name.at);
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
    char *plain = without_comments(text);
    struct found found = { .is_c = false };
    int rc;

    *out = (struct kernel_scan){ .n = 0 };
    rc = find_kernel(plain, entry, &found, err);
    if (rc == 0 && found.parameters) {
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
