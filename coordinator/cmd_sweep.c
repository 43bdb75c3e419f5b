/* fa-coord sweep and fa-coord resume: the same, found from either end. */
#include "coordinator/cmd.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "coordinator/arch.h"
#include "coordinator/dbpath.h"
#include "coordinator/history.h"
#include "coordinator/hosts.h"
#include "coordinator/options.h"
#include "coordinator/space.h"
#include "coordinator/spec.h"
#include "coordinator/ssh.h"
#include "coordinator/store.h"
#include "coordinator/sweep.h"

#define LINGER_MAX_S 86400

struct settings {
    const char *hosts, *db, *device, *arch, *ssh, *log;
    bool accept_new_host_keys, dry_run, fresh, quiet;
    double budget_usd, max_hours;
    int64_t linger_s;
};

struct job {
    struct settings set;
    char *sweep; /* path of the sweep file */
    char *db;
    char *was_device, *was_hosts; /* resume: what the database says */
    char was_arch[HISTORY_ARCH_BYTES];
    char *hosts_file; /* absolute, "" for this machine alone */
    struct spec *spec;
    struct hosts hosts;
};

static bool has_nvidia(void)
{
    return access("/dev/nvidiactl", F_OK) == 0 ||
           access("/proc/driver/nvidia/version", F_OK) == 0;
}

/* The emulator is chosen by itself only when nothing else was asked for and
 * nothing else is here, and then the first line says so (DESIGN section 7). */
static int choose_device(struct settings *set, struct err *err)
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
    if (strcmp(set->device, "cuda") != 0 && strcmp(set->device, "cpu") != 0)
        return err_set(err, ERR_INPUT,
                       "--device=%s: there are 'cuda' and 'cpu'", set->device);
    return 0;
}

static int check_settings(struct settings *set, struct err *err)
{
    const struct arch_facts *facts;
    int rc = choose_device(set, err);

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

static int load_hosts(struct job *job, struct err *err)
{
    int rc;

    if (!job->set.hosts || !*job->set.hosts) {
        job->hosts_file = mem_strdup("");
        hosts_local(&job->hosts);
        return 0;
    }
    job->hosts_file = absolute(job->set.hosts);
    rc = hosts_load(job->set.hosts, &job->hosts, err);
    return rc < 0 ? rc : hosts_can_sweep(job->set.hosts, &job->hosts, err);
}

/* 1 when something passes the gates on these facts, 0 and why when not. */
static int passes_on(const struct job *job, const struct arch_facts *facts,
                     struct err *err)
{
    struct space_gate_count *counts =
        mem_new(job->spec->n_gates, sizeof(*counts));
    struct space_point point;
    struct space *space = NULL;
    int64_t passed;
    int rc = space_open(job->spec, facts, job->set.device, &space, err);

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
static int check_space(const struct job *job, struct err *err)
{
    static const char *const archs[] = { "sm_89", "sm_80",  "sm_86",
                                         "sm_90", "sm_100", "sm_120" };
    struct err other;
    int rc = passes_on(job, arch_find(job->set.arch), err);

    if (rc != 0 || strcmp(job->set.device, "cpu") == 0)
        return rc < 0 ? rc : rc == 1 ? 0 : ERR_INPUT;
    for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++) {
        rc = passes_on(job, arch_find(archs[i]), &other);
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
    return ERR_INPUT;
}

static int print_plan(const struct job *job, struct err *err)
{
    const struct arch_facts *facts = arch_find(job->set.arch);
    struct space_gate_count *counts =
        mem_new(job->spec->n_gates, sizeof(*counts));
    struct space *space = NULL;
    int64_t passed = 0;
    size_t shapes;
    int rc = space_open(job->spec, facts, job->set.device, &space, err);

    if (rc == 0)
        rc = space_count(space, counts, &passed, err);
    if (rc == 0) {
        space_shapes(space, &shapes);
        printf("%lld configurations, %lld pass the gates for %s\n",
               (long long)space_size(space), (long long)passed, job->set.arch);
        printf("%lld measurements (%zu shape%s each), device %s\n",
               (long long)passed * (long long)shapes, shapes,
               shapes == 1 ? "" : "s", job->set.device);
        for (size_t i = 0; i < job->hosts.n; i++) {
            const struct host *host = &job->hosts.list[i];

            if (host->has_rate)
                printf("host %s, $%.4g an hour\n", host->name, host->rate);
            else
                printf("host %s, unpriced\n", host->name);
        }
        printf("database %s\n", job->db);
    }
    space_close(space);
    free(counts);
    return rc;
}

static int run(struct job *job)
{
    const struct settings *set = &job->set;
    struct sweep_options options = {
        .device = set->device,
        .arch = set->arch,
        .command = set->fresh ? "sweep --fresh" : "sweep",
        .hosts_file = job->hosts_file,
        .remote = { .openssh = strcmp(set->ssh, "openssh") == 0,
                    .accept_new_host_keys = set->accept_new_host_keys,
                    .home = getenv("HOME"),
                    .agent = getenv("SSH_AUTH_SOCK") },
        .max_hours = set->max_hours,
        .budget_usd = set->budget_usd,
        .linger_s = (int)set->linger_s,
        .attempts = SWEEP_ATTEMPTS,
        .quiet = set->quiet,
    };
    struct store *store = NULL;
    struct err err;
    int code;

    if (ssh_setup(&err) < 0)
        return cmd_fail(ERR_SYSTEM, &err);
    if (store_open(job->db, STORE_CREATE, &store, &err) < 0) {
        ssh_cleanup();
        return cmd_fail(ERR_STORE, &err);
    }
    err.text[0] = '\0';
    code = sweep_run(job->spec, &job->hosts, store, &options, &err);
    store_close(store);
    ssh_cleanup();
    if (code != 0 && err.text[0])
        fprintf(stderr, "fa-coord: %s\n", err.text);
    if (code == 0)
        fprintf(stderr, "done; the results: fa-coord report %s\n", job->db);
    else if (code == 6)
        fprintf(stderr,
                "nothing is lost; to go on, with --budget or --max-hours for "
                "a new cap: fa-coord resume %s\n",
                job->db);
    else if (code == 5 || code >= 128)
        fprintf(stderr, "nothing is lost; to go on: fa-coord resume %s\n",
                job->db);
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
static int settle_caps(struct job *job, struct err *err)
{
    bool asked = job->set.budget_usd > 0;
    size_t priced = 0;

    if (!asked)
        job->set.budget_usd = job->spec->budget_usd;
    if (job->set.max_hours == 0)
        job->set.max_hours = job->spec->budget_hours;
    for (size_t i = 0; i < job->hosts.n; i++)
        priced += job->hosts.list[i].has_rate;
    if (job->set.budget_usd <= 0 || priced == job->hosts.n)
        return 0;
    if (asked && priced == 0)
        return err_set(err, ERR_INPUT,
                       "--budget=%g: no host has a price; give them "
                       "rate=USD-PER-HOUR in the hosts file, or use "
                       "--max-hours",
                       job->set.budget_usd);
    if (!job->set.quiet && priced > 0)
        fprintf(stderr,
                "the budget of $%g counts the %zu of %zu hosts that have a "
                "rate=\n",
                job->set.budget_usd, priced, job->hosts.n);
    return 0;
}

static int prepare(struct job *job, struct err *err)
{
    int rc = check_settings(&job->set, err);

    if (rc == 0)
        rc = spec_load(job->sweep, &job->spec, err);
    if (rc == 0)
        rc = load_hosts(job, err);
    if (rc < 0)
        return rc;
    assert(job->spec);
    if (!job->db)
        job->db = job->set.db ? mem_strdup(job->set.db)
                              : mem_printf("%s/%s.db", job->spec->folder,
                                           job->spec->name);
    rc = settle_caps(job, err);
    if (rc < 0)
        return rc;
    if (strcmp(job->spec->strategy, "exhaustive") != 0)
        return err_set(err, ERR_INPUT,
                       "strategy '%s' is not there; there is 'exhaustive'",
                       job->spec->strategy);
    return check_space(job, err);
}

static int go(struct job *job)
{
    struct err err;
    FILE *log = NULL;
    int rc = prepare(job, &err), code;

    if (rc == 0 && job->set.log && !(log = fopen(job->set.log, "ae")))
        rc = err_set(&err, ERR_INPUT, "--log=%s: %s", job->set.log,
                     strerror(errno));
    if (log && rc == 0)
        log_setup(log, LOG_I);
    if (rc == 0 && job->set.dry_run) {
        rc = print_plan(job, &err);
        code = rc < 0 ? cmd_fail(rc, &err) : 0;
    } else {
        if (rc == 0 && job->set.fresh)
            rc = set_aside(job->db, &err);
        code = rc < 0 ? cmd_fail(rc, &err) : run(job);
    }
    if (log) {
        log_setup(NULL, LOG_E);
        fclose(log);
    }
    hosts_fini(&job->hosts);
    spec_free(job->spec);
    free(job->sweep);
    free(job->db);
    free(job->hosts_file);
    free(job->was_device);
    free(job->was_hosts);
    return code;
}

#define SETTINGS                                                           \
    {                                                                      \
        .ssh = "libssh2", .arch = ARCH_DEFAULT, .linger_s = SWEEP_LINGER_S \
    }

int cmd_sweep(int argc, char *argv[])
{
    struct job job = { .set = SETTINGS };
    struct settings *set = &job.set;
    const char *plain = NULL;
    const struct option list[] = {
        { "hosts", OPTION_TEXT, &set->hosts, "FILE",
          "the machines to use; without it, this one", NULL },
        { "db", OPTION_TEXT, &set->db, "FILE",
          "the database; NAME.db beside the sweep file", NULL },
        { "device", OPTION_TEXT, &set->device, "cuda|cpu",
          "GPUs, or their emulation", NULL },
        { "arch", OPTION_TEXT, &set->arch, "sm_89|...",
          "what the cpu device takes its gates from", NULL },
        { "ssh", OPTION_TEXT, &set->ssh, "libssh2|openssh",
          "how to reach the hosts", NULL },
        { "accept-new-host-keys", OPTION_FLAG, &set->accept_new_host_keys, NULL,
          "add unknown host keys to known_hosts", NULL },
        { "budget", OPTION_REAL, &set->budget_usd, "USD",
          "stop when the sweep has cost this much", NULL },
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
    job.sweep = mem_strdup(plain ? plain : "sweep.json");
    return go(&job);
}

/* What the database says of its sweep: file, hosts, device. */
static int recall(struct job *job, struct err *err)
{
    struct store_sweep row = { .key = NULL };
    struct history *history = NULL;
    struct store *store;
    int64_t id;
    int rc = store_open(job->db, STORE_READ, &store, err);

    if (rc < 0)
        return rc;
    rc = history_open(store, &history, err);
    if (rc == 0) {
        rc = history_sweep(history, &row, &id, err);
        if (rc == 0)
            rc = err_set(err, ERR_INPUT,
                         "%s holds no sweep yet; start one with fa-coord "
                         "sweep",
                         job->db);
    }
    if (rc == 1) {
        job->sweep = mem_printf("%s/%s", row.folder, row.file);
        job->was_device = mem_strdup(row.device);
        job->was_hosts = mem_strdup(row.hosts_file);
        if (!job->set.device)
            job->set.device = job->was_device;
        if (!job->set.hosts)
            job->set.hosts = job->was_hosts;
        rc = history_arch(history, &row, job->was_arch, err);
        if (arch_find(job->was_arch))
            job->set.arch = job->was_arch;
    }
    history_close(history);
    store_close(store);
    return rc;
}

int cmd_resume(int argc, char *argv[])
{
    struct job job = { .set = SETTINGS };
    struct settings *set = &job.set;
    const char *plain = NULL;
    const struct option list[] = {
        { "hosts", OPTION_TEXT, &set->hosts, "FILE",
          "other machines than before", NULL },
        { "ssh", OPTION_TEXT, &set->ssh, "libssh2|openssh",
          "how to reach the hosts", NULL },
        { "accept-new-host-keys", OPTION_FLAG, &set->accept_new_host_keys, NULL,
          "add unknown host keys to known_hosts", NULL },
        { "budget", OPTION_REAL, &set->budget_usd, "USD",
          "stop when the sweep has cost this much", NULL },
        { "max-hours", OPTION_REAL, &set->max_hours, "H",
          "stop this run after so many hours", NULL },
        { "log", OPTION_TEXT, &set->log, "FILE", "append events to a file",
          NULL },
        { "quiet", OPTION_FLAG, &set->quiet, NULL, "no progress", NULL },
    };
    const struct options options = {
        .command = "resume",
        .arguments = "[DB]",
        .what = "go on with what a database holds",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .arguments_max = 1,
        .plain = &plain,
    };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = dbpath_find(plain, &job.db, &err);
    if (rc == 0)
        rc = recall(&job, &err);
    if (rc < 0) {
        free(job.db);
        return cmd_fail(rc, &err);
    }
    return go(&job);
}
