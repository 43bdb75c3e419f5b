/* bench_request - what a sweep would ask of fa-runner, as files
 *
 *     bench_request SWEEP ARCH COMPILER FOLDER CONFIG...
 *
 * Builds each configuration ("A=1,B=2") and the reference for ARCH (sm_90, or
 * cpu) by the command of fa-worker with COMPILER (a path of nvcc, or g++), and
 * writes the request of its screening at each shape.  FOLDER may be moved: its
 * requests name files relative to it.  A line for each goes to stdout, "FILE
 * CONFIG". bench_runners.py has runners answer them.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/msg_file.h"
#include "common/msg_work.h"
#include "coordinator/plan/config_selection.h"
#include "coordinator/plan/plan.h"
#include "coordinator/plan/plan_msg.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/spec.h"
#include "worker/build/compiler.h"
#include "worker/gpu/request.h"
#include "worker/store/build_dir.h"

#define CONFIG_BYTES 1024 /* of a printed configuration */
#define KEY_DIGITS 12     /* of a configuration in the name of its files */
#define REFERENCE "reference"

struct maker {
    struct spec *spec;
    struct space *space;
    struct plan *plan;
    const char *arch, *device, *folder, *compiler;
    struct err *err;
};

/* Runs in the folder of the sources; what the compiler says goes to stderr. */
static int compile(struct maker *maker, const struct compiler_line *line,
                   const struct build_dir *build_dir)
{
    struct compiler_env env;
    char folder[PATH_MAX];
    int status = -1, rc = build_dir_path(build_dir, "src", folder, maker->err);
    pid_t pid;

    if (rc < 0)
        return rc;
    compiler_env(maker->compiler, &env);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        if (chdir(folder) == 0)
            execve(line->args[0], (char *const *)line->args,
                   (char *const *)env.items);
        _exit(127);
    }
    compiler_env_fini(&env);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return err_set(maker->err, ERR_SYSTEM, "%s", strerror(errno));
    if (status != 0)
        return err_set(maker->err, ERR_INPUT, "'%s' does not compile it",
                       maker->compiler);
    return 0;
}

static int write_sources(struct maker *maker, int unit,
                         const struct msg_build *build,
                         const struct build_dir *build_dir)
{
    char *entry = mem_printf("FA_EMULATION_ENTRY(%s)\n", build->entry);
    struct msg_bundle bundle;
    int rc = build_dir_write(build_dir, "gen", COMPILER_PARAMS, build->header,
                             strlen(build->header), maker->err);

    if (rc == 0)
        rc = build_dir_write(build_dir, "gen", COMPILER_ENTRY, entry,
                             strlen(entry), maker->err);
    free(entry);
    plan_bundle(maker->plan, unit, &bundle);
    for (size_t i = 0; rc == 0 && i < bundle.names.n; i++)
        rc = build_dir_write(build_dir, "src", bundle.names.items[i],
                             bundle.contents.items[i].data,
                             bundle.contents.items[i].len, maker->err);
    return rc;
}

static int keep(struct maker *maker, const struct build_dir *build_dir,
                const char *name)
{
    char *to = mem_printf("%s/%s", maker->folder, name);
    char from[PATH_MAX];
    int rc =
        build_dir_path(build_dir, "out/" COMPILER_OUTPUT, from, maker->err);

    if (rc == 0 && rename(from, to) < 0)
        rc = err_set(maker->err, ERR_SYSTEM, "%s: %s", to, strerror(errno));
    free(to);
    return rc;
}

/* FOLDER/NAME */
static int make_artifact(struct maker *maker, int unit, const char *name)
{
    struct build_dir build_dir = { "" };
    struct compiler_line line = { .n = 0 };
    struct msg_build build = { .bundle = NULL };
    int rc = plan_build(maker->plan, unit, &build, maker->err);

    if (rc == 0)
        rc = compiler_kernel(
            &(struct compiler_task){ .compiler = maker->compiler,
                                     .toolkit = "",
                                     .source = build.source,
                                     .entry = build.entry,
                                     .standard = build.standard,
                                     .arch = build.arch,
                                     .flags = build.flags },
            &line, maker->err);
    if (rc == 0)
        rc = build_dir_open(maker->folder, &build_dir, maker->err);
    if (rc == 0)
        rc = write_sources(maker, unit, &build, &build_dir);
    if (rc == 0)
        rc = compile(maker, &line, &build_dir);
    if (rc == 0)
        rc = keep(maker, &build_dir, name);
    build_dir_close(&build_dir);
    compiler_fini(&line);
    return rc;
}

static int write_bytes(struct maker *maker, const char *name, const void *bytes,
                       size_t len)
{
    char *path = mem_printf("%s/%s", maker->folder, name);
    FILE *file = fopen(path, "we");
    int rc = 0;

    if (!file || fwrite(bytes, 1, len, file) != len || fflush(file) != 0)
        rc = err_set(maker->err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    free(path);
    return rc;
}

/* The files that arguments are filled from, each under its hash. */
static int put_inputs(struct maker *maker, int shape)
{
    struct texts inputs = plan_inputs(maker->plan, shape);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < inputs.n; i++) {
        const struct spec_input *input =
            spec_inputs_find(maker->spec, inputs.items[i]);
        size_t len;
        const void *bytes = spec_inputs_bytes(input, &len);

        rc = write_bytes(maker, input->hash, bytes, len);
    }
    return rc;
}

static int write_request(struct maker *maker, const char *name,
                         const struct wire_request *request)
{
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    int rc;

    if (!stream || wire_write_request(stream, request) < 0)
        rc = err_set(maker->err, ERR_SYSTEM, "%s", strerror(errno));
    else
        rc = write_bytes(maker, name, text, len);
    if (stream)
        fclose(stream);
    free(text);
    return rc;
}

static int put_request(struct maker *maker, int unit, int shape,
                       const char *artifact)
{
    static struct wire_request request; /* large */
    const struct plan_sampling sampling = plan_sampling(maker->plan, 0);
    const char *shape_name = plan_shape_name(maker->plan, shape), *text;
    bool has_files = plan_inputs(maker->plan, shape).n > 0;
    const struct request_paths paths = { artifact, REFERENCE,
                                         has_files ? "." : NULL };
    char config[CONFIG_BYTES];
    char *name = mem_printf("%s.%s.request", artifact, shape_name);
    int rc = put_inputs(maker, shape);

    if (rc == 0)
        rc = plan_measure(maker->plan, unit, shape, &sampling, &text,
                          maker->err);
    if (rc == 0)
        rc = request_read(text, &paths, &request, maker->err);
    if (rc == 0)
        rc = write_request(maker, name, &request);
    plan_display(maker->plan, unit, config, sizeof(config));
    if (rc == 0)
        printf("%s %s\n", name, config);
    free(name);
    return rc;
}

static int make_all(struct maker *maker)
{
    int units = plan_units(maker->plan);
    int rc = make_artifact(maker, units, REFERENCE);

    for (int unit = 0; rc == 0 && unit < units; unit++) {
        char *name =
            mem_printf("%.*s", KEY_DIGITS, plan_unit(maker->plan, unit)->key);

        rc = make_artifact(maker, unit, name);
        for (int s = 0; rc == 0 && s < plan_shapes(maker->plan); s++)
            rc = put_request(maker, unit, s, name);
        free(name);
    }
    return rc;
}

static int make_folder(const char *path, struct err *err)
{
    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    return 0;
}

/* FOLDER, with a folder of its own for builds (build_dir.h). */
static int make_in_folder(struct maker *maker)
{
    char *builds = mem_printf("%s/tmp", maker->folder);
    int rc = make_folder(maker->folder, maker->err);

    if (rc == 0)
        rc = make_folder(builds, maker->err);
    if (rc == 0)
        rc = make_all(maker);
    (void)rmdir(builds); /* it is empty, or was not made */
    free(builds);
    return rc;
}

static int make(struct maker *maker, const char *sweep, char *configs[], int n)
{
    struct config_selection choice = { .cover = false };
    struct plan_ask ask = { .choice = &choice };
    const struct gpu_arch_facts *facts = gpu_arch_find(GPU_ARCH_DEFAULT);
    int rc = 0;

    if (!device_kind_is(maker->arch, DEVICE_KIND_CPU))
        rc = gpu_arch_find_named(maker->arch, &facts, maker->err);
    if (rc == 0)
        rc = spec_load(sweep, &maker->spec, maker->err);
    if (rc == 0)
        rc = space_open(maker->spec, facts, maker->device, NULL, &maker->space,
                        maker->err);
    for (int i = 0; rc == 0 && i < n; i++)
        rc = config_selection_named(&choice, maker->spec, configs[i],
                                    maker->err);
    if (rc == 0)
        ask.shapes = spec_shapes(maker->spec, maker->device, &ask.n_shapes);
    if (rc == 0)
        rc = plan_make(maker->spec, maker->space, &ask, maker->device,
                       maker->arch, &maker->plan, maker->err);
    if (rc == 0)
        rc = make_in_folder(maker);
    config_selection_fini(&choice);
    return rc;
}

int main(int argc, char *argv[])
{
    struct err err = { "" };
    struct maker maker = { .err = &err };
    int rc = argc >= 6 ? hash_setup(&err)
                       : err_set(&err, ERR_INPUT,
                                 "SWEEP ARCH COMPILER FOLDER CONFIG...");

    if (rc == 0) {
        maker.arch = argv[2];
        maker.compiler = argv[3];
        maker.folder = argv[4];
        maker.device = device_kind_name(device_kind_is(argv[2], DEVICE_KIND_CPU)
                                            ? DEVICE_KIND_CPU
                                            : DEVICE_KIND_CUDA);
        rc = make(&maker, argv[1], &argv[5], argc - 5);
    }
    if (rc < 0)
        fprintf(stderr, "bench_request: %s\n", err.text);
    plan_free(maker.plan);
    space_close(maker.space);
    spec_free(maker.spec);
    return rc < 0;
}
