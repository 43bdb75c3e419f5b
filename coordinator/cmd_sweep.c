/* fa-coord sweep, and what all commands that put hosts to work share. */
#include "coordinator/cmd.h"
#include "coordinator/cmd_run.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "coordinator/arch.h"
#include "coordinator/history.h"
#include "coordinator/hosts.h"
#include "coordinator/options.h"
#include "coordinator/passes.h"
#include "coordinator/replay.h"
#include "coordinator/space.h"
#include "coordinator/spec.h"
#include "coordinator/ssh.h"
#include "coordinator/store.h"
#include "coordinator/sweep.h"

#define LINGER_MAX_S 86400

static bool has_nvidia(void)
{
    return access("/dev/nvidiactl", F_OK) == 0 ||
           access("/proc/driver/nvidia/version", F_OK) == 0;
}

/* The emulator is chosen by itself only when nothing else was asked for and
 * nothing else is here, and then the first line says so (DESIGN section 7). */
static int choose_device(struct run_settings *set, struct err *err)
{
    if (!set->device) {
        set->device = set->hosts || has_nvidia() ? "cuda" : "cpu";
        if (strcmp(set->device, "cpu") == 0 && !set->quiet)
            fprintf(stderr, "no NVIDIA device on this machine and no --hosts: "
                            "the kernels are emulated (cpu device); times are "
                            "not GPU times\n");
    } else if (strcmp(set->device, "cpu") == 0 && !set->quiet) {
        fprintf(stderr, "cpu device: the kernels are emulated; times are not "
                        "GPU times\n");
    }
    if (strcmp(set->device, "cuda") != 0 && strcmp(set->device, "cpu") != 0 &&
        strcmp(set->device, "replay") != 0)
        return err_set(err, ERR_INPUT,
                       "--device=%s: there are 'cuda', 'cpu' and "
                       "'replay=FILE'",
                       set->device);
    return 0;
}

static int check_settings(struct run *run, struct err *err)
{
    struct run_settings *set = &run->set;
    const struct arch_facts *facts;
    int rc = run_choose_record(run, err);

    if (rc == 0)
        rc = choose_device(set, err);
    if (rc < 0)
        return rc;
    if (strcmp(set->ssh, "libssh2") != 0 && strcmp(set->ssh, "openssh") != 0)
        return err_set(err, ERR_INPUT,
                       "--ssh=%s: there are 'libssh2' and 'openssh'", set->ssh);
    if (set->linger_s > LINGER_MAX_S)
        return err_set(err, ERR_INPUT, "--linger: at most %d seconds",
                       LINGER_MAX_S);
    return arch_find_named(set->arch, &facts, err);
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

static void print_confirmation(const struct run *run)
{
    const struct spec_confirm *confirm = &run->spec->confirm;

    if (confirm->off)
        printf("no confirmation\n");
    else if (strcmp(run->set.device, "cpu") == 0)
        printf("then a short confirmation, for its procedure\n");
    else
        printf("then %lld blocks of %lld samples with the baseline and at most "
               "%lld finalists\n",
               (long long)confirm->blocks, (long long)confirm->samples,
               (long long)confirm->finalists_max);
}

static int print_plan(const struct run *run, struct err *err)
{
    const struct arch_facts *facts = arch_find(run->set.arch);
    struct space_gate_count *counts =
        mem_new(run->spec->n_gates, sizeof(*counts));
    struct space *space = NULL;
    int64_t passed = 0;
    size_t shapes;
    int rc = space_open(run->spec, facts, run->set.device, &space, err);

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

static int sweep(struct run *run)
{
    const struct sweep_options options = {
        .command = run->set.fresh ? "sweep --fresh" : "sweep",
        .terms = &run->terms,
    };
    struct err err;
    int code = run_engine(run, &options, &err);

    if (code == 0 && !run->spec->confirm.off)
        code = passes_confirm(run, false);
    if (code == 0)
        fprintf(stderr, "done; the results: fa-coord report %s\n", run->db);
    else if (code == 6)
        fprintf(stderr,
                "nothing is lost; to go on, with --budget or --max-hours for "
                "a new cap: fa-coord resume %s\n",
                run->db);
    else if (code == 5 || code >= 128)
        fprintf(stderr, "nothing is lost; to go on: fa-coord resume %s\n",
                run->db);
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

/* --fresh keeps the old database under another name: nothing paid for is
 * thrown away. */
static int set_aside(const char *db, struct err *err)
{
    struct store *store;
    char *to;
    int rc;

    if (access(db, F_OK) < 0)
        return 0;
    rc = store_open(db, STORE_WRITE, &store, err); /* nobody else has it */
    if (rc < 0)
        return rc;
    store_close(store);
    to = mem_printf("%s.%lld", db, (long long)time(NULL));
    if (rename(db, to) < 0)
        rc = err_set(err, ERR_SYSTEM, "%s: cannot be renamed to %s: %s", db, to,
                     strerror(errno));
    else
        fprintf(stderr, "the old results are in %s\n", to);
    if (rc == 0)
        remove_old(db);
    free(to);
    return rc;
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
    int rc = check_settings(run, err);

    if (rc == 0)
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
        return cmd_fail(rc, &err);
    return run->set.dry_run ? 0 : sweep(run);
}

void run_free(struct run *run)
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

int run_command(struct run *run, int (*work)(struct run *, void *), void *arg)
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

int cmd_sweep(int argc, char *argv[])
{
    struct run run = { .set = RUN_SETTINGS };
    struct run_settings *set = &run.set;
    const char *plain = NULL;
    const struct option list[] = {
        { "hosts", OPTION_TEXT, &set->hosts, "FILE",
          "the machines to use; without it, this one", NULL },
        { "db", OPTION_TEXT, &set->db, "FILE",
          "the database; NAME.db beside the sweep file", NULL },
        { "device", OPTION_TEXT, &set->device, "cuda|cpu|replay=FILE",
          "GPUs, their emulation, or what was recorded", NULL },
        { "speed-up", OPTION_REAL, &set->speed_up, "N",
          "let a replay's builds and measurements pass N times faster", NULL },
        { "cards", OPTION_TEXT, &set->cards, "FILE",
          "how a replay's GPUs differ from the recorded one", NULL },
        { "arch", OPTION_TEXT, &set->arch, "sm_89|...",
          "what the cpu device takes its gates from", NULL },
        { "ssh", OPTION_TEXT, &set->ssh, "libssh2|openssh",
          "how to reach the hosts", NULL },
        { "accept-new-host-keys", OPTION_FLAG, &set->accept_new_host_keys, NULL,
          "add unknown host keys to known_hosts", NULL },
        { "budget", OPTION_REAL, &set->budget_usd, "USD",
          "stop when the sweep has cost this much", NULL },
        { "strategy", OPTION_TEXT, &set->strategy, "TEXT",
          "auto, lhs:20,tpe:100, ...; 'help' lists them", NULL },
        { "evaluations", OPTION_INT, &set->evaluations, "N",
          "try at most so many configurations", NULL },
        { "seed", OPTION_INT, &set->seed, "N", "of the strategy", NULL },
        { "max-hours", OPTION_REAL, &set->max_hours, "H",
          "stop this run after so many hours", NULL },
        { "linger", OPTION_INT, &set->linger_s, "S",
          "seconds a worker stays without a coordinator", NULL },
        { "dry-run", OPTION_FLAG, &set->dry_run, NULL, "say what would be done",
          NULL },
        { "fresh", OPTION_FLAG, &set->fresh, NULL,
          "begin anew; the old database is set aside", "dry-run" },
        { "log", OPTION_TEXT, &set->log, "FILE", "append events to a file",
          NULL },
        { "quiet", OPTION_FLAG, &set->quiet, NULL, "no progress", NULL },
    };
    const struct options options = {
        .command = "sweep",
        .arguments = "[SWEEP]",
        .what = "start a sweep, or go on with one that stopped",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .arguments_max = 1,
        .plain = &plain,
    };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc < 0)
        return cmd_fail(rc, &err);
    if (run_lists_strategies(set))
        return 0;
    if (plain || !set->device || strncmp(set->device, "replay", 6) != 0)
        run.sweep = mem_strdup(plain ? plain : "sweep.json");
    return run_command(&run, run_sweep, NULL);
}
