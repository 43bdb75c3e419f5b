/* t1_internal.h - the parts of a problem; private to t1*.c */
#ifndef FA_COORDINATOR_PROBLEM_T1_INTERNAL_H
#define FA_COORDINATOR_PROBLEM_T1_INTERNAL_H

#include "common/buf.h"
#include "coordinator/problem/t1.h"
#include "coordinator/problem/t1_member.h"
#include "coordinator/python/py_expression.h"
#include "coordinator/text/caret.h"
#include "coordinator/text/json.h"

#define T1_TUNABLES_MAX 64
#define T1_CONDITIONS_MAX 256
#define T1_SIZES_MAX 8
#define T1_NAMES_MAX (2 * T1_TUNABLES_MAX + 1)
#define T1_SQL_MAX 8192
#define T1_GATES_MAX 64 /* of a sweep file */
#define T1_FLAGS_MAX 64 /* likewise */

struct t1_argument; /* t1_argument.h */

struct t1_tunable {
    char *name; /* in the file */
    char *sql;  /* one that a sweep file accepts */
    struct py_value *values;
    size_t n;
    struct py_value start;      /* its "Default", or the first value */
    struct py_expression *list; /* which owns the values; or NULL */
};

struct t1_condition {
    struct py_expression *python;
    const char *text; /* as it stands in the file */
    size_t at;        /* in the file */
    size_t last;      /* the last tunable that it names */
    char *sql;        /* NULL: it always holds */
    bool fails;       /* the SQL may be NULL, where Python raises an error */
};

/* What expressions may name: tunables, then ProblemSize and constants. */
struct t1_names {
    struct py_name list[T1_NAMES_MAX];
    size_t n;
};

struct t1_launch {  /* SQL */
    char *sizes[6]; /* grid, block */
    char *smem;
};

struct t1_compiler {
    char *flags[T1_FLAGS_MAX];
    size_t n_flags;
    char *standard; /* NULL: the usual one */
};

struct t1_notes { /* what was left out or assumed */
    char **list;
    size_t n;
};

struct t1 {
    struct buf file;
    struct caret_text text;
    struct json_doc *doc;
    bool lenient;
    char *name;
    struct t1_tunable tunables[T1_TUNABLES_MAX];
    size_t n_tunables;
    struct t1_condition conditions[T1_CONDITIONS_MAX];
    size_t n_conditions;
    struct t1_names names;
    struct py_value sizes[T1_SIZES_MAX];
    size_t n_sizes;
    struct py_value baseline[T1_TUNABLES_MAX];
    int64_t points, passing;
    struct t1_launch launch;
    struct t1_compiler compiler;
    struct t1_argument *arguments;
    size_t n_arguments;
    struct t1_notes notes;
};

/* t1_flaw.c.  Record what was left out or assumed. */
void t1_note(struct t1 *problem, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A flaw at a value of the file. */
int t1_flaw(const struct t1 *problem, const struct json *at, const char *why,
            struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* A flaw inside of a text that is a Python expression. */
int t1_python_flaw(const struct t1 *problem, size_t at,
                   const struct py_flaw *flaw, const char *text,
                   struct err *err);
struct py_scope t1_scope(const struct t1 *problem);

/* t1_space.c: the tunables and the conditions, once ProblemSize is known. */
int t1_read_tunables(struct t1 *problem, const struct json *space,
                     struct err *err);
void t1_tunable_fini(struct t1_tunable *tunable);
int t1_read_conditions(struct t1 *problem, const struct json *space,
                       struct err *err);
/* A number, a text or a bool. */
bool t1_value(const struct json *json, struct py_value *out);
/* Count the configurations, and find the baseline. */
int t1_walk(struct t1 *problem, struct err *err);

/* t1_table.c: a condition as a list of the values for which it holds.
 * ERR_INPUT if it is too long, or has no value for any of them. */
int t1_table(struct t1 *problem, struct t1_condition *condition);

/* t1_constant.c: names of "BenchmarkConfig" that expressions may use. */
void t1_read_constants(struct t1 *problem, const struct json *root);

#endif
