/* Constants of a T1 file: BAT evaluates its expressions with the members of
 * "BenchmarkConfig", and defines them in the kernel. */
#include <string.h>

#include "coordinator/problem/t1_internal.h"

static bool is_taken(const struct t1 *problem, const char *name)
{
    for (size_t i = 0; i < problem->names.n; i++)
        if (strcmp(problem->names.list[i].name, name) == 0)
            return true;
    return false;
}

void t1_read_constants(struct t1 *problem, const struct json *root)
{
    const struct json *config = t1_member(root, "BenchmarkConfig");
    const char *first = NULL;

    if (!config || config->kind != JSON_OBJECT)
        return;
    for (size_t i = 0; i < config->n && problem->names.n < T1_NAMES_MAX; i++) {
        const struct json *member = &config->items[i];
        struct py_value value;

        if (!t1_value(member, &value) || is_taken(problem, member->key))
            continue;
        first = first ? first : member->key;
        problem->names.list[problem->names.n++] =
            (struct py_name){ .name = member->key, .value = value };
    }
    if (first)
        t1_note(problem,
                "line %d: \"BenchmarkConfig\" counts in expressions only; in a "
                "kernel of BAT, %.60s and the others are macros",
                caret_line_number(&problem->text, config->at), first);
}
