/* fa-coord sweep. */
#include "coordinator/cli/cmd.h"
#include "coordinator/replay/replay.h"
#include "coordinator/tasks/fail.h"
#include "coordinator/tasks/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/confirm_pipeline.h"
#include "coordinator/tasks/options.h"
#include "coordinator/text/exit_code.h"

static void print_confirmation(const struct run *run)
{
    const struct spec_confirm *confirm = &run->spec->confirm;

    if (confirm->off)
        printf("no confirmation\n");
    else if (device_kind_is(run->set.device, DEVICE_KIND_CPU))
        printf("then a short confirmation, to exercise the procedure\n");
    else
        printf("then a confirmation: %lld blocks of %lld samples, the baseline "
               "and at most %lld finalists\n",
               (long long)confirm->blocks, (long long)confirm->samples,
               (long long)confirm->finalists_max);
}

static int print_plan(const struct run *run, struct err *err)
{
    const struct gpu_arch_facts *facts = gpu_arch_find(run->set.arch);
    struct space_gate_count *counts =
        mem_new(run->spec->space.n_gates, sizeof(*counts));
    struct space *space = NULL;
    int64_t passed = 0;
    size_t shapes;
    int rc = space_open(run->spec, facts, run->set.device,
                        replay_points(run->spec->replay), &space, err);

    if (rc == 0)
        rc = space_count(space, counts, &passed, err);
    if (rc == 0) {
        space_shapes(space, &shapes);
        printf("%lld configurations, %lld pass the gates for %s\n",
               (long long)space_size(space), (long long)passed, run->set.arch);
        printf("%lld measurements (%zu shape%s each), device %s\n",
               (long long)passed * (long long)shapes, shapes,
               shapes == 1 ? "" : "s", run->set.device);
        rc = run_print_search(run, space, passed, err);
        for (size_t i = 0; i < run->hosts.n; i++) {
            const struct host *host = &run->hosts.list[i];

            if (host->has_rate)
                printf("host %s, $%.4g an hour\n", host->name, host->rate);
            else
                printf("host %s, unpriced\n", host->name);
        }
        print_confirmation(run);
        printf("database %s\n", run->db);
    }
    space_close(space);
    free(counts);
    return rc;
}

static int sweep(struct run *run)
{
    const struct sweep_options options = {
        .command = run->set.fresh ? "sweep --fresh" : "sweep",
        .search_settings = &run->search_settings,
    };
    struct err err;
    int code;

    run->more_follows = !run->spec->confirm.off;
    code = run_engine(run, &options, &err);
    run->more_follows = false;
    if (code == EXIT_DONE && !run->spec->confirm.off)
        code = confirm_pipeline_confirm(run, false);
    if (code == EXIT_DONE)
        fprintf(stderr, "done; for the results run: fa-coord report %s\n",
                run->db);
    run_say_how_to_go_on(run, code, "resume");
    return code;
}

static void remove_old(const char *db)
{
    static const char *const ends[] = { "", "-wal", "-shm" };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char *path = mem_printf("%s%s", db, ends[i]);

        unlink(path);
        free(path);
    }
}

/* --fresh renames the old database, so that results that cost money are never
 * lost. */
static int set_aside(const char *db, struct err *err)
{
    struct store *store;
    char *to;
    int rc;

    if (access(db, F_OK) < 0)
        return 0;
    rc = store_open(db, STORE_WRITE, &store, err); /* nobody else has it open */
    if (rc < 0)
        return rc;
    store_close(store);
    to = mem_printf("%s.%lld", db, (long long)time(NULL));
    if (rename(db, to) < 0)
        rc = err_set(err, ERR_SYSTEM, "%s: cannot be renamed to %s: %s", db, to,
                     strerror(errno));
    else
        fprintf(stderr, "the old results were moved to %s\n", to);
    if (rc == 0)
        remove_old(db);
    free(to);
    return rc;
}

int run_sweep(struct run *run, void *arg)
{
    struct err err;
    int rc = 0;

    (void)arg;
    if (run->set.dry_run)
        rc = print_plan(run, &err);
    else if (run->set.fresh)
        rc = set_aside(run->db, &err);
    if (rc < 0)
        return fail_with(rc, &err);
    return run->set.dry_run ? 0 : sweep(run);
}

int cmd_sweep(int argc, char *argv[])
{
    struct run run = { .set = RUN_SETTINGS };
    const struct run_settings *set = &run.set;
    const char *plain = NULL;
    const struct options options = {
        .command = "sweep",
        .arguments = "[SWEEP]",
        .what = "Start a sweep, or continue one that stopped.",
        .arguments_max = 1,
        .plain = &plain,
    };
    struct err err;
    int rc =
        run_settings_parse(&run.set, RUN_SWEEP, &options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc < 0)
        return fail_with(rc, &err);
    if (plain || !set->device || strncmp(set->device, "replay", 6) != 0)
        run.sweep = mem_strdup(plain ? plain : "sweep.json");
    return run_command(&run, run_sweep, NULL);
}
