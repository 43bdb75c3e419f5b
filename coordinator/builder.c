#include "coordinator/builder.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/history.h"
#include "coordinator/hosts.h"
#include "coordinator/spec.h"
#include "coordinator/store.h"
#include "coordinator/sweep.h"

/* The newest sweep of a database is the one that reports are about: builds
 * for another architecture must not take its place. */
static int check_arch(struct store *store, const char *arch, struct err *err)
{
    struct history *history;
    struct store_sweep was;
    int64_t id;
    int rc = history_open(store, &history, err);

    if (rc < 0)
        return rc;
    rc = history_sweep(history, &was, &id, err);
    if (rc == 1 && strcmp(was.arch, arch) != 0)
        rc = err_set(err, ERR_INPUT,
                     "%s holds a sweep for %s; name another file with --db",
                     store_path(store), was.arch);
    history_close(history);
    return rc < 0 ? rc : 0;
}

static int run(struct spec *spec, struct store *store,
               const struct builder_options *options, struct err *err)
{
    struct sweep_options sweep = {
        .device = "cuda",
        .builds_only = true,
        .cover = options->cover,
        .arch = options->arch,
        .command = "space --build",
        .hosts_file = "",
        .remote = { .home = getenv("HOME") },
        .linger_s = SWEEP_LINGER_S,
        .attempts = SWEEP_ATTEMPTS,
    };
    struct hosts hosts;
    int code;

    hosts_local(&hosts);
    hosts.list[0].role = HOST_BUILDER;
    hosts.list[0].slots = options->jobs;
    err->text[0] = '\0';
    code = sweep_run(spec, &hosts, store, &sweep, err);
    hosts_fini(&hosts);
    if (code >= 128)
        err_set(err, ERR_SYSTEM,
                "stopped; what is built is kept: the same command goes on");
    return code;
}

int builder_run(struct spec *spec, const struct builder_options *options,
                struct err *err)
{
    struct store *store;
    int rc = store_open(options->db, STORE_CREATE, &store, err), code = 7;

    if (rc < 0)
        return code;
    rc = check_arch(store, options->arch, err);
    if (rc == 0)
        code = run(spec, store, options, err);
    else if (rc == ERR_INPUT)
        code = 2;
    store_close(store);
    return code;
}
