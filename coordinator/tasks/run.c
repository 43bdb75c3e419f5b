/* Shared by all commands that use hosts. */
#include "coordinator/options/fail.h"
#include "coordinator/tasks/run.h"
#include "coordinator/tasks/run_believed.h"
#include "coordinator/tasks/run_budget.h"
#include "coordinator/tasks/run_rental.h"
#include "coordinator/tasks/run_store.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/device_kind.h"
#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/owner.h"
#include "coordinator/cache/artifact_cache.h"
#include "coordinator/hosts/host_models.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/live/patient_stdio.h"
#include "coordinator/live/said.h"
#include "coordinator/passes/passes.h"
#include "coordinator/reactor/sweep.h"
#include "coordinator/remote/ssh.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/replay/replay.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/dblock.h"
#include "coordinator/store/store.h"
#include "coordinator/link/dialling.h"
#include "coordinator/told/metrics.h"
#include "coordinator/told/on_event.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/record_file.h"
#include "coordinator/text/exit_code.h"

static bool has_nvidia(void)
{
    return access("/dev/nvidiactl", F_OK) == 0 ||
           access("/proc/driver/nvidia/version", F_OK) == 0;
}

/* The emulator is chosen by default only if nothing else was asked for and no
 * GPU is here.  Returns whether it was. */
static bool choose_device(struct run_settings *set)
{
    if (set->device)
        return false;
    set->device = set->hosts || has_nvidia()
                      ? device_kind_name(DEVICE_KIND_CUDA)
                      : device_kind_name(DEVICE_KIND_CPU);
    return device_kind_is(set->device, DEVICE_KIND_CPU);
}

/* The first line of output, if the times are not those of a GPU. */
static void say_emulated(const struct run_settings *set, bool chosen)
{
    if (!device_kind_is(set->device, DEVICE_KIND_CPU) || set->quiet)
        return;
    fputs(
        chosen
            ? "this machine has no NVIDIA GPU and --hosts is not given: the "
              "kernels are emulated (cpu device); the times are not GPU times\n"
            : "cpu device: the kernels are emulated; the times are not GPU "
              "times\n",
        stderr);
}

/* Also of FILE#MODEL. */
static char *absolute(const char *path)
{
    const char *model = host_models_of_path(path);
    char resolved[PATH_MAX];
    char *file = model ? mem_dup(path, (size_t)(model - 1 - path)) : NULL;
    const char *known = realpath(file ? file : path, resolved);
    char *full = known && model ? mem_printf("%s#%s", known, model)
                                : mem_strdup(known ? known : path);

    free(file);
    return full;
}

/* Times of one model say nothing about another. */
static int refuse_models(const char *file, const struct hosts *hosts,
                         struct err *err)
{
    struct host_models models;
    int rc;

    if (host_models_of_path(file))
        return 0;
    rc = host_models_list(file, hosts, &models, err);
    if (rc < 0 || models.n < 2)
        return rc;
    return err_set(err, ERR_INPUT,
                   "%s: the hosts have %zu models of GPU, and this database is "
                   "of one; write --hosts %s#%s for those with model=%s",
                   file, models.n, file, models.names[0], models.names[0]);
}

static int load_hosts(struct run *run, struct err *err)
{
    int rc;

    if (!run->set.hosts || !*run->set.hosts) {
        run->hosts_file = mem_strdup("");
        hosts_local(&run->hosts);
        return 0;
    }
    run->hosts_file = absolute(run->set.hosts);
    rc = hosts_load(run->set.hosts, &run->hosts, err);
    if (rc == 0)
        rc = refuse_models(run->set.hosts, &run->hosts, err);
    return rc < 0 ? rc : hosts_can_sweep(run->set.hosts, &run->hosts, err);
}

/* 1 if something passes the gates with these facts; 0 and the reason if not. */
static int passes_on(const struct run *run, const struct gpu_arch_facts *facts,
                     struct err *err)
{
    struct space_gate_count *counts =
        mem_new(run->spec->space.n_gates, sizeof(*counts));
    struct space_point point;
    struct space *space = NULL;
    int64_t passed;
    int rc = space_open(run->spec, facts, run->set.device,
                        replay_points(run->spec->replay), &space, err);

    if (rc == 0)
        rc = space_next(space, &point, err);
    if (rc == 0) {
        rc = space_count(space, counts, &passed, err);
        if (rc == 0)
            (void)space_empty_err(space, counts, err); /* for its text */
    }
    space_close(space);
    free(counts);
    return rc;
}

/* Before spending anything: does a point pass the gates?  If no GPU is known,
 * try every known architecture. */
static int check_space(const struct run *run, struct err *err)
{
    static const char *const archs[] = { "sm_89",  "sm_80",  "sm_86", "sm_90",
                                         "sm_100", "sm_120", "sm_75", "sm_70" };
    struct err other;
    int rc = passes_on(run, gpu_arch_find(run->set.arch), err);

    if (rc != 0 || device_kind_is(run->set.device, DEVICE_KIND_CPU))
        return rc < 0 ? rc : rc == 1 ? 0 : ERR_INPUT;
    for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
        rc = passes_on(run, gpu_arch_find(archs[i]), &other);
        if (rc != 0)
            return err_only(rc);
    }
    return ERR_INPUT;
}

/* A budget that cannot take effect must be reported. */
static int settle_caps(struct run *run, struct err *err)
{
    bool asked = run->set.budget_usd > 0;
    size_t priced = 0;

    if (!asked)
        run->set.budget_usd = run->spec->budget.usd;
    if (run->set.max_hours == 0)
        run->set.max_hours = run->spec->budget.hours;
    for (size_t i = 0; i < run->hosts.n; i++)
        priced += run->hosts.list[i].has_rate;
    if (run->set.budget_usd <= 0 || priced == run->hosts.n)
        return 0;
    if (asked && priced == 0)
        return err_set(
            err, ERR_INPUT,
            "--budget=%g: no host has a price; set rate=USD-PER-HOUR in the "
            "hosts file, or use --max-hours",
            run->set.budget_usd);
    if (!run->set.quiet && priced > 0)
        fprintf(stderr,
                "the budget of $%g covers only the %zu of %zu hosts that have "
                "a rate=\n",
                run->set.budget_usd, priced, run->hosts.n);
    return 0;
}

char *run_database(const struct run *run)
{
    const char *hosts = run->set.hosts ? run->set.hosts : "";
    const char *model = host_models_of_path(hosts);
    const char *dot = model ? "." : "";

    model = model ? model : "";
    if (run->set.db)
        return mem_strdup(run->set.db);
    if (run->set.record)
        return mem_printf("%s_replay%s%s.db", run->spec->name, dot, model);
    return mem_printf("%s/%s%s%s.db", run->spec->file.folder, run->spec->name,
                      dot, model);
}

/* A record's names are those that a sweep file of it would have. */
static int load_warm(struct run *run, struct err *err)
{
    int rc = err_within(err, record_file_load(run->set.warm, &run->warm, err),
                        "--warm");

    if (rc == 0)
        landscape_fit_names(run->warm);
    run->search_settings.warm = run->warm;
    return rc;
}

static int prepare(struct run *run, struct err *err)
{
    int rc = run_settings_check(&run->set, run->runs_kernels, err);
    bool chosen;

    if (rc < 0)
        return rc;
    chosen = choose_device(&run->set);
    rc = run->set.record ? run_load_record(run, err)
                         : spec_load(run->sweep, &run->spec, err);
    if (rc == 0)
        rc = load_hosts(run, err);
    if (rc < 0)
        return rc;
    say_emulated(&run->set, chosen);
    assert(run->spec);
    if (!run->db)
        run->db = run_database(run);
    rc = run_store_check_place(run, err);
    if (rc == 0)
        rc = settle_caps(run, err);
    if (rc == 0)
        rc = run_rental_check_keys(&run->hosts, getenv("HOME"), err);
    if (rc < 0)
        return rc;
    rc = run_terms(run, err);
    if (rc == 0 && run->set.warm)
        rc = load_warm(run, err);
    return rc < 0 || run->replay ? rc : check_space(run, err);
}

/* What the settings of the command say of a run.  ERR_INPUT */
static int take_settings(const struct run *run, struct sweep_options *options,
                         struct err *err)
{
    const struct run_settings *set = &run->set;

    options->caps.hours_before =
        (double)(clock_boot_ns() - run->began_ns) / (3600.0 * (double)NS_PER_S);
    options->passes = sweep_passes;
    options->device = set->device;
    options->arch = set->arch;
    options->hosts_file = run->hosts_file;
    options->remote = (struct remote_options){
        .accept_new_host_keys = set->accept_new_host_keys,
        .home = getenv("HOME"),
        .agent = getenv("SSH_AUTH_SOCK"),
    };
    if (remote_ssh_read(set->reach.ssh, &options->remote.ssh, err) < 0)
        return ERR_INPUT;
    if (!options->dial.db)
        options->dial.db = run->db;
    if (listen_read(set->reach.listen, &options->dial.listen, err) < 0)
        return ERR_INPUT;
    options->caps.max_hours = set->max_hours;
    options->caps.budget_usd = set->budget_usd;
    options->caps.more_usd = run_budget_more;
    options->stay = (struct sweep_stay){
        .linger_s = (int)set->linger_s,
        .command = run->command,
        .more_follows = run->more_follows,
    };
    options->attempts = SWEEP_ATTEMPTS;
    options->watch = (struct sweep_watch){
        .quiet = set->quiet,
        .said = run->said,
        .notify = run->on_event ? on_event_tell : NULL,
        .arg = run->on_event,
    };
    return 0;
}

/* Without one, artifacts are built again when their host is gone. */
static struct artifact_cache *open_cache(void)
{
    struct artifact_cache *cache = NULL;
    char *folder = artifact_cache_folder();
    struct err err;

    if (folder &&
        artifact_cache_open(folder, ARTIFACT_CACHE_BYTES, &cache, &err) < 0)
        log_line(LOG_W, "ARTIFACTS-NOT-KEPT", "why=%s", err.text);
    free(folder);
    return cache;
}

/* A search on rented GPUs builds before one of them is there. */
static void believe(const struct run *run, struct sweep_options *options,
                    bool *refuted)
{
    struct sweep_rental *rental = &options->stay.rental;

    if (!rental->machines || options->ask || options->confirmation ||
        options->tool || options->builds_only ||
        !device_kind_is(options->device, DEVICE_KIND_CUDA))
        return;
    rental->refuted = refuted;
    rental->believed = run_believed(&run->hosts, run->set.rented.arch);
}

int run_engine(struct run *run, const struct sweep_options *more,
               struct err *err)
{
    struct sweep_options options = *more;
    struct store *store = NULL;
    bool refuted = false;
    int code, rc;

    if (take_settings(run, &options, err) < 0)
        return fail_with(ERR_INPUT, err);
    if (ssh_setup(err) < 0)
        return fail_with(ERR_SYSTEM, err);
    rc = run_store_open(run, more->ask && !more->confirmation && !more->tool,
                        &store, err);
    if (rc < 0) {
        ssh_cleanup();
        return fail_with(rc, err);
    }
    rc = run_rental_open(run, store, &options.stay.rental, err);
    if (rc < 0) {
        store_close(store);
        ssh_cleanup();
        return fail_with(rc, err);
    }
    err->text[0] = '\0';
    believe(run, &options, &refuted);
    options.cache = open_cache();
    code = sweep_run(run->spec, &run->hosts, store, &options, err);
    artifact_cache_close(options.cache);
    run_rental_close(run);
    store_close(store);
    ssh_cleanup();
    if (code != EXIT_DONE && err->text[0])
        fprintf(stderr, "fa-coord: %s\n", err->text);
    return code;
}

static void run_free(struct run *run)
{
    spec_free(run->spec);
    replay_close(run->replay);
    free(run->was.record);
    free(run->was.cards);
    free(run->sweep);
    free(run->leaves_out);
    if (run->warm)
        landscape_free(run->warm);
    free(run->db);
    free(run->hosts_file);
    free(run->was.device);
    free(run->was.hosts);
    free(run->was.strategy);
    free(run->begun.forecast);
}

static void end_dialling(struct run *run, bool done)
{
    bool all = dialling_cancel(run->db);

    run_slurm_reconcile(run, true);
    dialling_end(run->db, &run->hosts, done && all);
}

/* The database is this command's until its end, also while another one is open:
 * that of the proof. */
static int begin_work(struct run *run, struct err *err)
{
    int rc = dblock_keep(run->db, err);

    if (rc < 0)
        return rc;
    dialling_begin(run->db, &run->hosts);
    run_slurm_reconcile(run, false);
    return 0;
}

int run_command(struct run *run, run_work *work, void *arg)
{
    struct err err;
    FILE *log = NULL;
    struct metrics metrics = { .alive = -1 };
    bool begun = false;
    int rc = prepare(run, &err), code, ended;

    run_budget_open();
    run->began_ns = clock_boot_ns();
    owner_draw(run->command);
    run->said = said_new();
    if (rc == 0 && run->set.told.log && !(log = fopen(run->set.told.log, "ae")))
        rc = err_set(&err, ERR_INPUT, "--log=%s: %s", run->set.told.log,
                     strerror(errno));
    if (log && rc == 0)
        log_setup(log, LOG_I);
    if (rc == 0 && run->set.told.metrics)
        rc = metrics_start(run->db, run->set.told.metrics, &metrics, &err);
    if (rc == 0 && run->set.told.on_event)
        rc = on_event_start(run->set.told.on_event, run->db, run->spec->name,
                            &run->on_event, &err);
    if (rc == 0 && !run->set.dry_run) {
        rc = begin_work(run, &err);
        begun = rc == 0;
    }
    if (rc == 0)
        run_rental_new(run);
    patient_stdio_begin();
    code = rc < 0 ? fail_with(rc, &err) : work(run, arg);
    ended = code;
    code = run_rental_end(run, code);
    patient_stdio_end();
    if (begun)
        end_dialling(run, code == EXIT_DONE);
    if (run->next.say)
        run->next.say(run, ended);
    dblock_drop();
    metrics_stop(&metrics); /* what it writes at last: nobody is at work */
    on_event_stop(run->on_event, code);
    said_free(run->said);
    if (log) {
        log_setup(NULL, LOG_E);
        fclose(log);
    }
    hosts_fini(&run->hosts);
    if (rc < 0 && !run->set.dry_run)
        run_rental_remind(run->db);
    run_free(run);
    return code;
}

/* ---- from a database ---- */

int run_by_db(struct run *run, int rc, struct err *err, run_work *work,
              void *arg)
{
    if (rc == 0)
        rc = run_recall(run, err);
    if (rc == 0)
        return run_command(run, work, arg);
    if (rc != OPTIONS_HELP) {
        rc = fail_with(rc, err);
        run_rental_remind(run->db);
    }
    run_free(run);
    return rc == OPTIONS_HELP ? 0 : rc;
}
