/* The compiler options of a T1 file: flags and standard of a sweep file. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/problem/t1_internal.h"
#include "coordinator/problem/t1_kernel.h"
#include "coordinator/source/identifier.h"

#define BLANKS " \t\r\n"

static void leave_out(struct t1 *problem, const char *flag)
{
    t1_note(problem,
            "the compiler option '%.60s' is left out: a sweep file takes "
            "only " IDENTIFIER_FLAGS_ALLOWED,
            flag);
}

/* "-std=" is a key of its own in a sweep file. */
static bool take_standard(struct t1 *problem, const char *flag)
{
    static const char *const known[] = { "c++11", "c++14", "c++17", "c++20" };
    const char *value = flag + strspn(flag, "-");

    if (value == flag || strncmp(value, "std=", 4) != 0)
        return false;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(value + 4, known[i]) == 0) {
            free(problem->compiler.standard);
            problem->compiler.standard = mem_strdup(known[i]);
            return true;
        }
    t1_note(problem,
            "the compiler option '%.60s' is left out: a standard is c++11, "
            "c++14, c++17 or c++20",
            flag);
    return true;
}

/* One text may hold several options. */
static void take_text(struct t1 *problem, const char *text)
{
    for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
        size_t len = strcspn(text, BLANKS);
        char *flag = mem_dup(text, len);

        text += len;
        if (take_standard(problem, flag)) {
            free(flag);
        } else if (problem->compiler.n_flags == T1_FLAGS_MAX) {
            leave_out(problem, flag);
            free(flag);
        } else {
            problem->compiler.flags[problem->compiler.n_flags++] = flag;
        }
    }
}

static void drop_refused(struct t1 *problem)
{
    size_t n = 0, taken;

    for (size_t i = 0; i < problem->compiler.n_flags; i += taken) {
        bool allowed = identifier_flag_allowed(
            problem->compiler.flags, problem->compiler.n_flags, i, &taken);

        for (size_t k = i; k < i + taken; k++)
            if (allowed) {
                problem->compiler.flags[n++] = problem->compiler.flags[k];
            } else {
                leave_out(problem, problem->compiler.flags[k]);
                free(problem->compiler.flags[k]);
            }
    }
    problem->compiler.n_flags = n;
}

void t1_read_options(struct t1 *problem, const struct json *kernel)
{
    const struct json *options = t1_member(kernel, "CompilerOptions");
    bool is_list = options && options->kind == JSON_ARRAY;
    size_t n = is_list ? options->n : 1;

    for (size_t i = 0; options && options->kind != JSON_NULL && i < n; i++) {
        const struct json *item = is_list ? &options->items[i] : options;

        if (t1_text(item))
            take_text(problem, item->text);
        else
            t1_note(problem,
                    "line %d: a compiler option that is no text is "
                    "left out",
                    caret_line_number(&problem->text, item->at));
    }
    drop_refused(problem);
}
