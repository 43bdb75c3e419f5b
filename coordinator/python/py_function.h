/* py_function.h - functions of the Python subset; private to py_*.c
 *
 * A function has the name under which all of the subset know it: "ceil" is also
 * math.ceil, and "np.ceil" is numpy's, which returns a float.  ".count" is a
 * method, whose object is the first argument.
 */
#ifndef FA_COORDINATOR_PYTHON_PY_FUNCTION_H
#define FA_COORDINATOR_PYTHON_PY_FUNCTION_H

#include "coordinator/python/py_run.h"

/* The modules of functions; "numpy" is np. */
enum py_module {
    PY_MODULE_NONE,
    PY_MODULE_MATH,
    PY_MODULE_NP,
};

struct py_function {
    const char *name;
    py_function_fn *fn;
    const char *flags; /* "m": of math, too; "i": a text is the list of its
                        * characters */
};

/* The name of a function of a module with 'n' arguments, or of a method; NULL
 * if there is none. */
const char *py_function_name(enum py_module module, const char *name, size_t n);
const char *py_function_method(const char *name);
/* A number of both modules, such as math.pi. */
bool py_function_constant(const char *name, double *out);
int py_function_call(struct py_run *run, const struct py_node *call,
                     const struct py_value *arguments, size_t n,
                     struct py_value *out);

/* Tables that end with a NULL: numbers (py_function_number.c), whole ones
 * (py_function_whole.c), lists (py_function_list.c), texts
 * (py_function_text.c). */
extern const struct py_function py_number_functions[], py_whole_functions[],
    py_list_functions[], py_text_functions[];

/* str() of a value (py_function_text.c). */
int py_text_of(struct py_run *run, size_t at, const struct py_value *value,
               const char **out);
/* The characters of a text as a list of texts. */
int py_text_characters(struct py_run *run, size_t at, const char *text,
                       struct py_value *out);
/* How many bytes the first 'n' characters have, and how many a text has. */
size_t py_text_offset(const char *text, size_t n);
size_t py_text_length(const char *text);

/* ---- lists and texts (py_sequence.c) */

/* list[place] and list[from:to:step]. */
int py_sequence_item(struct py_run *run, const struct py_node *node,
                     const struct py_value *list, const struct py_value *place,
                     struct py_value *out);
int py_sequence_slice(struct py_run *run, const struct py_node *node,
                      const struct py_value parts[4], struct py_value *out);
/* Whether it is one that '+' and '*' take: "[1] + [2]", "'a' * 2". */
bool py_sequence_joins(const struct py_value *value);
/* Of two of one kind and form. */
int py_sequence_sum(struct py_run *run, const struct py_node *node,
                    const struct py_value *a, const struct py_value *b,
                    struct py_value *out);
int py_sequence_repeat(struct py_run *run, const struct py_node *node,
                       const struct py_value *value, py_int times,
                       struct py_value *out);

#endif
