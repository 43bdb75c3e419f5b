/* fa-coord space: the gate table and the configurations left
 * (docs/sweep-file.md) */
#include "coordinator/cli/cmd.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/config/config.h"
#include "coordinator/replay/replay.h"
#include "coordinator/report/build_listing.h"
#include "coordinator/model/domain.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"
#include "coordinator/spec/spec.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/run_settings.h"
#include "coordinator/tasks/space_build.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/suggest.h"
#include "coordinator/print/table.h"

#define LINE_MAX_BYTES 65536 /* of a printed configuration */
#define CONFIG_BYTES 120     /* of a configuration in a message */
#define JOBS_MAX 256         /* build slots of a worker */

struct view {
    struct spec *spec;
    struct space *space;
    const struct gpu_arch_facts *facts;
    const char *arch, *device;
    bool build, list, cover, json;
    int64_t jobs;
    const char *db; /* NULL: NAME.ARCH.db or NAME.db beside the file */
    struct build_listing *builds;
    struct space_gate_count counts[SPEC_LIST_MAX];
    int64_t passed;
};

static void print_gates(const struct view *view)
{
    const struct spec *spec = view->spec;
    struct table *table = table_new();

    table_column(table, 'l', "gate");
    table_column(table, 'l', "kind");
    table_column(table, 'r', "rejected first");
    table_column(table, 'r', "rejected alone");
    table_column(table, 'r', "warned");
    for (size_t g = 0; g < spec->space.n_gates; g++) {
        bool warns = spec->space.gates[g].warns;
        const struct space_gate_count *count = &view->counts[g];
        char first[SPACE_NUMBER_BYTES], alone[SPACE_NUMBER_BYTES];
        char warned[SPACE_NUMBER_BYTES];

        space_number_text(count->rejected_first, first);
        space_number_text(count->rejected_alone, alone);
        space_number_text(count->warned, warned);
        table_cell(table, "%s", spec->space.gates[g].name);
        table_cell(table, "%s", warns ? "warn" : "reject");
        table_cell(table, "%s", warns ? "-" : first);
        table_cell(table, "%s", warns ? "-" : alone);
        table_cell(table, "%s", warns ? warned : "-");
    }
    table_print(table, stdout);
    table_free(table);
}

static size_t count_dead(const struct view *view,
                         enum dead_tunables_verdict verdict)
{
    size_t n = 0;

    if (!view->builds) /* nothing passes, or nothing is built */
        return verdict == DEAD_TUNABLES_UNKNOWN ? view->spec->space.n_axes : 0;
    for (size_t i = 0; i < view->spec->space.n_axes; i++)
        n += view->builds->dead[i] == verdict;
    return n;
}

static void print_dead(const struct view *view)
{
    printf("\ndead tunables:");
    if (count_dead(view, DEAD_TUNABLES_UNKNOWN) == view->spec->space.n_axes)
        printf(" known after builds");
    else if (count_dead(view, DEAD_TUNABLES_YES) == 0)
        printf(" none");
    for (size_t i = 0; view->builds && i < view->spec->space.n_axes; i++)
        if (view->builds->dead[i] == DEAD_TUNABLES_YES)
            printf(" %s", view->spec->space.axes[i].name);
    printf("\n");
}

static void json_dead(const struct view *view, struct json_out *out)
{
    if (count_dead(view, DEAD_TUNABLES_UNKNOWN) == view->spec->space.n_axes) {
        json_out_null(out, "dead_tunables");
        return;
    }
    json_out_open(out, "dead_tunables", '[');
    for (size_t i = 0; i < view->spec->space.n_axes; i++)
        if (view->builds->dead[i] == DEAD_TUNABLES_YES)
            json_out_text(out, NULL, view->spec->space.axes[i].name);
    json_out_close(out);
}

static void print_head(const struct view *view)
{
    char size[SPACE_NUMBER_BYTES], passed[SPACE_NUMBER_BYTES];

    space_number_text(space_size(view->space), size);
    space_number_text(view->passed, passed);
    printf("%s for %s: %s of %s configurations pass\n", view->spec->name,
           view->arch, passed, size);
    if (view->spec->space.n_gates) {
        printf("\n");
        print_gates(view);
    }
}

static void json_gates(const struct view *view, struct json_out *out)
{
    json_out_open(out, "gates", '[');
    for (size_t g = 0; g < view->spec->space.n_gates; g++) {
        const struct spec_gate *gate = &view->spec->space.gates[g];

        json_out_open(out, NULL, '{');
        json_out_text(out, "name", gate->name);
        json_out_text(out, "kind", gate->warns ? "warn" : "reject");
        json_out_int(out, "rejected_first", view->counts[g].rejected_first);
        json_out_int(out, "rejected_alone", view->counts[g].rejected_alone);
        json_out_int(out, "warned", view->counts[g].warned);
        json_out_close(out);
    }
    json_out_close(out);
}

static void json_point(const struct view *view, const struct space_point *point,
                       const struct value *values, struct json_out *out)
{
    char key[HASH_HEX];
    struct buf params;

    buf_init(&params, LINE_MAX_BYTES);
    config_json(view->spec, values, &params);
    config_key(view->spec, values, key);
    json_out_open(out, NULL, '{');
    json_out_int(out, "number", point->number);
    json_out_text(out, "key", key);
    json_out_raw(out, "params", buf_text(&params));
    json_out_open(out, "warnings", '[');
    for (size_t g = 0; g < view->spec->space.n_gates; g++)
        if (point->warned >> g & 1)
            json_out_text(out, NULL, view->spec->space.gates[g].name);
    json_out_close(out);
    json_out_close(out);
    buf_fini(&params);
}

static void print_point(const struct view *view,
                        const struct space_point *point,
                        const struct value *values)
{
    struct buf text;

    buf_init(&text, LINE_MAX_BYTES);
    config_text(view->spec, values, &text);
    printf("%" PRId64 "  %s", point->number, buf_text(&text));
    for (size_t g = 0; g < view->spec->space.n_gates; g++)
        if (point->warned >> g & 1)
            printf("  %s", view->spec->space.gates[g].name);
    printf("\n");
    buf_fini(&text);
}

/* With --cover, the points to list; NULL for all. */
static int choose_points(const struct view *view, int64_t **out, size_t *n,
                         struct err *err)
{
    *out = NULL;
    return view->cover ? space_cover(view->space, out, n, err) : 0;
}

/* 'out' is NULL for output to people. */
static int list_points(const struct view *view, struct json_out *out,
                       struct err *err)
{
    struct value values[SPEC_AXES_MAX];
    struct space_point point;
    size_t n = 0;
    int64_t *chosen;
    int rc = choose_points(view, &chosen, &n, err);

    if (rc < 0)
        return rc;
    if (out)
        json_out_open(out, "points", '[');
    /* a reader that has gone, as head(1) has, wants no more */
    while (!ferror(stdout) && (rc = space_next(view->space, &point, err)) > 0) {
        if (chosen && !space_cover_has(chosen, n, point.number))
            continue;
        space_values(view->space, point.number, values);
        if (out)
            json_point(view, &point, values, out);
        else
            print_point(view, &point, values);
    }
    if (out)
        json_out_close(out);
    free(chosen);
    return rc < 0 ? rc : 0;
}

static int print_json(const struct view *view, struct err *err)
{
    struct json_out out;
    int rc = 0;

    json_out_init(&out, stdout);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "name", view->spec->name);
    json_out_text(&out, "arch", view->arch);
    json_out_int(&out, "configurations", space_size(view->space));
    json_out_int(&out, "passed", view->passed);
    json_gates(view, &out);
    json_dead(view, &out);
    if (view->build && view->builds)
        rc = build_listing_json(view->builds, &out, err);
    if (rc == 0 && view->list)
        rc = list_points(view, &out, err);
    json_out_close(&out);
    return rc;
}

static int print_text(const struct view *view, struct err *err)
{
    if (view->list && view->build && view->builds) {
        build_listing_list(view->builds);
        return 0;
    }
    if (view->list)
        return list_points(view, NULL, err);
    print_head(view);
    if (view->build && view->builds)
        build_listing_summary(view->builds);
    print_dead(view);
    return 0;
}

/* Builds have a database of their own for one architecture, but the sweep's
 * database may have some too. */
static char *find_db(const struct view *view)
{
    const struct spec *spec = view->spec;
    char *db;

    if (view->db)
        return mem_strdup(view->db);
    db = mem_printf("%s/%s.%s.db", spec->file.folder, spec->name, view->arch);
    if (view->build || access(db, F_OK) == 0)
        return db;
    free(db);
    return mem_printf("%s/%s.db", spec->file.folder, spec->name);
}

/* Success means that all selected ones were tried, even if some failed. */
static int judge_missing(const struct view *view, struct err *err)
{
    const struct build_listing *listing = view->builds;
    size_t n = 0, asked = 0, missing = 0, first = 0;
    char config[CONFIG_BYTES];
    int64_t *chosen;
    int rc = choose_points(view, &chosen, &n, err);

    for (size_t i = 0; rc == 0 && i < listing->n; i++) {
        const struct build_row *row = &listing->rows[i];

        if (view->cover && !row->unit->baseline &&
            !space_cover_has(chosen, n, row->unit->point))
            continue;
        asked++;
        if (!row->known && missing++ == 0)
            first = i;
    }
    free(chosen);
    if (rc < 0 || missing == 0)
        return rc;
    plan_display(listing->plan, (int)first, config, sizeof(config));
    fprintf(stderr,
            "fa-coord: %zu of %zu builds are missing, the first is %s; run the "
            "same command again to retry them\n",
            missing, asked, config);
    return EXIT_NO_RESULT;
}

/* A configuration that passes the gates but does not build shows a missing
 * gate. */
static int judge_builds(const struct view *view, struct err *err)
{
    const struct build_listing *listing = view->builds;
    size_t failed = build_listing_failed(listing), first = 0;
    char config[CONFIG_BYTES];

    if (!view->build)
        return 0;
    if (failed == 0)
        return judge_missing(view, err);
    while (!listing->rows[first].known || listing->rows[first].built)
        first++;
    plan_display(listing->plan, (int)first, config, sizeof(config));
    err_set(err, ERR_INPUT,
            "%zu of %zu configurations that pass the gates do not build; the "
            "first, %s: %s",
            failed, listing->n, config, listing->rows[first].detail);
    fprintf(stderr, "fa-coord: %s\n", err->text);
    return EXIT_NO_RESULT;
}

static int print(const struct view *view, struct err *err)
{
    return view->json ? print_json(view, err) : print_text(view, err);
}

/* More configurations than can be taken one by one. */
static bool is_many(const struct view *view)
{
    return view->passed > DOMAIN_POINTS_MAX;
}

static int refuse_many(const struct view *view, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "--%s looks at every configuration, and %" PRId64
                   " pass the gates; at most %d may; use fewer values",
                   view->build ? "build" : "cover", view->passed,
                   DOMAIN_POINTS_MAX);
}

/* Without a database no build is known, so no keys are needed.  Sources and
 * baseline are still checked. */
static int load(struct view *view, const char *db, struct err *err)
{
    bool emulated = device_kind_is(view->device, DEVICE_KIND_CPU);
    const char *arch = emulated ? view->device : view->arch;
    struct plan *plan = NULL;
    int rc;

    if (!is_many(view) &&
        (access(db, F_OK) == 0 || !space_derives_numbers(view->space)))
        return build_listing_load(view->spec, view->space, view->facts, arch,
                                  db, &view->builds, err);
    rc = plan_make_open(view->spec, view->space, 1, view->device, arch, &plan,
                        err);
    plan_free(plan);
    return rc;
}

static int load_and_print(struct view *view, const char *db, struct err *err)
{
    int rc = load(view, db, err);

    if (rc == 0)
        rc = print(view, err);
    if (rc == 0 && view->builds)
        rc = judge_builds(view, err);
    build_listing_free(view->builds);
    return rc;
}

/* Returns an exit code, or an error for fail_with(). */
static int build_and_print(struct view *view, struct err *err)
{
    char *db = find_db(view);
    const struct space_build_options options = { .arch = view->arch,
                                                 .db = db,
                                                 .jobs = (int)view->jobs,
                                                 .cover = view->cover };
    int rc = 0;

    if (view->build)
        rc = space_build_run(view->spec, &options, err);
    if (rc != 0)
        fprintf(stderr, "fa-coord: %s\n", err->text);
    else
        rc = load_and_print(view, db, err);
    free(db);
    return rc;
}

static int show(struct view *view, struct err *err)
{
    int rc = space_count(view->space, view->counts, &view->passed, err);

    if (rc < 0)
        return rc;
    if (is_many(view) && (view->build || view->cover))
        return refuse_many(view, err);
    if (view->passed > 0)
        return build_and_print(view, err);
    rc = print(view, err);
    return rc < 0 ? rc : space_empty_err(view->space, view->counts, err);
}

static int show_space(const char *path, struct view *view, struct err *err)
{
    char arch[32]; /* in the form that the user wrote */
    int rc = gpu_arch_find_named(view->arch, &view->facts, err);

    if (rc < 0)
        return rc;
    snprintf(arch, sizeof(arch), "sm_%" PRId64, view->facts->arch);
    view->arch = arch;
    rc = spec_load(path, &view->spec, err);
    if (rc == 0)
        rc = space_open(view->spec, view->facts, view->device,
                        replay_points(view->spec->replay), &view->space, err);
    if (rc == 0)
        rc = show(view, err);
    space_close(view->space);
    spec_free(view->spec);
    return rc;
}

static int check_options(const struct view *view, struct err *err)
{
    bool cpu = device_kind_is(view->device, DEVICE_KIND_CPU);
    char ending[SUGGEST_BYTES];

    if (!cpu && !device_kind_is(view->device, DEVICE_KIND_CUDA))
        return err_set(err, ERR_INPUT, "--device=%.32s: choose cuda or cpu%s",
                       view->device,
                       run_settings_device_ending(view->device, ending));
    if (view->build && cpu)
        return err_set(err, ERR_INPUT,
                       "--build compiles for GPUs only; for the cpu device run "
                       "fa-coord sweep --device cpu");
    if (view->cover && !view->list && !view->build)
        return err_set(err, ERR_INPUT, "--cover needs --list or --build");
    if (view->jobs && !view->build)
        return err_set(err, ERR_INPUT, "--jobs needs --build");
    if (view->jobs < 0 || view->jobs > JOBS_MAX)
        return err_set(err, ERR_INPUT, "--jobs: choose 1..%d", JOBS_MAX);
    return 0;
}

int cmd_space(int argc, char *argv[])
{
    struct view view = { .arch = GPU_ARCH_DEFAULT,
                         .device = device_kind_name(DEVICE_KIND_CUDA) };
    const char *path = NULL;
    const struct option list[] = {
        { "arch", OPTION_TEXT, &view.arch, "sm_89",
          "evaluate the gates for this architecture", NULL },
        { "device", OPTION_TEXT, &view.device, "cuda|cpu",
          "cpu: use the emulation shapes", NULL },
        { "db", OPTION_TEXT, &view.db, "FILE",
          "the database for the builds (default: NAME.ARCH.db beside the sweep "
          "file)",
          NULL },
        { "build", OPTION_FLAG, &view.build, NULL,
          "compile all of them on this machine and report the builds", NULL },
        { "jobs", OPTION_INT, &view.jobs, "N",
          "builds at a time (default: one per processor)", NULL },
        { "list", OPTION_FLAG, &view.list, NULL,
          "list the configurations that pass", NULL },
        { "cover", OPTION_FLAG, &view.cover, NULL,
          "take only a few that together have every pair of values", NULL },
        { "json", OPTION_FLAG, &view.json, NULL, "for programs", NULL },
    };
    const struct options options = {
        .command = "space",
        .arguments = "[SWEEP]",
        .what = "Show what each gate of a sweep file rejects and what passes.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .arguments_max = 1,
        .plain = &path,
    };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = check_options(&view, &err);
    if (rc == 0)
        rc = show_space(path ? path : "sweep.json", &view, &err);
    return rc < 0 ? fail_with(rc, &err) : rc;
}
