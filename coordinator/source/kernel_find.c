#include "coordinator/source/kernel_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/source/c_text.h"
#include "coordinator/text/suggest.h"

#define KERNELS_MAX 64 /* that are told apart */
#define NAMED_MAX 4    /* that a message names */

/* The end of what was before 'at'. */
static const char *declaration(const char *text, const char *at)
{
    while (at > text && at[-1] != ';' && at[-1] != '}')
        at--;
    return at;
}

/* The text after the extern "C" at 'at'; NULL if 'at' has something else. */
static const char *behind_extern_c(const char *at)
{
    if (strncmp(at, "extern", 6) != 0)
        return NULL;
    at = c_text_skip_blanks(at + 6);
    return strncmp(at, "\"C\"", 3) == 0 ? at + 3 : NULL;
}

/* Is 'at' in a block extern "C" { ... }? */
static bool is_in_c_block(const char *text, const char *at)
{
    const char *block = NULL, *behind; /* the { of such a block */
    int depth = 0, outside = -1;       /* the depth around it */

    for (const char *p = text; p < at; p++) {
        behind = outside < 0 ? behind_extern_c(p) : NULL;
        if (behind && *c_text_skip_blanks(behind) == '{')
            block = c_text_skip_blanks(behind);
        if (*p == '{' && p == block)
            outside = depth;
        depth += *p == '{';
        depth -= *p == '}' && depth > 0;
        if (*p == '}' && depth <= outside)
            outside = -1;
    }
    return outside >= 0;
}

/* extern "C" in front of 'at', or around it. */
static bool is_extern_c(const char *text, const char *at)
{
    for (const char *from = declaration(text, at); from < at; from++)
        if (behind_extern_c(from))
            return true;
    return is_in_c_block(text, at);
}

static bool is_named(const struct kernel_found *found, const char *name,
                     size_t len)
{
    return len == found->len && memcmp(found->name, name, len) == 0;
}

/* The name and the parameters behind __global__.  __launch_bounds__(...) and
 * other attributes are passed over, as are the <...> of a template. */
static bool read_name(const char *p, struct kernel_found *out)
{
    while (*p && *p != '{' && *p != ';') {
        if (*p == '(' && out->name && strncmp(out->name, "__", 2) != 0) {
            const char *end = c_text_skip_pair(p, '(', ')');

            out->parameters = p + 1;
            out->has_body = end && *c_text_skip_blanks(end) == '{';
            return true;
        }
        if (*p == '(' || *p == '<') {
            p = c_text_skip_pair(p, *p, *p == '(' ? ')' : '>');
            if (!p)
                return false;
        } else if (c_text_is_word(*p)) {
            out->name = p;
            while (c_text_is_word(*p))
                p++;
            out->len = (size_t)(p - out->name);
        } else {
            p++;
        }
    }
    return false;
}

/* The kernel whose __global__ is the next one from '*at' on. */
static bool next_kernel(const char *text, const char **at,
                        struct kernel_found *out)
{
    const char *global, *template;

    while ((global = c_text_find_word(*at, "__global__"))) {
        *at = global + strlen("__global__");
        *out = (struct kernel_found){ .is_c = is_extern_c(text, global) };
        template = c_text_find_word(declaration(text, global), "template");
        out->is_template = template && template <global;
        if (read_name(*at, out))
            return true;
    }
    return false;
}

/* One entry a name: what is declared first and written later is one kernel,
 * with the parameters of the one that has a body. */
static size_t list_kernels(const char *text, struct kernel_found *list)
{
    struct kernel_found found;
    size_t n = 0, i;

    for (const char *at = text; next_kernel(text, &at, &found);) {
        for (i = 0; i < n && !is_named(&list[i], found.name, found.len); i++)
            ;
        if (i == n && n == KERNELS_MAX)
            continue;
        if (i == n) {
            list[n++] = found;
            continue;
        }
        list[i].is_c = list[i].is_c || found.is_c;
        list[i].is_template = list[i].is_template || found.is_template;
        if (found.has_body && !list[i].has_body) {
            list[i].name = found.name;
            list[i].parameters = found.parameters;
            list[i].has_body = true;
        }
    }
    return n;
}

static int no_kernel(const struct kernel_found *list, size_t n,
                     const char *entry, struct err *err)
{
    char *names[KERNELS_MAX], ending[SUGGEST_BYTES] = "";

    if (!entry)
        return err_set(err, ERR_INPUT,
                       "there is no __global__ function in it; files that it "
                       "includes are not read");
    for (size_t i = 0; i < n; i++)
        names[i] = mem_dup(list[i].name, list[i].len);
    if (entry[0] && entry[1]) /* one letter is like any other */
        (void)suggest_ending(entry, strlen(entry), (const char *const *)names,
                             n, ending);
    while (n > 0)
        free(names[--n]);
    return err_set(err, ERR_INPUT, "there is no __global__ function %.64s%s",
                   entry, ending);
}

static int several_kernels(const struct kernel_found *list, size_t n,
                           struct err *err)
{
    char names[160] = "";
    size_t len = 0, named = n < NAMED_MAX ? n : NAMED_MAX;

    for (size_t i = 0; i < named && len < sizeof(names); i++)
        len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%.*s",
                                i == 0 ? "" : (i + 1 == n ? " and " : ", "),
                                (int)(list[i].len < 34 ? list[i].len : 34),
                                list[i].name);
    return err_set(err, ERR_INPUT,
                   "there are %zu kernels, %s%s; choose one with --entry", n,
                   names, named < n ? " and others" : "");
}

int kernel_find(const char *plain, const char *entry, struct kernel_found *out,
                struct err *err)
{
    struct kernel_found list[KERNELS_MAX];
    size_t n = list_kernels(plain, list), chosen = n, n_c = 0;

    for (size_t i = n; i-- > 0;) {
        if (entry ? !is_named(&list[i], entry, strlen(entry)) : !list[i].is_c)
            continue;
        chosen = i;
        n_c++;
    }
    if (n == 0 || (entry && chosen == n))
        return no_kernel(list, n, entry, err);
    if (n > 1 && n_c != 1)
        return several_kernels(list, n, err);
    *out = list[chosen < n ? chosen : 0];
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
