/* fa-coord sweep. */
#include "coordinator/cli/cmd.h"
#include "coordinator/forecast/forecast.h"
#include "coordinator/replay/replay.h"
#include "coordinator/options/fail.h"
#include "coordinator/model_sweeps/model_sweeps.h"
#include "coordinator/tasks/run.h"
#include "coordinator/tasks/run_rental.h"
#include "coordinator/tasks/run_reserve.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/rental/release.h"
#include "coordinator/rental/rental_plan.h"
#include "coordinator/reserve/reserve.h"
#include "coordinator/model/domain.h"
#include "coordinator/search/effort.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/confirm_pipeline.h"
#include "coordinator/options/options.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/shell_word.h"
#include "coordinator/text/terminal.h"

static void print_confirmation(const struct run *run)
{
    const struct spec_confirm *confirm = &run->spec->confirm;

    if (confirm->off)
        printf("no confirmation\n");
    else if (device_kind_is(run->set.device, DEVICE_KIND_CPU))
        printf("then a short confirmation, to exercise the procedure\n");
    else
        printf("then a confirmation: at most %lld blocks of %lld samples, the "
               "baseline and at most %lld finalists\n",
               (long long)confirm->blocks_max, (long long)confirm->samples,
               (long long)confirm->finalists_max);
}

/* What --dry-run shows. */
struct plan {
    const struct run *run;
    int64_t configurations, passed;
    size_t shapes;
    struct search_settings_plan search;
    struct forecast forecast;
};

static int make_plan(struct plan *plan, struct err *err)
{
    const struct run *run = plan->run;
    struct space_gate_count *counts =
        mem_new(run->spec->space.n_gates, sizeof(*counts));
    struct space *space = NULL;
    int rc =
        space_open(run->spec, gpu_arch_find(run->set.arch), run->set.device,
                   replay_points(run->spec->replay), &space, err);

    if (rc == 0)
        rc = space_count(space, counts, &plan->passed, err);
    if (rc == 0) {
        plan->configurations = space_size(space);
        space_shapes(space, &plan->shapes);
        rc = run_plan_search(run, space, plan->passed, &plan->search, err);
    }
    if (rc == 0)
        rc = forecast_make(run, plan->search.evaluations, plan->shapes,
                           &plan->forecast, err);
    space_close(space);
    free(counts);
    return rc;
}

/* What would stop it. */
static void print_caps(const struct plan *plan)
{
    const struct run_settings *set = &plan->run->set;
    const struct estimate *estimate = &plan->forecast.estimate;

    if (set->budget_usd > 0)
        printf("stops at $%.4g%s\n", set->budget_usd,
               set->budget_usd < estimate->usd.low ? ", before its end" : "");
    if (set->max_hours > 0)
        printf("stops after %.4g h%s\n", set->max_hours,
               set->max_hours * 3600 < estimate->wall_s.low ? ", before its end"
                                                            : "");
}

static void print_plan(const struct plan *plan)
{
    const struct run *run = plan->run;
    const struct search_settings_plan *search = &plan->search;
    const struct stored_pace *pace = &plan->forecast.pace;
    const struct rental_work work = {
        .builds = search->evaluations,
        .measurements = search->evaluations * (int)plan->shapes,
        .build_s = pace->build.mean_s,
        .measurement_s = pace->measure.mean_s,
    };
    char rental[1200];

    printf("%" PRId64 " configurations, %" PRId64 " pass the gates for %s\n",
           plan->configurations, plan->passed, run->set.arch);
    printf("%" PRId64 " measurements (%zu shape%s each), device %s\n",
           (search->drawn ? search->evaluations : plan->passed) *
               (int64_t)plan->shapes,
           plan->shapes, plan->shapes == 1 ? "" : "s", run->set.device);
    printf("search: %s%s%s%s, %d of %" PRId64 " configurations%s, seed %" PRId64
           ", objective %s%s\n",
           search->strategy, search->why[0] ? " (" : "", search->why,
           search->why[0] ? ")" : "", search->evaluations,
           search->drawn ? (int64_t)DOMAIN_DRAWN : plan->passed,
           search->drawn ? " drawn at random" : "", run->search_settings.seed,
           run->search_settings.objective, search->in_flight);
    if (run->leaves_out)
        printf("%s\n", run->leaves_out);
    for (size_t i = 0; i < run->hosts.n; i++) {
        const struct host *host = &run->hosts.list[i];

        if (host->has_rate)
            printf("host %s, $%.4g an hour\n", host->name, host->rate);
        else
            printf("host %s, unpriced\n", host->name);
    }
    run_rental_plan(run, &work, rental, sizeof(rental));
    if (rental[0])
        printf("%s\n", rental);
    print_confirmation(run);
    forecast_print(&plan->forecast, false);
    print_caps(plan);
    printf("database %s\n", run->db);
}

static void put_hosts(struct json_out *out, const struct hosts *hosts)
{
    json_out_open(out, "hosts", '[');
    for (size_t i = 0; i < hosts->n; i++) {
        json_out_open(out, NULL, '{');
        json_out_text(out, "host", hosts->list[i].name);
        if (hosts->list[i].has_rate)
            json_out_real(out, "usd_per_hour", hosts->list[i].rate);
        else
            json_out_null(out, "usd_per_hour");
        json_out_close(out);
    }
    json_out_close(out);
}

static void put_positive(struct json_out *out, const char *key, double number)
{
    if (number > 0)
        json_out_real(out, key, number);
    else
        json_out_null(out, key);
}

static void put_estimate(struct json_out *out, const struct plan *plan)
{
    json_out_open(out, "estimate", '{');
    forecast_put(&plan->forecast, out);
    json_out_close(out);
    put_positive(out, "budget_usd", plan->run->set.budget_usd);
    put_positive(out, "max_hours", plan->run->set.max_hours);
}

static void put_plan(const struct plan *plan)
{
    const struct run *run = plan->run;
    struct json_out out;

    json_out_init(&out, stdout);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "database", run->db);
    json_out_text(&out, "device", run->set.device);
    json_out_text(&out, "arch", run->set.arch);
    json_out_int(&out, "configurations", plan->configurations);
    json_out_int(&out, "passed", plan->passed);
    json_out_int(&out, "shapes", (int64_t)plan->shapes);
    json_out_text(&out, "strategy", plan->search.strategy);
    json_out_int(&out, "evaluations", plan->search.evaluations);
    json_out_text(&out, "effort", effort_name(run->search_settings.effort));
    json_out_int(&out, "seed", run->search_settings.seed);
    json_out_text(&out, "objective", run->search_settings.objective);
    if (run->search_settings.in_flight > 0)
        json_out_int(&out, "in_flight", run->search_settings.in_flight);
    else
        json_out_null(&out, "in_flight");
    json_out_bool(&out, "confirm", !run->spec->confirm.off);
    put_hosts(&out, &run->hosts);
    put_estimate(&out, plan);
    json_out_close(&out);
}

/* Will the caps buy a verdict? */
static int say_reserve(const struct run *run, struct reserve_pass *reserve,
                       struct err *err)
{
    if (run->spec->confirm.off)
        return 0;
    run_reserve_pass(run, reserve);
    return run_reserve_say(run, reserve, err);
}

static int show_plan(const struct run *run, struct err *err)
{
    struct plan plan = { .run = run };
    struct reserve_pass reserve;
    int rc = make_plan(&plan, err);

    if (rc == 0)
        rc = say_reserve(run, &reserve, err);
    if (rc == 0)
        (run->set.json ? put_plan : print_plan)(&plan);
    forecast_fini(&plan.forecast);
    return rc < 0 ? rc : terminal_flush(stdout, err);
}

/* To be set beside the truth later.  What is wrong with the plan is said by the
 * sweep, which knows the GPU: without its facts perhaps nothing passes. */
static void foresee(struct run *run)
{
    struct plan plan = { .run = run };
    struct err none;

    if (make_plan(&plan, &none) == 0 && plan.passed > 0)
        run->begun.forecast = forecast_text(&plan.forecast);
    forecast_fini(&plan.forecast);
}

/* Part of the caps is kept for the confirmation. */
static int search(struct run *run, struct sweep_options *options)
{
    struct reserve_times learnt;
    struct reserve_pass reserve;
    struct err err;
    int code, rc = say_reserve(run, &reserve, &err);

    if (rc == 0)
        rc = run_reserve_learnt(run, &learnt, &err);
    if (rc < 0)
        return fail_with(rc, &err);
    if (!run->spec->confirm.off)
        options->caps.reserve = &reserve;
    options->caps.learnt = &learnt;
    foresee(run);
    run->more_follows = !run->spec->confirm.off;
    code = run_engine(run, options, &err);
    run->more_follows = false;
    options->caps.reserve = NULL; /* they end with this function */
    options->caps.learnt = NULL;
    return code;
}

static void say_done(const char *db)
{
    char *word = shell_word(db);

    fprintf(stderr, "done; for the results run: fa-coord report %s\n", word);
    free(word);
}

/* When all is paid for. */
static void say_next(const struct run *run, int code)
{
    struct plan plan = { .run = run };
    struct err none;

    if (code != EXIT_CAP || make_plan(&plan, &none) < 0 || plan.passed == 0) {
        forecast_fini(&plan.forecast);
        plan.forecast = (struct forecast){ .run = NULL };
    }
    forecast_say_next(&plan.forecast, run, code, run->next.command);
    forecast_fini(&plan.forecast);
}

static int sweep(struct run *run)
{
    bool held_back = false;
    struct sweep_options options = {
        .command = run->set.fresh ? "sweep --fresh" : "sweep",
        .search_settings = &run->search_settings,
        .caps.held_back = &held_back,
    };
    bool early = false;
    int code;

    run_say_effort(run);
    code = search(run, &options);

    if (code == EXIT_DONE && !run->spec->confirm.off)
        code = confirm_pipeline_confirm(run, false, &early);
    else if (code == EXIT_DONE && run->set.json)
        confirm_pipeline_json(run, NULL);
    if (code == EXIT_DONE)
        say_done(run->db);
    if (code == EXIT_DONE && (held_back || early))
        code = EXIT_CAP;
    /* a search that is complete has nothing to resume */
    run->next.command = early && !held_back ? "confirm" : "resume";
    run->next.say = say_next;
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

/* No later command would look for them in the renamed database. */
static int release_old(struct store *store, struct err *err)
{
    int rc = run_rental_release(store, RELEASE_PATIENCE_S, err), n = rc;
    char *db;

    if (rc <= 0)
        return rc;
    db = shell_word(store_path(store));
    rc =
        err_set(err, ERR_INPUT,
                "%s has %d machine%s that still cost%s money, and --fresh "
                "would set it aside; first run: fa-coord release %s",
                store_path(store), n, n == 1 ? "" : "s", n == 1 ? "s" : "", db);
    free(db);
    return rc;
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
    if (rc == 0)
        rc = release_old(store, err);
    store_close(store);
    if (rc < 0)
        return rc;
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
        rc = show_plan(run, &err);
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
    int code;

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc < 0)
        return fail_with(rc, &err);
    if (plain || !set->device || strncmp(set->device, "replay", 6) != 0)
        run.sweep = mem_strdup(plain ? plain : "sweep.json");
    if (model_sweeps(&run, &code)) {
        free(run.sweep);
        return code;
    }
    return run_command(&run, run_sweep, NULL);
}
