/* py_internal.h - syntax trees of the Python subset; private to py_*.c */
#ifndef FA_COORDINATOR_PYTHON_PY_INTERNAL_H
#define FA_COORDINATOR_PYTHON_PY_INTERNAL_H

#include "coordinator/python/py_expression.h"

enum py_op {
    PY_OP_CONST,
    PY_OP_NAME,
    PY_OP_LIST, /* also a tuple: 'value' has its form */
    PY_OP_OR,
    PY_OP_AND,
    PY_OP_NOT,
    PY_OP_COMPARE, /* operands in 'items', relations in 'relations' */
    PY_OP_BIT_OR,
    PY_OP_BIT_XOR,
    PY_OP_BIT_AND,
    PY_OP_SHIFT_LEFT,
    PY_OP_SHIFT_RIGHT,
    PY_OP_ADD,
    PY_OP_SUBTRACT,
    PY_OP_MULTIPLY,
    PY_OP_DIVIDE,
    PY_OP_FLOOR_DIVIDE,
    PY_OP_MODULO,
    PY_OP_POWER,
    PY_OP_NEGATE,
    PY_OP_PLUS,
    PY_OP_INVERT,
    PY_OP_IF,      /* condition, then, else */
    PY_OP_INDEX,   /* list, place */
    PY_OP_SLICE,   /* list, from, to, step; None where it is not written */
    PY_OP_FORMAT,  /* the texts of all items, joined */
    PY_OP_CALL,    /* 'text' is the function; ".NAME" has its object first */
    PY_OP_COLLECT, /* the list that a "for" yields; 'value' has its form */
    PY_OP_FOR,     /* 'text' is the variable: list, body */
    PY_OP_FILTER,  /* condition, body */
};

enum py_relation {
    PY_LESS,
    PY_LESS_EQUAL,
    PY_GREATER,
    PY_GREATER_EQUAL,
    PY_EQUAL,
    PY_NOT_EQUAL,
    PY_IN,
    PY_NOT_IN,
    PY_IS, /* of a bool or None */
    PY_IS_NOT,
};

struct py_node {
    enum py_op op;
    size_t at;             /* in the text */
    struct py_value value; /* of PY_OP_CONST */
    char *text;            /* of a name, a call or a "for" */
    struct py_node **items;
    size_t n;
    enum py_relation *relations; /* one less than items */
};

struct py_expression {
    struct py_node *root;
    struct py_node **nodes; /* all of them, to be freed */
    size_t n_nodes;
    char **texts; /* of literals */
    size_t n_texts;
    void **made; /* lists and texts of the newest evaluation */
    size_t n_made;
    long steps; /* it took */
};

/* Set the flaw; returns ERR_INPUT. */
int py_flaw_set(struct py_flaw *flaw, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* One operator on two values, as Python does it (py_arithmetic.c). */
int py_arithmetic(enum py_op op, const struct py_value *a,
                  const struct py_value *b, size_t at, struct py_value *out,
                  struct py_flaw *flaw);

/* The value of a part of the expression (py_eval.c).  'steps' is what is left
 * for it, and what it leaves. */
int py_eval_node(struct py_expression *expression, const struct py_node *node,
                 const struct py_scope *scope, long *steps,
                 struct py_value *out, struct py_flaw *flaw);

#endif
