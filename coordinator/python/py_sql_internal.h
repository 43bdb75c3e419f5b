/* py_sql_internal.h - the parts of py_sql; private to py_sql*.c */
#ifndef FA_COORDINATOR_PYTHON_PY_SQL_INTERNAL_H
#define FA_COORDINATOR_PYTHON_PY_SQL_INTERNAL_H

#include "common/buf.h"
#include "coordinator/python/py_internal.h"

#define PY_SQL_NAMES_MAX 160 /* of the scope and of "for" clauses */
#define PY_SQL_FILTERS_MAX 8

struct py_sql;
struct py_sql_type;

/* How an element of a list is written: py_sql_value() and py_sql_truth(), to
 * which lists belong, so that none of the three files needs both others. */
struct py_sql_writers {
    int (*value)(struct py_sql *sql, const struct py_node *node,
                 struct py_sql_type *type);
    int (*truth)(struct py_sql *sql, const struct py_node *node);
};

struct py_sql {
    const struct py_sql_writers *writers;
    struct py_expression *expression;
    struct py_name names[PY_SQL_NAMES_MAX]; /* those of "for" stand last */
    size_t n_names;
    long steps;      /* that are left; a "for" may be written out many times */
    long case_steps; /* likewise, of py_sql_case() */
    struct buf *out;
    struct py_flaw *flaw;
};

/* What the SQL of a value is known to be.  An int that may be beyond 64 bits is
 * a real in SQL, and rounded. */
struct py_sql_type {
    enum py_kind kind;
    bool positive; /* not below 0 */
    double most;   /* its amount is not larger */
};
#define PY_SQL_TRUTH ((struct py_sql_type){ PY_BOOL, true, 1 })
#define PY_SQL_WHOLE_END 0x1p63 /* of SQL's ints */
#define PY_SQL_EXACT_END 0x1p53 /* of ints that a real holds */
struct py_sql_type py_sql_type_of(const struct py_value *value);

/* The flaw of what SQL cannot say, and that of a text that is too long. */
int py_sql_no_counterpart(struct py_sql *sql, const struct py_node *node);
int py_sql_spend(struct py_sql *sql, const struct py_node *node);

int py_sql_value(struct py_sql *sql, const struct py_node *node,
                 struct py_sql_type *type);
/* The same in a buffer of its own. */
int py_sql_operand(struct py_sql *sql, const struct py_node *node,
                   struct buf *text, struct py_sql_type *type);
/* 0, 1 or NULL (py_sql_truth.c). */
int py_sql_truth(struct py_sql *sql, const struct py_node *node);
/* A value as a literal; false if SQL has none. */
bool py_sql_literal(struct py_sql *sql, const struct py_value *value);

/* A name of the scope or of a "for", or NULL (py_sql_constant.c). */
const struct py_name *py_sql_find(const struct py_sql *sql, const char *name);
/* Whether it depends on no tunable, and its value then. */
bool py_sql_is_constant(const struct py_sql *sql, const struct py_node *node);
int py_sql_constant(struct py_sql *sql, const struct py_node *node,
                    struct py_value *out);
/* The only tunable that it depends on, or NULL. */
struct py_name *py_sql_only(struct py_sql *sql, const struct py_node *node);

/* A part that SQL cannot say, written as its value for each value of the only
 * tunable that it depends on (py_sql_case.c).  What was written of it, from
 * 'before' on, is taken back.  'type' is NULL for a truth.  ERR_INPUT, and the
 * flaw as it was, if that is not possible either. */
int py_sql_case(struct py_sql *sql, const struct py_node *node, size_t before,
                struct py_sql_type *type);

/* Whether Python may raise an error for it, so that the SQL may be NULL
 * (py_sql_fails.c). */
bool py_sql_fails(struct py_sql *sql, const struct py_node *node);

/* A function over a list: any all sum len max min (py_sql_list.c). */
bool py_sql_takes_list(const struct py_node *call);
int py_sql_list_call(struct py_sql *sql, const struct py_node *call,
                     struct py_sql_type *type);
/* "x in LIST", for a list that is no constant. */
int py_sql_list_has(struct py_sql *sql, const struct py_node *value,
                    const struct py_node *list);

#endif
