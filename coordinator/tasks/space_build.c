#include "coordinator/tasks/space_build.h"

#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/passes/passes.h"
#include "coordinator/reactor/sweep.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/store.h"
#include "coordinator/store/whole.h"
#include "coordinator/stored/past_runs.h"
#include "coordinator/text/exit_code.h"

/* Reports use the newest sweep of a database, so builds for another
 * architecture must not replace it. */
static int check_arch(struct store *store, const char *arch, struct err *err)
{
    struct past_runs *past;
    struct store_sweep was;
    int rc = past_runs_open(store, &past, err);

    if (rc < 0)
        return rc;
    rc = past_runs_sweep(past, &was, err);
    if (rc == 1 && strcmp(was.arch, arch) != 0)
        rc = err_set(err, ERR_INPUT,
                     "%s holds a sweep for %s; name another database with --db",
                     store_path(store), was.arch);
    past_runs_close(past);
    return err_only(rc);
}

static int run(struct spec *spec, struct store *store,
               const struct space_build_options *options, struct err *err)
{
    struct sweep_options sweep = {
        .device = device_kind_name(DEVICE_KIND_CUDA),
        .builds_only = true,
        .cover = options->cover,
        .arch = options->arch,
        .command = "space --build",
        .passes = sweep_passes,
        .hosts_file = "",
        .remote = { .home = getenv("HOME") },
        .stay = { .linger_s = SWEEP_LINGER_S },
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
    if (exit_code_is_signal(code))
        err_set(err, ERR_SYSTEM,
                "stopped; finished builds are kept; run the same command again "
                "to continue");
    return code;
}

int space_build_run(struct spec *spec,
                    const struct space_build_options *options, struct err *err)
{
    struct store *store;
    int rc = store_open(options->db, STORE_CREATE, &store, err), code;

    if (rc < 0)
        return exit_code_of(rc);
    rc = err_within(err, whole_check(store_db(store), err), "%s", options->db);
    if (rc == 0)
        rc = check_arch(store, options->arch, err);
    code = rc < 0 ? exit_code_of(rc) : run(spec, store, options, err);
    store_close(store);
    return code;
}
