/* Flaws and notes of a problem, and its parts in JSON. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/problem/t1_internal.h"
#include "coordinator/text/terminal.h"

void t1_note(struct t1 *problem, const char *fmt, ...)
{
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    problem->notes.list =
        mem_grow(problem->notes.list, problem->notes.n + 1, sizeof(char *));
    /* A note is a comment of the sweep file, so it stays on its line. */
    problem->notes.list[problem->notes.n++] =
        terminal_clean(mem_strdup(text), false);
}

int t1_flaw(const struct t1 *problem, const struct json *at, const char *why,
            struct err *err, const char *fmt, ...)
{
    va_list ap;
    int rc;

    va_start(ap, fmt);
    rc = caret_text_verr(err, &problem->text, at->at, why, fmt, ap);
    va_end(ap);
    return rc;
}

/* An escape in the text moves the caret; the message has the place, too. */
int t1_python_flaw(const struct t1 *problem, size_t at,
                   const struct py_flaw *flaw, const char *text,
                   struct err *err)
{
    size_t place = at + 1 + flaw->at;

    return caret_text_err(
        err, &problem->text, place < problem->text.len ? place : at,
        "--lenient leaves out conditions that cannot be "
        "gates, and rejects configurations for which one has "
        "no value",
        "'%.60s', column %zu: %s", text, flaw->at + 1, flaw->what);
}

struct py_scope t1_scope(const struct t1 *problem)
{
    return (struct py_scope){ problem->names.list, problem->names.n };
}
