#include "coordinator/spec/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/l2_mode.h"
#include "common/mem.h"
#include "coordinator/search/objective.h"
#include "coordinator/spec/bundle.h"
#include "coordinator/source/identifier.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/spec/spec_internal.h"

#define FLAGS_MAX 64
#define FLAG_BYTES_MAX 512

/* The defaults of a sweep file. */
static const struct spec defaults = {
    .compile = { .standard = "c++17" },
    .measure = { .warmups = 3,
                 .least = 5,
                 .most = 30,
                 .noise = 0.01,
                 .margin = 1.10,
                 .timeout_s = 10,
                 .seed = 1,
                 .edges = (1u << SPEC_EDGES) - 1,
                 .proof_seeds = 4,
                 .canary_every = -1,
                 .canary_samples = 10 },
    .confirm = { .blocks = 20,
                 .blocks_max = 70,
                 .blocks_group = 2,
                 .samples = 5,
                 .finalists_max = 32,
                 .floor = 0.005,
                 .target = 1.10,
                 .alpha = 0.05 },
};

static int read_flags(struct reader *r, const struct json *kernel)
{
    struct spec *spec = r->spec;
    const struct json *list, *unsafe;
    size_t taken;

    if (spec_read_member(r, kernel, "flags", JSON_ARRAY, false, &list) < 0 ||
        spec_read_member(r, kernel, "unsafe_flags", JSON_BOOL, false, &unsafe) <
            0)
        return ERR_INPUT;
    if (!list)
        return 0;
    if (list->n > FLAGS_MAX)
        return spec_read_flaw(r, list->at, "at most 64", "there are %zu flags",
                              list->n);
    spec->compile.flags = mem_new(list->n + 1, sizeof(*spec->compile.flags));
    for (size_t i = 0; i < list->n; i++) {
        const struct json *flag = &list->items[i];

        if (flag->kind != JSON_TEXT || !*flag->text ||
            strlen(flag->text) > FLAG_BYTES_MAX)
            return spec_read_flaw(r, flag->at, "as in [\"-O3\", \"-lineinfo\"]",
                                  "a flag must be a text of 1 to 512 bytes");
        spec->compile.flags[spec->compile.n_flags++] = mem_strdup(flag->text);
    }
    for (size_t i = 0; i < list->n && !(unsafe && unsafe->truth); i += taken)
        if (!identifier_flag_allowed(spec->compile.flags, spec->compile.n_flags,
                                     i, &taken))
            return spec_read_flaw(r, list->items[i].at,
                                  "allowed are " IDENTIFIER_FLAGS_ALLOWED
                                  "; others need \"unsafe_flags\": true, "
                                  "because nvcc passes them to a shell",
                                  "flag '%.64s' is not allowed",
                                  spec->compile.flags[i]);
    return 0;
}

static int read_source(struct reader *r, const struct json *object,
                       struct spec_kernel *out)
{
    const struct json *source, *entry;

    if (spec_read_member(r, object, "source", JSON_TEXT, true, &source) < 0 ||
        spec_read_text(r, source, identifier_path_flaw, "source",
                       &out->source) < 0 ||
        spec_read_member(r, object, "entry", JSON_TEXT, true, &entry) < 0)
        return ERR_INPUT;
    out->source_at = source->at;
    return spec_read_text(r, entry, identifier_entry_flaw, "entry point",
                          &out->entry);
}

static int read_kernels(struct reader *r, const struct json *root)
{
    static const char *const keys[] = { "source", "entry", "standard", "flags",
                                        "unsafe_flags" };
    static const char *const reference_keys[] = { "source", "entry", "launch" };
    static const char *const standards[] = { "c++11", "c++14", "c++17",
                                             "c++20" };
    struct spec *spec = r->spec;
    const struct json *kernel, *reference;

    if (spec_read_member(r, root, "kernel", JSON_OBJECT, true, &kernel) < 0 ||
        spec_read_object(r, kernel, "'kernel'", keys, 5) < 0 ||
        read_source(r, kernel, &spec->kernel) < 0 ||
        spec_read_word(r, kernel, "standard", standards, 4,
                       &spec->compile.standard) < 0 ||
        read_flags(r, kernel) < 0 ||
        spec_read_launch(r, root, &spec->kernel.launch) < 0 ||
        spec_read_member(r, root, "reference", JSON_OBJECT, true, &reference) <
            0 ||
        spec_read_object(r, reference, "'reference'", reference_keys, 3) < 0 ||
        read_source(r, reference, &spec->reference) < 0)
        return ERR_INPUT;
    return spec_read_launch(r, reference, &spec->reference.launch);
}

/* A number of samples, or a stopping rule: { "least": 5, "most": 30, ... } */
static int read_samples(struct reader *r, const struct json *measure,
                        struct spec_measure *out)
{
    static const char *const keys[] = { "least", "most", "noise", "margin" };
    const struct json *samples = json_find(measure, "samples");
    int64_t least = out->least, most = out->most;

    if (!samples)
        return 0;
    if (samples->kind != JSON_OBJECT) {
        if (spec_read_whole(r, measure, "samples", 1, SPEC_SAMPLES_MAX, &most) <
            0)
            return ERR_INPUT;
        out->least = out->most = (int)most;
        return 0;
    }
    if (spec_read_object(r, samples, "'samples'", keys, 4) < 0 ||
        spec_read_whole(r, samples, "least", 1, SPEC_SAMPLES_MAX, &least) < 0 ||
        spec_read_whole(r, samples, "most", 1, SPEC_SAMPLES_MAX, &most) < 0 ||
        spec_read_real(r, samples, "noise", 1e-5, 1, &out->noise) < 0 ||
        spec_read_real(r, samples, "margin", 1, 1e6, &out->margin) < 0)
        return ERR_INPUT;
    if (least > most)
        return spec_read_flaw(
            r, samples->at,
            "sampling stops when the samples settle: after 'least' samples at "
            "the earliest, after 'most' at the latest",
            "'least' is %d and 'most' is %d", (int)least, (int)most);
    out->least = (int)least;
    out->most = (int)most;
    return 0;
}

static int read_measure(struct reader *r, const struct json *root)
{
    static const char *const keys[] = {
        "warmups",      "samples",        "timeout_s", "seed",       "l2",
        "canary_every", "canary_samples", "edges",     "proof_seeds"
    };
    struct spec_measure *out = &r->spec->measure;
    int64_t warmups = out->warmups;
    int64_t every = out->canary_every, canary = out->canary_samples;
    const struct json *object;

    if (spec_read_member(r, root, "measure", JSON_OBJECT, false, &object) < 0)
        return ERR_INPUT;
    if (!object)
        return 0;
    if (spec_read_object(r, object, "'measure'", keys,
                         sizeof(keys) / sizeof(*keys)) < 0 ||
        spec_read_whole(r, object, "canary_every", 0, 1000000, &every) < 0 ||
        spec_read_whole(r, object, "canary_samples", 1, 1000, &canary) < 0 ||
        spec_read_whole(r, object, "warmups", 0, 1000, &warmups) < 0 ||
        read_samples(r, object, out) < 0 || spec_read_trials(r, object) < 0 ||
        spec_read_real(r, object, "timeout_s", 0.001, 3600, &out->timeout_s) <
            0 ||
        spec_read_whole(r, object, "seed", 0, JSON_INTEGER_MAX, &out->seed) < 0)
        return ERR_INPUT;
    out->canary_every = (int)every;
    out->canary_samples = (int)canary;
    out->warmups = (int)warmups;
    return spec_read_word(r, object, "l2", l2_mode_names + L2_MODE_FLUSH,
                          L2_MODES - L2_MODE_FLUSH, &out->l2);
}

static int read_limits(struct reader *r, const struct json *root)
{
    static const char *const budget_keys[] = { "usd", "hours" };
    struct spec *spec = r->spec;
    const struct json *budget;

    if (spec_read_search(r, root) < 0 ||
        spec_read_member(r, root, "budget", JSON_OBJECT, false, &budget) < 0)
        return ERR_INPUT;
    if (budget &&
        (spec_read_object(r, budget, "'budget'", budget_keys, 2) < 0 ||
         spec_read_real(r, budget, "usd", SPEC_BUDGET_LEAST, 1e9,
                        &spec->budget.usd) < 0 ||
         spec_read_real(r, budget, "hours", SPEC_BUDGET_LEAST, 1e6,
                        &spec->budget.hours) < 0))
        return ERR_INPUT;
    return 0;
}

/* A setting that users expect at the top level, and the section where it
 * belongs. */
static int find_misplaced(const struct reader *r, const struct json *root)
{
    static const char *const settings[][2] = {
        { "target_speedup", "confirm" },
        { "floor", "confirm" },
        { "alpha", "confirm" },
        { "finalists_max", "confirm" },
        { "blocks", "confirm" },
        { "blocks_max", "confirm" },
        { "blocks_group", "confirm" },
        { "strategy", "search" },
        { "evaluations", "search" },
        { "race", "search" },
        { "objective", "search" },
        { "in_flight", "search" },
        { "warmups", "measure" },
        { "samples", "measure" },
        { "timeout_s", "measure" },
        { "l2", "measure" },
        { "usd", "budget" },
        { "hours", "budget" },
    };

    for (size_t i = 0; root->kind == JSON_OBJECT && i < root->n; i++)
        for (size_t k = 0; k < sizeof(settings) / sizeof(settings[0]); k++)
            if (strcmp(root->items[i].key, settings[k][0]) == 0) {
                char remedy[96];

                snprintf(remedy, sizeof(remedy), "\"%s\": { \"%s\": ... }",
                         settings[k][1], settings[k][0]);
                return spec_read_flaw(r, root->items[i].key_at, remedy,
                                      "'%s' belongs in '%s'", settings[k][0],
                                      settings[k][1]);
            }
    return 0;
}

static int read_root(struct reader *r, const struct json *root)
{
    static const char *const keys[] = {
        "name",
        "kernel",
        "tunables",
        "derived",
        "gates",
        "launch",
        "shapes",
        "emulation_shapes",
        "fuzz_shapes",
        "emulation_fuzz_shapes",
        "arguments",
        "reference",
        "tolerance",
        "baseline",
        "metrics",
        "floors",
        "measure",
        "search",
        "budget",
        "confirm",
        "external_baseline",
    };
    const struct json *name;

    if (find_misplaced(r, root) < 0 ||
        spec_read_object(r, root, "the sweep file", keys,
                         sizeof(keys) / sizeof(keys[0])) < 0 ||
        spec_read_member(r, root, "name", JSON_TEXT, true, &name) < 0 ||
        spec_read_text(r, name, identifier_label_flaw, "name", &r->spec->name) <
            0 ||
        read_kernels(r, root) < 0 || spec_read_axes(r, root) < 0 ||
        spec_read_shapes(r, root) < 0 || spec_read_rules(r, root) < 0 ||
        spec_read_arguments(r, root) < 0 || spec_read_tolerance(r, root) < 0 ||
        spec_read_baseline(r, root) < 0 || spec_read_external(r, root) < 0 ||
        read_measure(r, root) < 0 || spec_read_confirm(r, root) < 0)
        return ERR_INPUT;
    return read_limits(r, root);
}

int spec_parse(const char *folder, const char *file, const char *text,
               size_t len, struct spec **out, struct err *err)
{
    struct spec *spec = mem_new(1, sizeof(*spec));
    struct reader reader = { spec, err };
    struct json_doc *doc;
    int rc;

    *spec = defaults;
    spec->measure.l2 = l2_mode_name(L2_MODE_FLUSH);
    spec->search = mem_new(1, sizeof(*spec->search));
    spec->search->seed = 1;
    spec->search->strategy = mem_strdup(SEARCH_SETTINGS_AUTO);
    spec->search->objective = mem_strdup(OBJECTIVE_HEADLINE);
    spec->file.path = mem_strdup(file);
    spec->file.folder = mem_strdup(folder);
    spec->file.name =
        mem_strdup(strrchr(file, '/') ? strrchr(file, '/') + 1 : file);
    spec->file.text = mem_dup(text, len);
    spec->file.len = len;
    *out = NULL;
    rc = json_parse(file, text, len, &doc, err);
    if (rc == 0) {
        rc = read_root(&reader, json_root(doc));
        json_free(doc);
    }
    if (rc < 0)
        spec_free(spec);
    else
        *out = spec;
    return rc;
}

/* ---- files */

static int read_file(const char *path, struct buf *out, struct err *err)
{
    char chunk[65536];
    struct stat st;
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 && errno == ENOENT)
        return err_set(err, ERR_INPUT,
                       "there is no sweep file '%s'; name one, or change to a "
                       "folder that has a sweep.json; 'fa-coord init' begins "
                       "one",
                       path);
    if (fd < 0)
        return err_set(err, ERR_INPUT, "%s: %s", path, strerror(errno));
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(err, ERR_INPUT, "%s is not a file", path);
    }
    while ((n = read(fd, chunk, sizeof(chunk))) > 0 && !out->truncated)
        buf_add(out, chunk, (size_t)n);
    close(fd);
    if (n < 0)
        return err_set(err, ERR_INPUT, "%s: %s", path, strerror(errno));
    if (out->truncated)
        return err_set(err, ERR_INPUT, "%s is larger than 8 MiB", path);
    return 0;
}

static int check_externals(const struct spec *spec, struct err *err)
{
    for (size_t i = 0; i < spec->externals.n; i++) {
        const struct spec_external *external = &spec->externals.list[i];
        struct bundle bundle;
        int rc = bundle_files(spec, external->files, external->files_at,
                              external->n_files, &bundle, err);

        if (rc < 0)
            return rc;
        bundle_fini(&bundle);
    }
    return 0;
}

static int check_sources(const struct spec *spec, struct err *err)
{
    const struct spec_kernel *kernels[] = { &spec->kernel, &spec->reference };

    for (size_t i = 0; i < 2; i++) {
        struct bundle bundle;
        int rc = bundle_load(spec, kernels[i]->source, kernels[i]->source_at,
                             true, &bundle, err);

        if (rc < 0)
            return rc;
        bundle_fini(&bundle);
    }
    return check_externals(spec, err);
}

int spec_load_alone(const char *path, struct spec **out, struct err *err)
{
    struct stat st;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    char *file = mem_printf("%s%s", path, folder ? "/sweep.json" : "");
    char *copy = mem_strdup(file), *real = NULL;
    struct buf text;
    int rc;

    *out = NULL;
    buf_init(&text, SPEC_BYTES_MAX);
    rc = read_file(file, &text, err);
    if (rc == 0) {
        real = realpath(dirname(copy), NULL);
        rc = spec_parse(real ? real : ".", file, buf_text(&text), text.len, out,
                        err);
    }
    buf_fini(&text);
    free(real);
    free(copy);
    free(file);
    return rc;
}

int spec_load(const char *path, struct spec **out, struct err *err)
{
    int rc = spec_load_alone(path, out, err);

    if (rc == 0)
        rc = check_sources(*out, err);
    if (rc == 0)
        rc = spec_inputs_load(*out, err);
    if (rc < 0) {
        spec_free(*out);
        *out = NULL;
    }
    return rc;
}

/* ---- shapes */

const struct spec_shape *spec_shapes(const struct spec *spec,
                                     const char *device, size_t *n)
{
    bool small =
        device_kind_is(device, DEVICE_KIND_CPU) && spec->shapes.n_emulation;

    *n = small ? spec->shapes.n_emulation : spec->shapes.n;
    return small ? spec->shapes.emulation : spec->shapes.list;
}

const struct spec_shape *spec_fuzz_shapes(const struct spec *spec,
                                          const char *device, size_t *n)
{
    bool cpu = device_kind_is(device, DEVICE_KIND_CPU);

    *n = cpu ? spec->shapes.n_emulation_fuzz : spec->shapes.n_fuzz;
    if (*n)
        return cpu ? spec->shapes.emulation_fuzz : spec->shapes.fuzz;
    return spec_shapes(spec, device, n);
}
