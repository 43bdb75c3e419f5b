/* fa-coord check: checks a sweep as far as possible without a GPU or a
 * network */
#include "coordinator/cli/cmd.h"
#include "coordinator/forecast/forecast.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/config/config.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/plan/plan_launch.h"
#include "coordinator/plan/plan_weak.h"
#include "coordinator/replay/replay.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/spec/spec.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/run.h"
#include "coordinator/tasks/run_reserve.h"
#include "coordinator/tasks/trial_build.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/suggest.h"

#define LAUNCHES_MAX 100000 /* evaluated; about a second */

struct check {
    const struct spec *spec;
    struct space *space;
    const char *device, *arch;
    int flaws; /* builds that failed */
    bool no_build;
    bool compiled; /* or 'why_not' */
    struct err why_not;
    struct space_gate_count counts[SPEC_LIST_MAX];
    int64_t passed;
    struct search_settings_plan search;
    struct {
        const char *hosts, *db, *times; /* flags; NULL: not given */
        struct run run;                 /* a sweep over these hosts */
        struct forecast forecast;
    } cost;
};

static int check_shape(struct space *space, const struct value *values,
                       const struct spec_shape *shape, struct err *err)
{
    struct space_argument arguments[SPEC_LIST_MAX];
    struct space_launch launch;

    if (space_launch(space, values, shape, &launch, err) < 0)
        return ERR_INPUT;
    return space_arguments(space, values, shape, arguments, err);
}

static int check_work(struct space *space, const struct value *values,
                      struct err *err)
{
    struct value derived[SPEC_LIST_MAX];
    const struct spec_shape *shapes;
    size_t n;

    shapes = space_shapes(space, &n);
    if (space_derive(space, values, derived, err) < 0)
        return ERR_INPUT;
    for (size_t s = 0; s < n; s++)
        if (check_shape(space, values, &shapes[s], err) < 0)
            return ERR_INPUT;
    return 0;
}

/* The shapes for fuzzing, with the baseline; gates may reject some. */
static int check_fuzz(const struct check *check, struct space *space,
                      const char *device, struct err *err)
{
    const struct spec *spec = check->spec;
    struct space_launch launch;
    size_t n;
    const struct spec_shape *shapes = spec_fuzz_shapes(spec, device, &n);

    for (size_t s = 0; s < n; s++) {
        int gate =
            space_rejected_at(space, spec->baseline.values, &shapes[s], err);

        if (gate == SPACE_ERROR)
            return ERR_INPUT;
        if (gate == SPACE_PASSES &&
            (space_reference_launch(space, &shapes[s], &launch, err) < 0 ||
             check_shape(space, spec->baseline.values, &shapes[s], err) < 0))
            return ERR_INPUT;
    }
    return 0;
}

/* Evaluate the expressions that do not depend on a configuration once for each
 * shape; metrics with the baseline and a time of one second. */
static int check_shapes(const struct check *check, struct space *space,
                        struct err *err)
{
    const struct spec_shape *shapes;
    struct space_launch launch;
    double number;
    size_t n;
    int floor;

    shapes = space_shapes(space, &n);
    for (size_t s = 0; s < n; s++) {
        if (space_reference_launch(space, &shapes[s], &launch, err) < 0 ||
            space_floor(space, &shapes[s], &number, &floor, err) < 0)
            return ERR_INPUT;
        for (size_t m = 0; m < check->spec->figures.n_metrics; m++)
            if (space_metric(space, m, check->spec->baseline.values, &shapes[s],
                             1.0, &number, err) < 0)
                return ERR_INPUT;
    }
    return 0;
}

static int check_baseline(const struct check *check, struct space *space,
                          struct err *err)
{
    const struct spec *spec = check->spec;
    int gate = space_rejected_by(space, spec->baseline.values, err);

    if (gate == SPACE_ERROR)
        return ERR_INPUT;
    if (gate != SPACE_PASSES)
        return spec_err(
            spec, spec->baseline.at, err, spec->space.gates[gate].why,
            "gate '%s' rejects the baseline", spec->space.gates[gate].name);
    return check_work(space, spec->baseline.values, err);
}

static bool same_work(const struct spec *spec, uint64_t axes,
                      const struct value *a, const struct value *b)
{
    for (size_t i = 0; i < spec->space.n_axes; i++)
        if (axes >> i & 1 && !value_equal(&a[i], &b[i]))
            return false;
    return true;
}

/* Points in order of number differ in the last tunables, which the work often
 * does not depend on. */
static int check_points(const struct check *check, struct err *err)
{
    uint64_t axes = space_work_axes(check->space);
    struct value values[SPEC_AXES_MAX], last[SPEC_AXES_MAX];
    struct space_point point;
    int n = 0, rc;

    while ((rc = space_next(check->space, &point, err)) > 0) {
        if (n++ == LAUNCHES_MAX)
            return 0;
        space_values(check->space, point.number, values);
        if (n > 1 && same_work(check->spec, axes, values, last))
            continue;
        memcpy(last, values, check->spec->space.n_axes * sizeof(*last));
        if (check_work(check->space, values, err) < 0)
            return ERR_INPUT;
    }
    return rc;
}

/* The small shapes of the cpu device must satisfy the rules too. */
static int check_emulation(const struct check *check,
                           const struct gpu_arch_facts *facts, struct err *err)
{
    struct space *space;
    int rc = space_open(check->spec, facts, device_kind_name(DEVICE_KIND_CPU),
                        replay_points(check->spec->replay), &space, err);

    if (rc == 0)
        rc = check_shapes(check, space, err);
    if (rc == 0)
        rc = check_baseline(check, space, err);
    if (rc == 0)
        rc = check_fuzz(check, space, device_kind_name(DEVICE_KIND_CPU), err);
    if (rc == 0)
        rc = plan_launch_check(check->spec, space,
                               device_kind_name(DEVICE_KIND_CPU), err);
    space_close(space);
    return rc;
}

/* How it would be searched on this machine. */
static int check_search(struct check *check, struct err *err)
{
    const struct spec *spec = check->spec;
    struct search_settings_scope scope = { .points = check->passed,
                                           .shapes = (int)spec->shapes.n,
                                           .hours = spec->budget.hours };
    struct hosts hosts;

    hosts_local(&hosts);
    search_settings_hosts(&hosts, &scope.slots, &scope.gpus);
    hosts_fini(&hosts);
    return search_settings_plan(spec->search, &scope, &check->search, err);
}

static int check_all(struct check *check, const struct gpu_arch_facts *facts,
                     struct err *err)
{
    int rc = space_open(check->spec, facts, device_kind_name(DEVICE_KIND_CUDA),
                        replay_points(check->spec->replay), &check->space, err);

    if (rc == 0)
        rc = space_count(check->space, check->counts, &check->passed, err);
    if (rc == 0 && check->passed == 0)
        rc = space_empty_err(check->space, check->counts, err);
    if (rc == 0)
        rc = check_shapes(check, check->space, err);
    if (rc == 0)
        rc = check_baseline(check, check->space, err);
    if (rc == 0)
        rc = check_fuzz(check, check->space, device_kind_name(DEVICE_KIND_CUDA),
                        err);
    if (rc == 0)
        rc = plan_launch_check(check->spec, check->space,
                               device_kind_name(DEVICE_KIND_CUDA), err);
    if (rc == 0)
        rc = check_points(check, err);
    if (rc == 0)
        rc = check_search(check, err);
    return rc == 0 ? check_emulation(check, facts, err) : rc;
}

/* What a sweep over the hosts that were named would take. */
static int check_cost(struct check *check, struct spec *spec, struct err *err)
{
    struct run *run = &check->cost.run;
    struct reserve_pass reserve;
    size_t shapes;
    int rc;

    if (!check->cost.hosts)
        return 0;
    *run = (struct run){ .set = RUN_SETTINGS,
                         .spec = spec,
                         .search_settings = *spec->search,
                         .began_ns = clock_boot_ns() };
    run->set.device = check->device;
    run->set.arch = check->arch;
    run->set.times = check->cost.times;
    run->set.max_hours = spec->budget.hours;
    run->set.budget_usd = spec->budget.usd;
    run->db = check->cost.db
                  ? mem_strdup(check->cost.db)
                  : mem_printf("%s/%s.db", spec->file.folder, spec->name);
    rc = hosts_load(check->cost.hosts, &run->hosts, err);
    if (rc == 0)
        rc = hosts_can_sweep(check->cost.hosts, &run->hosts, err);
    if (rc == 0)
        rc = run_plan_search(run, check->space, check->passed, &check->search,
                             err);
    space_shapes(check->space, &shapes);
    if (rc == 0)
        rc = forecast_make(run, check->search.evaluations, shapes,
                           &check->cost.forecast, err);
    if (rc == 0 && !spec->confirm.off) {
        run_reserve_pass(run, &reserve);
        rc = run_reserve_say(run, &reserve, err);
    }
    return rc;
}

static void end_cost(struct check *check)
{
    forecast_fini(&check->cost.forecast);
    hosts_fini(&check->cost.run.hosts);
    free(check->cost.run.db);
}

static bool is_idle(const struct check *check, size_t gate)
{
    return check->counts[gate].rejected_alone == 0 &&
           !check->spec->space.gates[gate].warns;
}

/* The fills whose values differ from trial to trial. */
static bool is_drawn(const struct spec_argument *argument)
{
    static const char *const fills[] = { "normal", "uniform", "ramp",
                                         "range",  "sorted",  "permutation" };

    for (size_t i = 0; argument->buffer && i < sizeof(fills) / sizeof(*fills);
         i++)
        if (strcmp(argument->fill, fills[i]) == 0)
            return true;
    return false;
}

static void warn_of_files(const struct spec *spec)
{
    bool file = false;

    for (size_t i = 0; i < spec->n_arguments; i++) {
        if (is_drawn(&spec->arguments[i]))
            return;
        file |= spec->arguments[i].file != NULL;
    }
    if (file)
        fprintf(stderr,
                "fa-coord: warning: every input comes from a file, so all "
                "trials have the same values: a kernel that leaves an earlier "
                "result in place is not noticed\n");
}

static void warn_of(void *arg, const char *text)
{
    (void)arg;
    fprintf(stderr, "fa-coord: warning: %s\n", text);
}

static int warn(const struct check *check, struct err *err)
{
    warn_of_files(check->spec);
    for (size_t g = 0; g < check->spec->space.n_gates; g++)
        if (is_idle(check, g))
            fprintf(stderr,
                    "fa-coord: warning: gate '%s' rejects no configuration for "
                    "%s\n",
                    check->spec->space.gates[g].name, check->arch);
    return plan_weak(check->spec, check->space,
                     device_kind_name(DEVICE_KIND_CUDA), warn_of, NULL, err);
}

static void tell_flaw(void *arg, bool reference, const char *why)
{
    struct check *check = arg;

    check->flaws++;
    fprintf(stderr, "fa-coord: %s: %s\n",
            reference ? "the reference" : "the baseline", why);
}

/* Without a compiler for the device the rest is checked all the same. */
static int check_builds(struct check *check, struct spec *spec, struct err *err)
{
    int rc;

    if (check->no_build) {
        err_set(&check->why_not, ERR_INPUT, "--no-build");
        return 0;
    }
    rc = trial_build_run(spec, check->device, check->arch, tell_flaw, check,
                         &check->why_not);

    check->compiled = rc == 0;
    if (rc == 0 || rc == ERR_NETWORK)
        return 0;
    *err = check->why_not;
    return rc;
}

/* Configurations to time; all that pass if they can be. */
static double tried(const struct check *check)
{
    return (double)(check->search.drawn ? check->search.evaluations
                                        : check->passed);
}

static double build_s(const struct check *check)
{
    return SEARCH_SETTINGS_BUILD_S * tried(check);
}

static double measure_s(const struct check *check)
{
    return SEARCH_SETTINGS_MEASURE_S * tried(check) *
           (double)check->spec->shapes.n;
}

static void print(const struct check *check)
{
    const struct spec *spec = check->spec;
    char size[SPACE_NUMBER_BYTES], passed[SPACE_NUMBER_BYTES];

    space_number_text(space_size(check->space), size);
    space_number_text(check->passed, passed);
    printf("%s is fine\n", spec->file.path);
    printf("  configurations  %s, of which %s pass %zu gate%s for %s\n", size,
           passed, spec->space.n_gates, spec->space.n_gates == 1 ? "" : "s",
           check->arch);
    if (check->compiled)
        printf("  compiled        the baseline and the reference, for %s\n",
               device_kind_is(check->device, DEVICE_KIND_CPU) ? check->device
                                                              : check->arch);
    else
        printf("  compiled        nothing: %s\n", check->why_not.text);
    printf("  shapes          %zu, headline '%s'\n", spec->shapes.n,
           spec->shapes.list[0].name);
    if (!check->cost.hosts) {
        printf("  building        about %.1f core minutes (%.1f s each)\n",
               build_s(check) / 60, SEARCH_SETTINGS_BUILD_S);
        printf("  measuring       about %.1f GPU minutes (%.2f s each)\n",
               measure_s(check) / 60, SEARCH_SETTINGS_MEASURE_S);
    }
    printf("  search          %s%s%s%s, %d configurations%s\n",
           check->search.strategy, check->search.why[0] ? " (" : "",
           check->search.why, check->search.why[0] ? ")" : "",
           check->search.evaluations, check->search.in_flight);
    if (check->cost.hosts)
        forecast_print(&check->cost.forecast, true);
    else
        printf("  cost            ask 'fa-coord check --hosts FILE'\n");
}

static void print_json(const struct check *check)
{
    struct json_out out;

    json_out_init(&out, stdout);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "name", check->spec->name);
    json_out_text(&out, "arch", check->arch);
    json_out_text(&out, "device", check->device);
    json_out_bool(&out, "compiled", check->compiled);
    json_out_int(&out, "configurations", space_size(check->space));
    json_out_int(&out, "passed", check->passed);
    json_out_int(&out, "shapes", (int64_t)check->spec->shapes.n);
    if (check->cost.hosts) {
        json_out_open(&out, "estimate", '{');
        forecast_put(&check->cost.forecast, &out);
        json_out_close(&out);
    } else {
        json_out_real(&out, "build_core_s", build_s(check));
        json_out_real(&out, "measure_gpu_s", measure_s(check));
    }
    json_out_text(&out, "strategy", check->search.strategy);
    json_out_int(&out, "evaluations", check->search.evaluations);
    json_out_open(&out, "gates_that_never_reject", '[');
    for (size_t g = 0; g < check->spec->space.n_gates; g++)
        if (is_idle(check, g))
            json_out_text(&out, NULL, check->spec->space.gates[g].name);
    json_out_close(&out);
    json_out_close(&out);
}

static int check_file(const char *path, struct check *check, bool json,
                      struct err *err)
{
    const struct gpu_arch_facts *facts;
    struct spec *spec = NULL;
    int rc = gpu_arch_find_named(check->arch, &facts, err);

    if (rc == 0)
        rc = spec_load(path, &spec, err);
    check->spec = spec;
    if (rc == 0)
        rc = check_all(check, facts, err);
    if (rc == 0)
        rc = check_cost(check, spec, err);
    if (rc == 0)
        rc = check_builds(check, spec, err);
    if (rc == 0 && check->flaws == 0)
        rc = warn(check, err);
    if (rc == 0 && check->flaws == 0) {
        if (json)
            print_json(check);
        else
            print(check);
    }
    end_cost(check);
    space_close(check->space);
    spec_free(spec);
    return rc;
}

int cmd_check(int argc, char *argv[])
{
    struct check check = { .device = device_kind_name(DEVICE_KIND_CUDA),
                           .arch = GPU_ARCH_DEFAULT };
    const char *path = NULL;
    char ending[SUGGEST_BYTES];
    bool json = false;
    const struct option list[] = {
        { "arch", OPTION_TEXT, &check.arch, "sm_89",
          "evaluate the gates, and compile, for this architecture", NULL },
        { "device", OPTION_TEXT, &check.device, "cuda|cpu",
          "compile for GPUs (default), or for the emulation", NULL },
        { "hosts", OPTION_TEXT, &check.cost.hosts, "FILE",
          "estimate what a sweep over these machines takes", NULL },
        { "db", OPTION_TEXT, &check.cost.db, "FILE",
          "with --hosts: its database (default: NAME.db beside the file)",
          NULL },
        { "times", OPTION_TEXT, &check.cost.times, "DB",
          "with --hosts: use the durations of another sweep", NULL },
        { "no-build", OPTION_FLAG, &check.no_build, NULL,
          "read the sources and compile nothing", NULL },
        { "json", OPTION_FLAG, &json, NULL, "for programs", NULL },
    };
    const struct options options = {
        .command = "check",
        .arguments = "[SWEEP]",
        .what = "Validate a sweep file and its sources, without a GPU or a "
                "network; compile the\nbaseline and the reference if this "
                "machine has the compiler.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .arguments_max = 1,
        .plain = &path,
    };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0 && !device_kind_is(check.device, DEVICE_KIND_CUDA) &&
        !device_kind_is(check.device, DEVICE_KIND_CPU))
        rc = err_set(&err, ERR_INPUT, "--device=%.32s: choose cuda or cpu%s",
                     check.device,
                     run_settings_device_ending(check.device, ending));
    if (rc == 0)
        rc = check_file(path ? path : "sweep.json", &check, json, &err);
    if (rc < 0)
        return fail_with(rc, &err);
    return check.flaws > 0 ? EXIT_INPUT : EXIT_DONE;
}
