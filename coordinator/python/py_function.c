#include "coordinator/python/py_function.h"

#include <math.h>
#include <string.h>

#include "common/err.h"

#define TABLES 4
#define ANY (-1)

static const struct py_function *table(size_t i)
{
    return i == 0   ? py_number_functions
           : i == 1 ? py_whole_functions
           : i == 2 ? py_list_functions
                    : py_text_functions;
}

/* What numpy has by another name, for so many arguments. */
static const struct {
    const char *name;
    int n;
    const char *is;
} aliases[] = {
    { "abs", 1, "abs" },        { "absolute", 1, "abs" },
    { "all", 1, "all" },        { "amax", 1, "max" },
    { "amin", 1, "min" },       { "any", 1, "any" },
    { "arange", ANY, "range" }, { "bool_", 1, "bool" },
    { "fabs", 1, "fabs" },      { "float64", 1, "float" },
    { "fmod", 2, "fmod" },      { "gcd", 2, "gcd" },
    { "int32", 1, "trunc" },    { "int64", 1, "trunc" },
    { "isinf", 1, "isinf" },    { "isnan", 1, "isnan" },
    { "lcm", 2, "lcm" },        { "max", 1, "max" },
    { "maximum", 2, "max" },    { "min", 1, "min" },
    { "minimum", 2, "min" },    { "power", 2, "pow" },
    { "prod", 1, "prod" },      { "sort", 1, "sorted" },
    { "sum", 1, "sum" },
};

#define ALIASES (sizeof(aliases) / sizeof(aliases[0]))

static const struct py_function *find(const char *prefix, const char *name)
{
    size_t len = strlen(prefix);

    for (size_t i = 0; i < TABLES; i++)
        for (const struct py_function *row = table(i); row->name; row++)
            if (strncmp(row->name, prefix, len) == 0 &&
                strcmp(row->name + len, name) == 0)
                return row;
    return NULL;
}

static const struct py_function *of_numpy(const char *name, size_t n)
{
    for (size_t i = 0; i < ALIASES; i++)
        if (strcmp(aliases[i].name, name) == 0 &&
            (aliases[i].n == ANY || (size_t)aliases[i].n == n))
            return find("", aliases[i].is);
    return find("np.", name);
}

static const struct py_function *of_math(const char *name)
{
    const struct py_function *row = find("math.", name);

    if (row)
        return row;
    row = find("", name);
    return row && strchr(row->flags, 'm') ? row : NULL;
}

const char *py_function_name(enum py_module module, const char *name, size_t n)
{
    const struct py_function *row = module == PY_MODULE_NP ? of_numpy(name, n)
                                    : module == PY_MODULE_MATH ? of_math(name)
                                                               : find("", name);

    return row ? row->name : NULL;
}

const char *py_function_method(const char *name)
{
    const struct py_function *row = find(".", name);

    return row ? row->name : NULL;
}

bool py_function_constant(const char *name, double *out)
{
    static const struct {
        const char *name;
        double real;
    } rows[] = {
        { "e", 0x1.5bf0a8b145769p+1 },   { "inf", (double)INFINITY },
        { "nan", (double)NAN },          { "pi", 0x1.921fb54442d18p+1 },
        { "tau", 0x1.921fb54442d18p+2 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].name, name) == 0) {
            *out = rows[i].real;
            return true;
        }
    return false;
}

int py_function_call(struct py_run *run, const struct py_node *node,
                     const struct py_value *arguments, size_t n,
                     struct py_value *out)
{
    const struct py_function *function = find("", node->text);
    struct py_call call = { run, node, arguments, n, run->flaw };
    struct py_value characters;

    if (n == 1 && arguments[0].kind == PY_TEXT &&
        strchr(function->flags, 'i')) {
        if (py_text_characters(run, node->at, arguments[0].text, &characters) <
            0)
            return ERR_INPUT;
        call.arguments = &characters;
    }
    return function->fn(&call, out);
}
