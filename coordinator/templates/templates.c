#include "coordinator/templates/templates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/embed.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/templates/template_files.h"
#include "coordinator/text/outfile.h"
#include "coordinator/text/suggest.h"

#define FILES_MAX 8 /* of a template */

static const struct template templates[] = {
    { "reduction", "sums of rows: shuffles and shared memory" },
    { "stencil", "a grid of cells and their neighbours, in tiles" },
    { "matmul", "a matrix product on tensor cores" },
};

enum {
    N_TEMPLATES = sizeof(templates) / sizeof(templates[0])
};

const struct template *templates_at(size_t i)
{
    return i < N_TEMPLATES ? &templates[i] : NULL;
}

static int check_name(const char *name, struct err *err)
{
    const char *names[N_TEMPLATES], *near;

    for (size_t i = 0; i < N_TEMPLATES; i++) {
        names[i] = templates[i].name;
        if (strcmp(name, names[i]) == 0)
            return 0;
    }
    near = suggest_name(name, strlen(name), names, N_TEMPLATES);
    return err_set(err, ERR_INPUT,
                   "there is no template '%.64s'%s%s%s; --list names them",
                   name, near ? "; did you mean '" : "", near ? near : "",
                   near ? "'?" : "");
}

static int check_absent(const char *path, struct err *err)
{
    struct stat status;

    return lstat(path, &status) == 0
               ? err_set(err, ERR_INPUT,
                         "'%s' exists already; nothing is overwritten", path)
               : 0;
}

int templates_write_files(const struct template_file *files, size_t n,
                          const char *folder, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        char *path = mem_printf("%s/%s", folder, files[i].name);

        rc = check_absent(path, err);
        free(path);
    }
    if (rc == 0)
        rc = outfile_folder(folder, err);
    if (rc == 0 && mkdir(folder, 0777) < 0 && errno != EEXIST)
        rc = err_set(err, ERR_SYSTEM, "'%s': %s", folder, strerror(errno));
    for (size_t i = 0; i < n && rc == 0; i++) {
        char *path = mem_printf("%s/%s", folder, files[i].name);

        rc = outfile_save(path, files[i].text, strlen(files[i].text), false,
                          err);
        free(path);
    }
    return rc;
}

int templates_write(const char *name, const char *folder, struct err *err)
{
    struct template_file files[FILES_MAX];
    size_t n = 0, len = strlen(name);
    int rc = check_name(name, err);

    if (rc < 0)
        return rc;
    for (const struct embed *file = template_files; file->name; file++)
        if (strncmp(file->name, name, len) == 0 && file->name[len] == '/' &&
            n < FILES_MAX)
            files[n++] = (struct template_file){ file->name + len + 1,
                                                 (const char *)file->bytes };
    return templates_write_files(files, n, folder, err);
}
