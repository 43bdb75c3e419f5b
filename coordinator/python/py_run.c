#include "coordinator/python/py_run.h"

#include <math.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/mem.h"

#define WHOLE_END 0x1p127

int py_run_spend(struct py_run *run, size_t at, size_t n)
{
    if (n > (size_t)run->steps)
        return py_flaw_set(run->flaw, at,
                           "it takes more than %d steps to evaluate",
                           PY_EXPRESSION_STEPS);
    run->steps -= (long)n;
    return 0;
}

/* Space that lasts until the next evaluation. */
static void *keep(struct py_expression *expression, void *made)
{
    expression->made = mem_grow(expression->made, expression->n_made + 1,
                                sizeof(*expression->made));
    return expression->made[expression->n_made++] = made;
}

int py_run_list(struct py_run *run, size_t at, size_t n, struct py_value **out)
{
    if (py_run_spend(run, at, n + 1) < 0)
        return ERR_INPUT;
    *out = keep(run->expression, mem_new(n + 1, sizeof(**out)));
    return 0;
}

int py_run_text(struct py_run *run, size_t at, size_t bytes, char **out)
{
    if (py_run_spend(run, at, bytes + 1) < 0)
        return ERR_INPUT;
    *out = keep(run->expression, mem_new(bytes + 1, 1));
    return 0;
}

void py_run_drop(struct py_expression *expression)
{
    for (size_t i = 0; i < expression->n_made; i++)
        free(expression->made[i]);
    free(expression->made);
    expression->made = NULL;
    expression->n_made = 0;
}

int py_call_wrong(const struct py_call *call)
{
    return py_flaw_set(call->flaw, call->node->at,
                       "%s() does not take such arguments",
                       call->node->text + (*call->node->text == '.'));
}

bool py_call_list(const struct py_call *call)
{
    return call->n == 1 && call->arguments[0].kind == PY_LIST;
}

bool py_call_number(const struct py_call *call)
{
    return call->n == 1 && py_value_is_number(&call->arguments[0]);
}

int py_call_whole(const struct py_call *call, double real, struct py_value *out)
{
    if (isnan(real) || real < -WHOLE_END || real >= WHOLE_END)
        return py_flaw_set(call->flaw, call->node->at,
                           "the result is beyond %d bits", PY_INT_BITS);
    *out = py_value_int((py_int)real);
    return 0;
}
