#include "coordinator/model_sweeps/model_sweeps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/gpu_models/gpu_models.h"
#include "coordinator/hosts/host_models.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/replay/replay.h"
#include "coordinator/spec/spec.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/schedule/bill.h"
#include "coordinator/store/dbfile.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_held.h"
#include "coordinator/stored/past_runs.h"
#include "coordinator/stored/stored_work.h"
#include "coordinator/options/fail.h"
#include "coordinator/model_sweeps/model_alike.h"
#include "coordinator/model_sweeps/model_runs.h"
#include "coordinator/tasks/run.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/json_out.h"

struct group {
    struct dbpath_models dbs;     /* of the models, in the order of the file */
    char *hosts[HOST_MODELS_MAX]; /* FILE#MODEL; NULL: those of before */
    struct model_budget budgets[HOST_MODELS_MAX];
    struct model_alike gpus[HOST_MODELS_MAX];
    double budget_usd; /* of all; 0: none */
};

static void group_fini(struct group *group)
{
    for (size_t i = 0; i < HOST_MODELS_MAX; i++)
        free(group->hosts[i]);
    dbpath_models_fini(&group->dbs);
}

/* ---- what each of them has */

/* One more model, with the hosts that it has in this file. */
static int take_hosts(struct group *group, size_t i, const char *file,
                      const char *model, struct err *err)
{
    struct hosts hosts;
    int rc;

    free(group->hosts[i]);
    group->hosts[i] = mem_printf("%s#%s", file, model);
    rc = hosts_load(group->hosts[i], &hosts, err);
    if (rc < 0)
        return rc;
    rc = hosts_can_sweep(group->hosts[i], &hosts, err);
    group->budgets[i].usd_per_hour = 0;
    for (size_t h = 0; h < hosts.n; h++)
        group->budgets[i].usd_per_hour += hosts.list[h].rate;
    hosts_fini(&hosts);
    return rc;
}

/* What the sweep file says: the name of the database, and the budget. */
static int take_spec(struct group *group, size_t i, const char *model,
                     struct run *run, struct err *err)
{
    int rc = run_settings_check(&run->set, false, err);

    if (rc == 0)
        rc = run->set.record ? run_load_record(run, err)
                             : spec_load(run->sweep, &run->spec, err);
    if (rc < 0)
        return rc;
    group->dbs.labels[i] = mem_strdup(model);
    group->dbs.paths[i] = run_database(run);
    group->dbs.n = i + 1;
    if (group->budget_usd == 0)
        group->budget_usd = run->spec->budget.usd;
    return 0;
}

static int take_file(struct group *group, size_t i, const struct run *of,
                     const char *model, struct err *err)
{
    const struct run_settings *set = &of->set;
    char *device = set->device ? model_args_expand(set->device, model) : NULL;
    char *arch =
        set->rented.arch ? model_args_expand(set->rented.arch, model) : NULL;
    char *db = set->db ? model_args_file(set->db, model) : NULL;
    struct run run = { .set = *set,
                       .sweep = of->sweep ? mem_strdup(of->sweep) : NULL };
    int rc;

    run.set.device = device;
    run.set.rented.arch = arch;
    run.set.db = db;
    run.set.hosts = group->hosts[i];
    run.set.quiet = true; /* its own sweep says it */
    rc = take_spec(group, i, model, &run, err);
    spec_free(run.spec);
    replay_close(run.replay);
    free(run.sweep);
    free(device);
    free(arch);
    free(db);
    return rc;
}

static int take_models(const struct run *run, const struct host_models *models,
                       struct group *group, struct err *err)
{
    int rc = 0;

    if (run->set.reach.listen && strchr(run->set.reach.listen, ':'))
        return err_set(err, ERR_INPUT,
                       "--listen=%s: each model's sweep listens for itself; "
                       "leave out the port",
                       run->set.reach.listen);
    group->budget_usd = run->set.budget_usd;
    for (size_t i = 0; rc == 0 && i < models->n; i++) {
        rc = take_hosts(group, i, run->set.hosts, models->names[i], err);
        if (rc == 0)
            rc = take_file(group, i, run, models->names[i], err);
    }
    return rc;
}

/* ---- running them */

static void add_usd(void *arg, const struct store_held *held)
{
    struct bill *bills = arg;
    bool is_proof = strcmp(held->phase, "proof") == 0;

    bill_add(&bills[is_proof], held->end_ns - held->start_ns,
             held->rate_usd_per_h);
}

/* Of other work, and of proofs. */
static void add_bills(const char *db, struct bill bills[2])
{
    struct store *store = NULL;
    struct err err;

    if (!dbfile_is_new(db) && store_open(db, STORE_READ, &store, &err) == 0)
        (void)stored_work_held(store, add_usd, bills, &err);
    store_close(store);
}

/* What a sweep has cost.  That of its proofs may not have been copied yet. */
static double spent_usd(const char *db)
{
    struct bill bills[2] = { { 0 } }, proofs[2] = { { 0 } };
    char *fuzz = run_fuzz_path(db);

    add_bills(db, bills);
    add_bills(fuzz, proofs);
    free(fuzz);
    return bills[0].priced_usd +
           fmax(bills[1].priced_usd, proofs[1].priced_usd);
}

static void say_shares(const struct group *group)
{
    for (size_t i = 0; group->budget_usd > 0 && i < group->dbs.n; i++)
        if (group->budgets[i].is_limited)
            fprintf(stderr, "%s: $%.4g of the budget of $%.4g\n",
                    group->dbs.labels[i], group->budgets[i].usd,
                    group->budget_usd);
        else
            fprintf(stderr,
                    "%s: none of its hosts has a price, so the budget of $%.4g "
                    "does not limit it\n",
                    group->dbs.labels[i], group->budget_usd);
}

static struct model_run *make_runs(struct group *group,
                                   const struct run_settings *set,
                                   enum run_kind kind, const char *sweep)
{
    struct model_run *runs = mem_new(group->dbs.n, sizeof(*runs));

    for (size_t i = 0; i < group->dbs.n; i++)
        group->budgets[i].spent_usd = group->budget_usd > 0 && !set->fresh
                                          ? spent_usd(group->dbs.paths[i])
                                          : 0;
    model_budget_share(group->budget_usd, group->budgets, group->dbs.n);
    if (!set->quiet)
        say_shares(group);
    for (size_t i = 0; i < group->dbs.n; i++) {
        const struct model_own own = { group->dbs.labels[i], group->hosts[i],
                                       group->dbs.paths[i] };

        model_runs_init(&runs[i], own.label, own.db);
        model_args_add(&runs[i].args, "%s",
                       kind == RUN_RESUME ? "resume" : "sweep");
        model_args_flags(&runs[i].args, set, kind, &own);
        if (sweep)
            model_args_add(&runs[i].args, "%s", sweep);
    }
    return runs;
}

/* True when all are known. */
static bool warn_of_alike(void *arg)
{
    struct group *group = arg;
    bool all = true;

    for (size_t i = 0; i < group->dbs.n; i++) {
        struct model_alike *one = &group->gpus[i];
        char text[700];

        if (one->is_known)
            continue;
        model_alike_load(group->dbs.paths[i], one);
        all = all && one->is_known;
        for (size_t k = 0; k < group->dbs.n; k++)
            if (k != i &&
                model_alike_warn(group->dbs.labels[k], &group->gpus[k],
                                 group->dbs.labels[i], one, text, sizeof(text)))
                fprintf(stderr, "%s\n", text);
    }
    return all;
}

static int put_report(const struct dbpath_models *dbs, struct json_out *out,
                      struct err *err)
{
    struct gpu_models models;
    int rc =
        gpu_models_load((const char *const *)dbs->labels,
                        (const char *const *)dbs->paths, dbs->n, &models, err);

    if (out)
        gpu_models_json(&models, out);
    else
        gpu_models_print(&models, stdout);
    gpu_models_fini(&models);
    return rc;
}

int model_sweeps_report(const struct dbpath_models *databases, bool json,
                        struct err *err)
{
    struct json_out out;
    int rc;

    if (!json)
        return put_report(databases, NULL, err);
    json_out_init(&out, stdout);
    json_out_open(&out, NULL, '{');
    rc = put_report(databases, &out, err);
    json_out_close(&out);
    return rc;
}

/* The exit code says how the sweeps ended, not what can be read of them. */
static void print_all(const struct model_run *runs,
                      const struct dbpath_models *dbs, bool json, bool found)
{
    struct json_out out;
    struct err unread;

    if (!json) {
        model_runs_print(runs, dbs->n);
        if (found)
            (void)put_report(dbs, NULL, &unread);
        return;
    }
    json_out_init(&out, stdout);
    json_out_open(&out, NULL, '{');
    if (found)
        (void)put_report(dbs, &out, &unread);
    model_runs_json(runs, dbs->n, &out);
    json_out_close(&out);
}

static void say_what_next(const struct dbpath_models *dbs, const char *command,
                          int code)
{
    if (exit_code_is_resumable(code)) {
        fprintf(stderr,
                "nothing is lost; to continue the sweeps of all "
                "models, run the same command again%s%s\n",
                code == EXIT_CAP ? ", with a higher --budget or --max-hours"
                                 : "",
                strcmp(command, "sweep") == 0 ? ", without --fresh" : "");
        return;
    }
    if (code != EXIT_DONE)
        return;
    fprintf(stderr, "done; for the results of all models run: fa-coord report");
    for (size_t i = 0; i < dbs->n; i++)
        fprintf(stderr, " %s", dbs->paths[i]);
    fputc('\n', stderr);
}

static int run_group(struct group *group, const struct run_settings *set,
                     enum run_kind kind, const char *sweep)
{
    struct model_run *runs = make_runs(group, set, kind, sweep);
    const struct model_runs_budget budget = { group->budget_usd, group->budgets,
                                              spent_usd };
    bool looks = !set->dry_run && !set->quiet;
    int code = model_runs_all(runs, group->dbs.n, &budget,
                              looks ? warn_of_alike : NULL, group);

    print_all(runs, &group->dbs, set->json, !set->dry_run);
    if (!set->dry_run)
        say_what_next(&group->dbs, kind == RUN_RESUME ? "resume" : "sweep",
                      code);
    model_runs_fini(runs, group->dbs.n);
    return code;
}

bool model_sweeps(const struct run *run, int *code)
{
    const char *file = run->set.hosts ? run->set.hosts : "";
    struct group group = { .budget_usd = 0 };
    struct host_models models;
    struct hosts hosts;
    struct err err;
    int rc;

    /* What is wrong with the file is said by the command that uses it. */
    if (!*file || host_models_of_path(file) ||
        hosts_load(file, &hosts, &err) < 0)
        return false;
    rc = host_models_list(file, &hosts, &models, &err);
    if (rc == 0 && models.n < 2) {
        hosts_fini(&hosts);
        return false;
    }
    if (rc == 0)
        rc = take_models(run, &models, &group, &err);
    hosts_fini(&hosts);
    *code = rc < 0 ? fail_with(rc, &err)
                   : run_group(&group, &run->set, RUN_SWEEP, run->sweep);
    group_fini(&group);
    return true;
}

/* ---- from the databases */

/* The hosts file of before, and the budget of the sweep file of before. */
static int recall(const char *db, const char *model, struct group *group,
                  size_t i, struct err *err)
{
    struct store_request was = { 0 };
    struct past_runs *past = NULL;
    struct spec *spec = NULL;
    struct store *store;
    char *file;
    int rc = store_open(db, STORE_WHOLE, &store, err);

    if (rc < 0)
        return rc;
    rc = past_runs_open(store, &past, err);
    if (rc == 0)
        rc = past_runs_request(past, &was, err);
    if (rc == 1 && !group->hosts[i] && was.hosts_file && was.hosts_file[0]) {
        const char *hash = strrchr(was.hosts_file, '#');

        file = mem_dup(was.hosts_file, hash ? (size_t)(hash - was.hosts_file)
                                            : strlen(was.hosts_file));
        rc = take_hosts(group, i, file, model, err);
        free(file);
    }
    file = rc < 0 || !was.folder ? NULL
                                 : mem_printf("%s/%s", was.folder, was.file);
    if (file && group->budget_usd == 0 && spec_load(file, &spec, NULL) == 0)
        group->budget_usd = spec->budget.usd;
    free(file);
    spec_free(spec);
    past_runs_close(past);
    store_close(store);
    return rc < 0 ? rc : 0;
}

int model_sweeps_resume(const struct run_settings *set,
                        const struct dbpath_models *databases)
{
    struct group group = { .budget_usd = set->budget_usd };
    struct err err;
    int rc = 0, code;

    for (size_t i = 0; rc == 0 && i < databases->n; i++) {
        group.dbs.labels[i] = mem_strdup(databases->labels[i]);
        group.dbs.paths[i] = mem_strdup(databases->paths[i]);
        group.dbs.n = i + 1;
        if (set->hosts)
            rc = take_hosts(&group, i, set->hosts, databases->labels[i], &err);
        if (rc == 0)
            rc = recall(databases->paths[i], databases->labels[i], &group, i,
                        &err);
    }
    code =
        rc < 0 ? fail_with(rc, &err) : run_group(&group, set, RUN_RESUME, NULL);
    group_fini(&group);
    return code;
}

int model_sweeps_each(char *const argv[], bool json,
                      const struct dbpath_models *databases)
{
    struct model_run *runs = mem_new(databases->n, sizeof(*runs));
    int code;

    for (size_t i = 0; i < databases->n; i++) {
        model_runs_init(&runs[i], databases->labels[i], databases->paths[i]);
        for (size_t a = 0; a < MODEL_ARGS_MAX - 1 && argv[a]; a++)
            model_args_add(&runs[i].args, "%s", argv[a]);
        model_args_add(&runs[i].args, "%s", databases->paths[i]);
    }
    code = model_runs_all(runs, databases->n, NULL, NULL, NULL);
    print_all(runs, databases, json, false);
    model_runs_fini(runs, databases->n);
    return code;
}
