#include "coordinator/hosts/host_models.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"

#define NONE HOST_MODELS_MAX

static size_t find(const struct host_models *models, const char *name)
{
    for (size_t i = 0; i < models->n; i++)
        if (strcmp(models->names[i], name) == 0)
            return i;
    return NONE;
}

static int add(const char *file, const struct host *host,
               struct host_models *models, struct err *err)
{
    if (!host->model[0] || find(models, host->model) != NONE)
        return 0;
    if (models->n == HOST_MODELS_MAX)
        return err_set(err, ERR_INPUT,
                       "%s:%d: model=%s is one more than the %d models that "
                       "one file may have; split the file",
                       file, host->line, host->model, HOST_MODELS_MAX);
    models->names[models->n++] = host->model;
    return 0;
}

int host_models_list(const char *file, const struct hosts *hosts,
                     struct host_models *out, struct err *err)
{
    int rc = 0;

    *out = (struct host_models){ .n = 0 };
    for (size_t i = 0; rc == 0 && i < hosts->n; i++)
        rc = add(file, &hosts->list[i], out, err);
    for (size_t i = 0; rc == 0 && out->n > 0 && i < hosts->n; i++)
        if (!hosts->list[i].model[0] && host_measures(&hosts->list[i]))
            rc = err_set(err, ERR_INPUT,
                         "%s:%d: host '%s' measures and has no model=, but "
                         "others have one; write the model of its GPUs, such "
                         "as model=%s",
                         file, hosts->list[i].line, hosts->list[i].name,
                         out->names[0]);
    return rc;
}

/* The model of each host, into 'of'. */
static void deal(const struct hosts *hosts, const struct host_models *models,
                 size_t *of)
{
    bool builds[HOST_MODELS_MAX] = { false };
    size_t turn = 0;

    assert(models->n > 0);
    for (size_t i = 0; i < hosts->n; i++) {
        of[i] = find(models, hosts->list[i].model);
        if (of[i] != NONE && hosts->list[i].role != HOST_GPU)
            builds[of[i]] = true;
    }
    for (size_t i = 0; i < hosts->n; i++) {
        size_t needy = 0;

        if (of[i] != NONE)
            continue;
        while (needy < models->n && builds[needy])
            needy++;
        of[i] = needy < models->n ? needy : turn++ % models->n;
        builds[of[i]] = true;
    }
}

static int no_such(const char *file, const struct host_models *models,
                   const char *model, struct err *err)
{
    char names[HOST_MODELS_MAX * (HOST_MODEL_BYTES + 2)] = "";
    size_t len = 0;

    if (models->n == 0)
        return err_set(
            err, ERR_INPUT,
            "%s: no host has model=%s, because none has model=", file, model);
    for (size_t i = 0; i < models->n; i++) {
        size_t n = strlen(models->names[i]);

        memcpy(names + len, i ? ", " : "", i ? 2 : 0);
        len += i ? 2 : 0;
        memcpy(names + len, models->names[i], n + 1);
        len += n;
    }
    return err_set(err, ERR_INPUT, "%s: no host has model=%s; the file has %s",
                   file, model, names);
}

int host_models_take(const char *file, struct hosts *hosts, const char *model,
                     struct err *err)
{
    struct host_models models;
    size_t *of, which, kept = 0;
    int rc = host_models_list(file, hosts, &models, err);

    if (rc < 0)
        return rc;
    which = find(&models, model);
    if (which == NONE)
        return no_such(file, &models, model, err);
    of = mem_new(hosts->n, sizeof(*of));
    deal(hosts, &models, of);
    for (size_t i = 0; i < hosts->n; i++)
        if (of[i] == which)
            hosts->list[kept++] = hosts->list[i];
    hosts->n = kept;
    free(of);
    return 0;
}

const char *host_models_of_path(const char *path)
{
    const char *hash = strrchr(path, '#');

    return hash && hash > path && hash[1] && access(path, F_OK) < 0 ? hash + 1
                                                                    : NULL;
}
