/* Functions of whole numbers. */
#include <math.h>

#include "common/err.h"
#include "coordinator/python/py_function.h"

__extension__ typedef unsigned __int128 amount;

static amount amount_of(py_int integer)
{
    return integer < 0 ? -(amount)integer : (amount)integer;
}

static amount common_divisor(amount a, amount b)
{
    while (b) {
        amount rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static bool all_whole(const struct py_call *call)
{
    for (size_t i = 0; i < call->n; i++)
        if (!py_value_is_whole(&call->arguments[i]))
            return false;
    return true;
}

static int call_gcd(const struct py_call *call, struct py_value *out)
{
    amount divisor = 0;

    if (!all_whole(call))
        return py_call_wrong(call);
    for (size_t i = 0; i < call->n; i++)
        divisor =
            common_divisor(divisor, amount_of(call->arguments[i].integer));
    *out = py_value_int((py_int)divisor);
    return divisor > (amount)PY_INT_MAX ? py_call_whole(call, INFINITY, out)
                                        : 0;
}

static int call_lcm(const struct py_call *call, struct py_value *out)
{
    py_int multiple = 1;

    if (!all_whole(call))
        return py_call_wrong(call);
    for (size_t i = 0; i < call->n; i++) {
        amount next = amount_of(call->arguments[i].integer);

        if (next == 0 || multiple == 0) {
            multiple = 0;
            continue;
        }
        next /= common_divisor((amount)multiple, next);
        if (next > (amount)PY_INT_MAX ||
            __builtin_mul_overflow(multiple, (py_int)next, &multiple))
            return py_call_whole(call, INFINITY, out);
    }
    *out = py_value_int(multiple);
    return 0;
}

static bool one_whole(const struct py_call *call)
{
    return call->n == 1 && py_value_is_whole(call->arguments);
}

static int call_factorial(const struct py_call *call, struct py_value *out)
{
    py_int product = 1;

    if (!one_whole(call) || call->arguments->integer < 0)
        return py_call_wrong(call);
    for (py_int i = 2; i <= call->arguments->integer; i++)
        if (__builtin_mul_overflow(product, i, &product))
            return py_call_whole(call, INFINITY, out);
    *out = py_value_int(product);
    return 0;
}

/* The whole root, by Newton's method from above. */
static int call_isqrt(const struct py_call *call, struct py_value *out)
{
    amount of, root, next;

    if (!one_whole(call) || call->arguments->integer < 0)
        return py_call_wrong(call);
    of = next = amount_of(call->arguments->integer);
    do {
        root = next;
        next = root > 1 ? (root + of / root) / 2 : root;
    } while (next < root);
    *out = py_value_int((py_int)root);
    return 0;
}

static int call_bit_length(const struct py_call *call, struct py_value *out)
{
    amount left;
    int n = 0;

    if (!one_whole(call))
        return py_call_wrong(call);
    for (left = amount_of(call->arguments->integer); left; left >>= 1)
        n++;
    *out = py_value_int(n);
    return 0;
}

static int call_bit_count(const struct py_call *call, struct py_value *out)
{
    amount left;
    int n = 0;

    if (!one_whole(call))
        return py_call_wrong(call);
    for (left = amount_of(call->arguments->integer); left; left >>= 1)
        n += (left & 1) != 0;
    *out = py_value_int(n);
    return 0;
}

static int call_bin(const struct py_call *call, struct py_value *out)
{
    char digits[PY_INT_BITS], *text;
    size_t n = 0;
    amount left;

    if (!one_whole(call))
        return py_call_wrong(call);
    left = amount_of(call->arguments->integer);
    do {
        digits[n++] = left & 1 ? '1' : '0';
        left >>= 1;
    } while (left);
    if (py_run_text(call->run, call->node->at, n + 3, &text) < 0)
        return ERR_INPUT;
    *out = py_value_text(text);
    if (call->arguments->integer < 0)
        *text++ = '-';
    *text++ = '0';
    *text++ = 'b';
    while (n > 0)
        *text++ = digits[--n];
    *text = '\0';
    return 0;
}

const struct py_function py_whole_functions[] = {
    { ".bit_count", call_bit_count, "" },
    { ".bit_length", call_bit_length, "" },
    { "bin", call_bin, "" },
    { "factorial", call_factorial, "m" },
    { "gcd", call_gcd, "m" },
    { "isqrt", call_isqrt, "m" },
    { "lcm", call_lcm, "m" },
    { NULL, NULL, NULL },
};
