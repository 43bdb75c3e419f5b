/* int_expr_call.h - the functions of SQL, as nodes of an int_expr
 *
 * Arguments and results are nodes (int_expr_node.h); INT_EXPR_NONE stands for
 * what is not known.
 */
#ifndef FA_COORDINATOR_POINTS_INT_EXPR_CALL_H
#define FA_COORDINATOR_POINTS_INT_EXPR_CALL_H

#include <stddef.h>

struct int_expr;

int int_expr_negative(struct int_expr *expr, int a);

/* min, max, abs, sign, iif, coalesce, ifnull, and what rounds a whole number.
 * 'name' is 'len' bytes, in any case.  INT_EXPR_NONE for another function. */
int int_expr_call(struct int_expr *expr, const char *name, size_t len,
                  const int *args, size_t n);

#endif
