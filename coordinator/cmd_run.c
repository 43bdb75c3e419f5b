/* What all commands share that put hosts to work. */
#include "coordinator/cmd_run.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "coordinator/arch.h"
#include "coordinator/cmd.h"
#include "coordinator/history.h"
#include "coordinator/hosts.h"
#include "coordinator/options.h"
#include "coordinator/replay.h"
#include "coordinator/space.h"
#include "coordinator/spec.h"
#include "coordinator/ssh.h"
#include "coordinator/store.h"
#include "coordinator/sweep.h"
#include "coordinator/terms.h"

static bool has_nvidia(void)
{
    return access("/dev/nvidiactl", F_OK) == 0 ||
           access("/proc/driver/nvidia/version", F_OK) == 0;
}

/* The emulator is chosen by itself only when nothing else was asked for and
 * nothing else is here, and then the first line says so. */
static void choose_device(struct run_settings *set)
{
    bool chosen = !set->device;

    if (chosen)
        set->device = set->hosts || has_nvidia() ? "cuda" : "cpu";
    if (strcmp(set->device, "cpu") != 0 || set->quiet)
        return;
    fputs(chosen ? "no NVIDIA device on this machine and no --hosts: the "
                   "kernels are emulated (cpu device); times are not GPU "
                   "times\n"
                 : "cpu device: the kernels are emulated; times are not GPU "
                   "times\n",
          stderr);
}

static char *absolute(const char *path)
{
    char resolved[PATH_MAX];

    return mem_strdup(realpath(path, resolved) ? resolved : path);
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
    return rc < 0 ? rc : hosts_can_sweep(run->set.hosts, &run->hosts, err);
}

/* 1 when something passes the gates on these facts, 0 and why when not. */
static int passes_on(const struct run *run, const struct arch_facts *facts,
                     struct err *err)
{
    struct space_gate_count *counts =
        mem_new(run->spec->n_gates, sizeof(*counts));
    struct space_point point;
    struct space *space = NULL;
    int64_t passed;
    int rc = space_open(run->spec, facts, run->set.device, &space, err);

    if (rc == 0)
        rc = space_next(space, &point, err);
    if (rc == 0) {
        rc = space_count(space, counts, &passed, err);
        if (rc == 0)
            (void)space_empty_err(space, counts, err); /* the text is wanted */
    }
    space_close(space);
    free(counts);
    return rc;
}

/* Before anything is spent: does anything pass the gates?  Where no GPU has
 * said what it is, on any architecture that is known. */
static int check_space(const struct run *run, struct err *err)
{
    static const char *const archs[] = { "sm_89", "sm_80",  "sm_86",
                                         "sm_90", "sm_100", "sm_120" };
    struct err other;
    int rc = passes_on(run, arch_find(run->set.arch), err);

    if (rc != 0 || strcmp(run->set.device, "cpu") == 0)
        return rc < 0 ? rc : rc == 1 ? 0 : ERR_INPUT;
    for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
        rc = passes_on(run, arch_find(archs[i]), &other);
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
    return ERR_INPUT;
}

/* A budget that nothing can reach must not look like one. */
static int settle_caps(struct run *run, struct err *err)
{
    bool asked = run->set.budget_usd > 0;
    size_t priced = 0;

    if (!asked)
        run->set.budget_usd = run->spec->budget_usd;
    if (run->set.max_hours == 0)
        run->set.max_hours = run->spec->budget_hours;
    for (size_t i = 0; i < run->hosts.n; i++)
        priced += run->hosts.list[i].has_rate;
    if (run->set.budget_usd <= 0 || priced == run->hosts.n)
        return 0;
    if (asked && priced == 0)
        return err_set(err, ERR_INPUT,
                       "--budget=%g: no host has a price; give them "
                       "rate=USD-PER-HOUR in the hosts file, or use "
                       "--max-hours",
                       run->set.budget_usd);
    if (!run->set.quiet && priced > 0)
        fprintf(stderr,
                "the budget of $%g counts the %zu of %zu hosts that have a "
                "rate=\n",
                run->set.budget_usd, priced, run->hosts.n);
    return 0;
}

static int prepare(struct run *run, struct err *err)
{
    int rc = run_settings_check(&run->set, run->runs_kernels, err);

    if (rc < 0)
        return rc;
    choose_device(&run->set);
    rc = run->set.record ? run_load_record(run, err)
                         : spec_load(run->sweep, &run->spec, err);
    if (rc == 0)
        rc = load_hosts(run, err);
    if (rc < 0)
        return rc;
    assert(run->spec);
    if (!run->db)
        run->db = run->set.db   ? mem_strdup(run->set.db)
                  : run->replay ? mem_printf("%s_replay.db", run->spec->name)
                                : mem_printf("%s/%s.db", run->spec->folder,
                                             run->spec->name);
    rc = settle_caps(run, err);
    if (rc < 0)
        return rc;
    rc = run_terms(run, err);
    return rc < 0 || run->replay ? rc : check_space(run, err);
}

/* A database is of a sweep, or of what was asked for besides it. */
static int check_work(struct store *store, bool asked, struct err *err)
{
    struct store_sweep row = { .key = NULL };
    struct history *history = NULL;
    int64_t id;
    int rc = history_open(store, &history, err);

    if (rc == 0)
        rc = history_sweep(history, &row, &id, err);
    if (rc == 1)
        rc = history_asked(&row) == asked ? 0
             : asked                      ? err_set(err, ERR_INPUT,
                                                    "%s holds a sweep; what fuzz finds is kept in "
                                                                         "a database of its own",
                                                    store_path(store))
                                          : err_set(err, ERR_INPUT,
                                                    "%s is of fa-coord fuzz; a sweep is kept in a "
                                                                         "database of its own",
                                                    store_path(store));
    history_close(history);
    return rc;
}

static int open_store(const struct run *run, bool asked, struct store **out,
                      struct err *err)
{
    int rc = store_open(run->db, STORE_CREATE, out, err);

    if (rc < 0)
        return rc;
    rc = check_work(*out, asked, err);
    if (rc < 0)
        store_close(*out);
    return rc;
}

int run_engine(struct run *run, const struct sweep_options *more,
               struct err *err)
{
    const struct run_settings *set = &run->set;
    struct sweep_options options = *more;
    struct store *store = NULL;
    int code, rc;

    options.hours_before =
        (double)(clock_boot_ns() - run->began_ns) / (3600.0 * (double)NS_PER_S);
    options.device = set->device;
    options.arch = set->arch;
    options.hosts_file = run->hosts_file;
    options.remote = (struct remote_options){
        .openssh = strcmp(set->ssh, "openssh") == 0,
        .accept_new_host_keys = set->accept_new_host_keys,
        .home = getenv("HOME"),
        .agent = getenv("SSH_AUTH_SOCK"),
    };
    options.max_hours = set->max_hours;
    options.budget_usd = set->budget_usd;
    options.linger_s = (int)set->linger_s;
    options.attempts = SWEEP_ATTEMPTS;
    options.quiet = set->quiet;
    if (ssh_setup(err) < 0)
        return cmd_fail(ERR_SYSTEM, err);
    rc = open_store(run, more->ask && !more->contest && !more->profile, &store,
                    err);
    if (rc < 0) {
        ssh_cleanup();
        return cmd_fail(rc, err);
    }
    err->text[0] = '\0';
    code = sweep_run(run->spec, &run->hosts, store, &options, err);
    store_close(store);
    ssh_cleanup();
    if (code != 0 && err->text[0])
        fprintf(stderr, "fa-coord: %s\n", err->text);
    return code;
}

static void run_free(struct run *run)
{
    spec_free(run->spec);
    replay_close(run->replay);
    free(run->was_record);
    free(run->was_cards);
    free(run->sweep);
    free(run->db);
    free(run->hosts_file);
    free(run->was_device);
    free(run->was_hosts);
    free(run->was_strategy);
}

int run_command(struct run *run, run_work *work, void *arg)
{
    struct err err;
    FILE *log = NULL;
    int rc = prepare(run, &err), code;

    run->began_ns = clock_boot_ns();
    if (rc == 0 && run->set.log && !(log = fopen(run->set.log, "ae")))
        rc = err_set(&err, ERR_INPUT, "--log=%s: %s", run->set.log,
                     strerror(errno));
    if (log && rc == 0)
        log_setup(log, LOG_I);
    code = rc < 0 ? cmd_fail(rc, &err) : work(run, arg);
    if (log) {
        log_setup(NULL, LOG_E);
        fclose(log);
    }
    hosts_fini(&run->hosts);
    run_free(run);
    return code;
}

/* ---- from a database ---- */

/* What the settings say already stays. */
static int recall_sweep(struct run *run, struct history *history,
                        const struct store_sweep *row, struct err *err)
{
    run->sweep = mem_printf("%s/%s", row->folder, row->file);
    run->was_device = mem_strdup(row->device);
    run->was_hosts = mem_strdup(row->hosts_file);
    run_recall_record(run, row->settings);
    if (history_asked(row))
        return err_set(err, ERR_INPUT,
                       "%s is of fa-coord fuzz: give that command again to "
                       "go on",
                       run->db);
    if (!run->set.device)
        run->set.device = run->was_device;
    if (!run->set.hosts)
        run->set.hosts = run->was_hosts;
    if (terms_recall(row->settings, &run->terms, &run->was_strategy, err) < 0)
        return ERR_STORE;
    run->was_searched = true;
    if (history_arch(history, row, run->was_arch, err) < 0)
        return ERR_STORE;
    if (arch_find(run->was_arch))
        run->set.arch = run->was_arch;
    return 0;
}

static int recall(struct run *run, struct err *err)
{
    struct store_sweep row = { .key = NULL };
    struct history *history = NULL;
    struct store *store;
    int64_t id;
    int rc = store_open(run->db, STORE_READ, &store, err);

    if (rc < 0)
        return rc;
    rc = history_open(store, &history, err);
    if (rc == 0)
        rc = history_sweep(history, &row, &id, err);
    if (rc == 1)
        rc = recall_sweep(run, history, &row, err);
    else if (rc == 0)
        rc = err_set(err, ERR_INPUT,
                     "%s holds no sweep yet; start one with fa-coord sweep",
                     run->db);
    history_close(history);
    store_close(store);
    return rc;
}

int run_by_db(struct run *run, int rc, struct err *err, run_work *work,
              void *arg)
{
    if (rc == 0)
        rc = recall(run, err);
    if (rc == 0)
        return run_command(run, work, arg);
    run_free(run);
    return rc == OPTIONS_HELP ? 0 : cmd_fail(rc, err);
}

/* One that ended before any host was up has nothing that could be resumed. */
static bool holds_sweep(const struct run *run)
{
    struct store_sweep row = { .key = NULL };
    struct history *history = NULL;
    struct store *store = NULL;
    struct err err;
    int64_t id;
    int rc = store_open(run->db, STORE_READ, &store, &err);

    if (rc == 0)
        rc = history_open(store, &history, &err);
    if (rc == 0)
        rc = history_sweep(history, &row, &id, &err);
    history_close(history);
    store_close(store);
    return rc == 1;
}

void run_say_how_to_go_on(const struct run *run, int code, const char *command)
{
    if (code != 5 && code != 6 && code < 128)
        return;
    if (!holds_sweep(run))
        fprintf(stderr,
                "nothing was measured yet; to go on, the same command "
                "again%s\n",
                code == 6 ? " with a higher cap" : "");
    else if (code == 6)
        fprintf(stderr,
                "nothing is lost; to go on, with --budget or --max-hours for "
                "a new cap: fa-coord %s %s\n",
                command, run->db);
    else
        fprintf(stderr, "nothing is lost; to go on: fa-coord %s %s\n", command,
                run->db);
}
