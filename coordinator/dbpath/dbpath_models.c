/* The databases of a sweep over several models of GPU. */
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/dbpath/dbpath_internal.h"

#define END ".db"

/* "l4" of "NAME.l4.db", which begins at 'out'; its length, or 0. */
static size_t label_of(const char *name, const char **out)
{
    size_t all = strlen(name), end = strlen(END);
    size_t len =
        all > end && strcmp(name + all - end, END) == 0 ? all - end : 0;
    const char *dot = memrchr(name, '.', len);

    *out = dot ? dot + 1 : name;
    return dot && dot > name ? len - (size_t)(*out - name) : 0;
}

static bool same_sweep(const char *name, const char *prefix, size_t len)
{
    const char *label;

    return label_of(name, &label) > 0 && (size_t)(label - name) == len &&
           memcmp(name, prefix, len) == 0;
}

static void add(struct dbpath_models *models, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *label;
    size_t len;

    if (models->n == DBPATH_MODELS_MAX)
        return;
    len = label_of(name, &label);
    models->labels[models->n] = len ? mem_dup(label, len) : mem_strdup(name);
    models->paths[models->n++] = mem_strdup(path);
}

/* "NAME." of the databases: from the sweep file, or their own. */
static char *prefix_of(struct dirent **entries, int n, size_t *len)
{
    char *db = dbpath_of_file("sweep.json", "");
    const char *label;

    *len = 0;
    if (db) {
        *len = strlen(db) - strlen(END) + 1;
        if (access(db, F_OK) == 0)
            *len = 0;
        return db;
    }
    if (n == 0 || label_of(entries[0]->d_name, &label) == 0)
        return NULL;
    *len = (size_t)(label - entries[0]->d_name);
    for (int i = 1; i < n; i++)
        if (!same_sweep(entries[i]->d_name, entries[0]->d_name, *len))
            *len = 0;
    return mem_strdup(entries[0]->d_name);
}

void dbpath_models_find(struct dbpath_models *out)
{
    struct dirent **entries = NULL;
    int n = scandir(".", &entries, dbpath_is_database, alphasort);
    size_t len;
    char *prefix = prefix_of(entries, n > 0 ? n : 0, &len);

    *out = (struct dbpath_models){ .n = 0 };
    for (int i = 0; i < n; i++) {
        if (len > 0 && same_sweep(entries[i]->d_name, prefix, len))
            add(out, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    free(prefix);
    if (out->n < 2)
        dbpath_models_fini(out);
}

void dbpath_models_given(const char *const *paths, size_t n,
                         struct dbpath_models *out)
{
    *out = (struct dbpath_models){ .n = 0 };
    for (size_t i = 0; i < n; i++)
        add(out, paths[i]);
}

void dbpath_models_fini(struct dbpath_models *models)
{
    for (size_t i = 0; i < models->n; i++) {
        free(models->labels[i]);
        free(models->paths[i]);
    }
    *models = (struct dbpath_models){ .n = 0 };
}
