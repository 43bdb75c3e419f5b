#include "worker/process/sandbox.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

struct sandbox *sandbox_new(enum sandbox_means means)
{
    struct sandbox *sandbox = mem_new(1, sizeof(*sandbox));

    sandbox->means = means;
    return sandbox;
}

struct sandbox *sandbox_copy(const struct sandbox *sandbox)
{
    struct sandbox *copy = mem_new(1, sizeof(*copy));

    *copy = *sandbox;
    for (size_t i = 0; i < copy->n; i++)
        copy->entries[i].path = mem_strdup(sandbox->entries[i].path);
    return copy;
}

void sandbox_free(struct sandbox *sandbox)
{
    if (!sandbox)
        return;
    for (size_t i = 0; i < sandbox->n; i++)
        free(sandbox->entries[i].path);
    free(sandbox);
}

bool sandbox_contains(const char *folder, const char *path)
{
    size_t len = strlen(folder);

    return strncmp(folder, path, len) == 0 &&
           (path[len] == '\0' || path[len] == '/');
}

/* A folder comes before all that is in it. */
static int compare(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    if (*a == *b)
        return 0;
    if (!*a || !*b)
        return *a ? 1 : -1;
    if (*a == '/' || *b == '/')
        return *a == '/' ? -1 : 1;
    return (unsigned char)*a - (unsigned char)*b;
}

static bool put(struct sandbox *sandbox, char *path, enum sandbox_right right)
{
    size_t at = 0;

    while (at < sandbox->n && compare(sandbox->entries[at].path, path) < 0)
        at++;
    if (at < sandbox->n && strcmp(sandbox->entries[at].path, path) == 0) {
        sandbox->entries[at].right = right;
        free(path);
        return true;
    }
    if (sandbox->n == SANDBOX_ENTRIES_MAX) {
        free(path);
        return false;
    }
    memmove(&sandbox->entries[at + 1], &sandbox->entries[at],
            (sandbox->n - at) * sizeof(sandbox->entries[0]));
    sandbox->entries[at] = (struct sandbox_entry){ path, right };
    sandbox->n++;
    return true;
}

bool sandbox_set(struct sandbox *sandbox, const char *path,
                 enum sandbox_right right)
{
    char full[PATH_MAX];

    if (path[0] != '/' || !realpath(path, full) || strcmp(full, "/") == 0)
        return false;
    return put(sandbox, mem_strdup(full), right);
}

/* The last of the entries before 'end' that contains it has the longest
 * path. */
static enum sandbox_right right_before(const struct sandbox *sandbox,
                                       size_t end, const char *path)
{
    while (end > 0)
        if (sandbox_contains(sandbox->entries[--end].path, path))
            return sandbox->entries[end].right;
    return SANDBOX_WRITE;
}

enum sandbox_right sandbox_right(const struct sandbox *sandbox,
                                 const char *path)
{
    return right_before(sandbox, sandbox->n, path);
}

enum sandbox_right sandbox_right_around(const struct sandbox *sandbox, size_t i)
{
    return right_before(sandbox, i, sandbox->entries[i].path);
}

bool sandbox_sees(const struct sandbox *sandbox, const char *path)
{
    char full[PATH_MAX];

    return !sandbox || sandbox->means == SANDBOX_NOTHING ||
           !realpath(path, full) ||
           sandbox_right(sandbox, full) != SANDBOX_HIDDEN;
}
