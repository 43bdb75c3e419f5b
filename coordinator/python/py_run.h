/* py_run.h - an evaluation, and a call in it; private to py_*.c */
#ifndef FA_COORDINATOR_PYTHON_PY_RUN_H
#define FA_COORDINATOR_PYTHON_PY_RUN_H

#include "coordinator/python/py_internal.h"

/* Variables of "for" clauses inside of each other. */
#define PY_RUN_BOUND_MAX 8

struct py_run {
    struct py_expression *expression;
    const struct py_scope *scope;
    struct py_name bound[PY_RUN_BOUND_MAX];
    size_t n_bound;
    long steps; /* what is left */
    struct py_flaw *flaw;
};

int py_run_spend(struct py_run *run, size_t at, size_t n);
/* Space for a list, and for a text of so many bytes and its end.  It lasts
 * until py_run_drop(). */
int py_run_list(struct py_run *run, size_t at, size_t n, struct py_value **out);
int py_run_text(struct py_run *run, size_t at, size_t bytes, char **out);
void py_run_drop(struct py_expression *expression);

/* A call of a function; its arguments are values. */
struct py_call {
    struct py_run *run;
    const struct py_node *node;
    const struct py_value *arguments;
    size_t n;
    struct py_flaw *flaw;
};
typedef int py_function_fn(const struct py_call *call, struct py_value *out);

int py_call_wrong(const struct py_call *call);   /* sets the flaw */
bool py_call_list(const struct py_call *call);   /* one argument, a list */
bool py_call_number(const struct py_call *call); /* likewise, a number */
int py_call_whole(const struct py_call *call, double real,
                  struct py_value *out); /* the int */

#endif
