#include "coordinator/points/int_expr_call.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "coordinator/points/int_expr.h"

int int_expr_negative(struct int_expr *expr, int a)
{
    return int_expr_sum(expr, -1, a, 0, a);
}

static int most(struct int_expr *expr, int a, int b)
{
    return int_expr_negative(expr,
                             int_expr_least(expr, int_expr_negative(expr, a),
                                            int_expr_negative(expr, b)));
}

static int least_or_most(struct int_expr *expr, bool least, const int *args,
                         size_t n)
{
    int node = args[0];

    for (size_t i = 1; i < n; i++)
        node = least ? int_expr_least(expr, node, args[i])
                     : most(expr, node, args[i]);
    return node;
}

static int sign(struct int_expr *expr, int a)
{
    int zero = int_expr_constant(expr, 0);

    return int_expr_sum(expr, 1,
                        int_expr_not(expr, int_expr_at_most(expr, a, zero)), -1,
                        int_expr_not(expr, int_expr_at_most(expr, zero, a)));
}

static bool is_called(const char *name, size_t len, const char *what)
{
    return len == strlen(what) && strncasecmp(name, what, len) == 0;
}

int int_expr_call(struct int_expr *expr, const char *name, size_t len,
                  const int *args, size_t n)
{
    int first = n ? args[0] : INT_EXPR_NONE;

    if (n >= 2 && (is_called(name, len, "min") || is_called(name, len, "max")))
        return least_or_most(expr, is_called(name, len, "min"), args, n);
    if (n == 1 && is_called(name, len, "abs"))
        return most(expr, first, int_expr_negative(expr, first));
    if (n == 1 && is_called(name, len, "sign"))
        return sign(expr, first);
    if (n == 3 && is_called(name, len, "iif"))
        return int_expr_if(expr, first, args[1], args[2]);
    if (n >= 2 &&
        (is_called(name, len, "coalesce") || is_called(name, len, "ifnull")))
        return first; /* which is never NULL */
    if (n == 1 &&
        (is_called(name, len, "ceil") || is_called(name, len, "ceiling") ||
         is_called(name, len, "floor") || is_called(name, len, "trunc")))
        return first;
    return INT_EXPR_NONE;
}
