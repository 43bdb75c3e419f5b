#include "worker/resources/resources.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/msg_host.h"
#include "common/outcome.h"
#include "worker/build/build.h"
#include "worker/build/compiler.h"
#include "worker/build/toolkit.h"
#include "worker/gpu/gpu_share.h"
#include "worker/process/sandbox.h"
#include "worker/process/sandbox_policy.h"
#include "worker/store/refusal.h"

enum stage {
    TOOLKIT,
    PROGRAMS, /* until the GPUs can be opened */
    GPUS,
    DONE
};

/* A program for the GPUs. */
struct program {
    struct build *build; /* NULL: it is not being built */
    int builds;          /* that crashed */
    char *path;          /* once built */
};

struct resources {
    char *device, *which, *nvcc, *allow; /* as requested */
    char *database;
    int64_t asked_slots;
    struct cache *cache;
    const struct gpu_share *share;
    struct sandbox *sandbox; /* of all programs; NULL in trouble */
    enum resources_state state;
    enum stage stage;
    const char *what;
    struct err err; /* once in trouble */
    struct toolkit *toolkit;
    struct build_tools compiling;
    struct program runner, facts; /* fa-runner, fa-facts */
    struct build *compiled;       /* the header; NULL: it is not being built */
    char header[HASH_HEX];        /* once built; builds look at it */
    struct gpus *gpus;            /* NULL: none */
    struct slots *slots;          /* once ready */
    struct tools *tools;          /* likewise */
    size_t n_slots;
    size_t fed; /* GPUs that have a core each */
};

#define PROGRAM_BUILDS_MAX 3
/* Open files: of the worker alone, for each slot, and for each GPU with its
 * runner and a tool. */
#define FILES_WORKER 40
#define FILES_SLOT 6
#define FILES_GPU 12

static void trouble(struct resources *resources, const char *what)
{
    resources->state = RESOURCES_TROUBLE;
    resources->what = what;
}

void resources_fail(struct resources *resources, const char *what,
                    const char *text)
{
    if (resources->state == RESOURCES_TROUBLE)
        return;
    err_set(&resources->err, ERR_SYSTEM, "%s", text);
    trouble(resources, what);
}

static bool has_gpus(const struct resources *resources)
{
    return strcmp(resources->which, "none") != 0;
}

size_t resources_slots_beside(size_t cores, size_t gpus)
{
    size_t n = cores > gpus ? cores - gpus : 1;

    return n < SLOTS_MAX ? n : SLOTS_MAX;
}

static size_t choose_slots(const struct resources *resources)
{
    cpu_set_t cpus;
    size_t cores = 1;

    if (resources->asked_slots > 0)
        return resources_slots_beside((size_t)resources->asked_slots, 0);
    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
        cores = (size_t)CPU_COUNT(&cpus);
    return resources_slots_beside(cores, resources->fed);
}

static int open_sandbox(struct resources *resources)
{
    return sandbox_policy_new(
        &(struct sandbox_policy){ .dir = cache_home(resources->cache),
                                  .home = getenv("HOME"),
                                  .database = resources->database,
                                  .allow = resources->allow },
        &resources->sandbox, &resources->err);
}

struct resources *resources_open(const struct msg_welcome *welcome,
                                 struct cache *cache,
                                 const struct gpu_share *share,
                                 const char *database, int64_t now_ns)
{
    struct resources *resources = mem_new(1, sizeof(*resources));

    resources->device = mem_strdup(welcome->device);
    resources->which = mem_strdup(welcome->gpus);
    resources->nvcc = mem_strdup(welcome->nvcc);
    resources->allow = mem_strdup(welcome->allow);
    resources->database = mem_strdup(database);
    resources->asked_slots = welcome->slots;
    resources->cache = cache;
    resources->share = share;
    if (open_sandbox(resources) < 0 ||
        toolkit_open(resources->device, resources->nvcc, resources->sandbox,
                     now_ns, &resources->toolkit, &resources->err) < 0)
        trouble(resources, "toolkit");
    return resources;
}

void resources_close(struct resources *resources)
{
    if (!resources)
        return;
    slots_free(resources->slots);
    tools_free(resources->tools);
    gpus_close(resources->gpus);
    build_free(resources->runner.build);
    build_free(resources->facts.build);
    build_free(resources->compiled);
    toolkit_close(resources->toolkit);
    free(resources->runner.path);
    free(resources->facts.path);
    free(resources->device);
    free(resources->which);
    free(resources->nvcc);
    free(resources->allow);
    free(resources->database);
    sandbox_free(resources->sandbox);
    free(resources);
}

bool resources_serves(const struct resources *resources,
                      const struct msg_welcome *welcome, const char *database)
{
    return resources->state != RESOURCES_TROUBLE &&
           strcmp(resources->device, welcome->device) == 0 &&
           strcmp(resources->which, welcome->gpus) == 0 &&
           strcmp(resources->nvcc, welcome->nvcc) == 0 &&
           strcmp(resources->allow, welcome->allow) == 0 &&
           resources->asked_slots == welcome->slots &&
           sandbox_policy_hides_both(resources->database, database);
}

bool resources_is_sound(const struct resources *resources)
{
    for (size_t i = 0; i < resources_n_gpus(resources); i++)
        if (gpu_state(gpus_at(resources->gpus, i)) == GPU_TROUBLE)
            return false;
    return resources->state == RESOURCES_READY;
}

size_t resources_poll(const struct resources *resources, struct pollfd *fds,
                      size_t max)
{
    size_t n = 0;

    if (resources->state == RESOURCES_TROUBLE)
        return 0;
    if (resources->stage == TOOLKIT)
        return toolkit_poll(resources->toolkit, fds, max);
    if (resources->runner.build)
        n = build_poll(resources->runner.build, fds, max);
    if (resources->facts.build)
        n += build_poll(resources->facts.build, fds + n, max - n);
    if (resources->compiled)
        n += build_poll(resources->compiled, fds + n, max - n);
    if (resources->gpus)
        n += gpus_poll(resources->gpus, fds + n, max - n);
    if (resources->slots)
        n += slots_poll(resources->slots, fds + n, max - n);
    if (resources->tools)
        n += tools_poll(resources->tools, fds + n, max - n);
    return n;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t resources_deadline_ns(const struct resources *resources)
{
    int64_t at_ns = INT64_MAX;

    if (resources->state == RESOURCES_TROUBLE)
        return INT64_MAX;
    if (resources->stage == TOOLKIT)
        return toolkit_deadline_ns(resources->toolkit);
    if (resources->runner.build)
        at_ns = earlier(at_ns, build_deadline_ns(resources->runner.build));
    if (resources->facts.build)
        at_ns = earlier(at_ns, build_deadline_ns(resources->facts.build));
    if (resources->compiled)
        at_ns = earlier(at_ns, build_deadline_ns(resources->compiled));
    if (resources->gpus)
        at_ns = earlier(at_ns, gpus_deadline_ns(resources->gpus));
    if (resources->slots)
        at_ns = earlier(at_ns, slots_deadline_ns(resources->slots));
    if (resources->tools)
        at_ns = earlier(at_ns, tools_deadline_ns(resources->tools));
    return at_ns;
}

void resources_end_tools(struct resources *resources)
{
    tools_free(resources->tools);
    resources->tools = tools_new(&(struct tool_box){
        .dir = cache_dir(resources->cache),
        .device = resources->device,
        .compiler = toolkit_path(resources->toolkit),
        .runner = resources->runner.path ? resources->runner.path : "",
        .sandbox = resources->sandbox });
}

static void be_ready(struct resources *resources)
{
    size_t gpus = resources->share ? gpu_share_wanted(resources->share)
                                   : resources_n_gpus(resources);

    resources->fed = gpus > 0 || !has_gpus(resources) ? gpus : 1;
    resources->n_slots = choose_slots(resources);
    if (limits_check_files((int)(FILES_WORKER + FILES_GPU * gpus +
                                 FILES_SLOT * resources->n_slots),
                           &resources->err) < 0) {
        trouble(resources, "limits");
        return;
    }
    resources->slots = slots_new(&resources->compiling, resources->n_slots);
    resources_end_tools(resources);
    resources->stage = DONE;
    resources->state = RESOURCES_READY;
}

/* Builds begin without it: waiting for it would cost more than it saves. */
static void start_header(struct resources *resources, int64_t now_ns)
{
    if (device_kind_is(resources->device, DEVICE_KIND_CPU) &&
        compiler_has_header(resources->compiling.toolkit))
        resources->compiled = build_start_header(&resources->compiling, now_ns);
}

static void step_header(struct resources *resources, int64_t now_ns)
{
    struct build_result result;

    if (!resources->compiled || !build_step(resources->compiled, now_ns))
        return;
    build_take_result(resources->compiled, &result);
    build_free(resources->compiled);
    resources->compiled = NULL;
    if (result.outcome == OUTCOME_BUILT)
        memcpy(resources->header, result.made.artifact, HASH_HEX);
    else
        log_line(LOG_W, "HEADER", "builds take longer: %s", result.detail);
    build_result_fini(&result);
}

static void step_toolkit(struct resources *resources, int64_t now_ns)
{
    int rc = toolkit_step(resources->toolkit, now_ns, &resources->err);

    if (rc < 0)
        trouble(resources, "toolkit");
    if (rc != 1)
        return;
    resources->compiling =
        (struct build_tools){ .cache = resources->cache,
                              .compiler = toolkit_path(resources->toolkit),
                              .toolkit = toolkit_text(resources->toolkit),
                              .sandbox = resources->sandbox,
                              .header = resources->header };
    start_header(resources, now_ns);
    if (!has_gpus(resources)) {
        be_ready(resources);
        return;
    }
    resources->stage = PROGRAMS;
    resources->runner.build =
        build_start_runner(&resources->compiling, resources->device, now_ns);
    if (device_kind_is(resources->device, DEVICE_KIND_CUDA) &&
        !build_step(resources->runner.build, now_ns))
        resources->facts.build =
            build_start_facts(&resources->compiling, now_ns);
}

/* With what there is: fa-runner, or else fa-facts. */
static void open_gpus(struct resources *resources, int64_t now_ns)
{
    const bool facts_only = !resources->runner.path;
    const struct gpu_spec spec = { .device = resources->device,
                                   .runner = facts_only
                                                 ? resources->facts.path
                                                 : resources->runner.path,
                                   .facts_only = facts_only,
                                   .dir = cache_dir(resources->cache),
                                   .home = cache_home(resources->cache),
                                   .sandbox = resources->sandbox };

    resources->stage = GPUS;
    if (gpus_open(&spec, resources->which, resources->share, now_ns,
                  &resources->gpus, &resources->err) < 0)
        trouble(resources, "device");
}

/* The result of a build that has ended: -1 if there is no program, and why is
 * in resources->err. */
static int take_program(struct resources *resources, struct program *program,
                        const char *name)
{
    struct build_result result;
    char path[PATH_MAX];
    int rc = 0;

    build_take_result(program->build, &result);
    build_free(program->build);
    program->build = NULL;
    if (result.outcome == OUTCOME_CRASH)
        program->builds++;
    if (result.outcome != OUTCOME_BUILT &&
        refusal_is_full(cache_dir(resources->cache), result.detail,
                        &resources->err))
        rc =
            err_within(&resources->err, ERR_DEVICE, "%s cannot be built", name);
    else if (result.outcome != OUTCOME_BUILT)
        rc = err_set(&resources->err, ERR_DEVICE, "%s cannot be built: %s",
                     name, result.detail);
    else if (!cache_path(resources->cache, result.made.artifact, path))
        rc = err_set(&resources->err, ERR_SYSTEM,
                     "%s is not in the worker's cache", name);
    else
        program->path = mem_strdup(path);
    build_result_fini(&result);
    return rc < 0 ? -1 : 0;
}

static void step_runner(struct resources *resources, int64_t now_ns)
{
    struct program *runner = &resources->runner;
    int crashes = runner->builds;

    if (!runner->build || !build_step(runner->build, now_ns))
        return;
    if (take_program(resources, runner, "fa-runner") == 0) {
        if (resources->gpus)
            gpus_use(resources->gpus, runner->path, now_ns);
        if (resources->tools)
            tools_use(resources->tools, runner->path);
    } else if (runner->builds > crashes &&
               runner->builds < PROGRAM_BUILDS_MAX) {
        /* the compiler was killed: not the machine's fault */
        runner->build = build_start_runner(&resources->compiling,
                                           resources->device, now_ns);
    } else {
        trouble(resources, "runner");
    }
}

/* Without it the GPUs wait for fa-runner, whose build says what is wrong. */
static void step_facts(struct resources *resources, int64_t now_ns)
{
    struct program *facts = &resources->facts;

    if (facts->build && build_step(facts->build, now_ns) &&
        take_program(resources, facts, "fa-facts") < 0)
        log_line(LOG_W, "FACTS-LATE", "%s", resources->err.text);
}

static void step_programs(struct resources *resources, int64_t now_ns)
{
    step_runner(resources, now_ns);
    step_facts(resources, now_ns);
    if (resources->state != RESOURCES_TROUBLE && resources->stage == PROGRAMS &&
        (resources->runner.path || resources->facts.path))
        open_gpus(resources, now_ns);
}

/* Every GPU that was opened has failed for good. */
static bool all_failed(struct resources *resources)
{
    for (size_t i = 0; i < resources_n_gpus(resources); i++)
        if (gpu_state(resources_gpu(resources, i)) != GPU_TROUBLE)
            return false;
    return resources_n_gpus(resources) > 0;
}

static void step_gpus(struct resources *resources, int64_t now_ns)
{
    int rc = gpus_step(resources->gpus, now_ns, &resources->err);

    if (rc < 0) {
        trouble(resources, gpus_are_taken(resources->gpus) ? "lock" : "device");
    } else if (rc == 1 && resources->stage == GPUS) {
        be_ready(resources);
    } else if (resources->stage == DONE && all_failed(resources)) {
        err_set(&resources->err, ERR_DEVICE, "%s",
                gpu_trouble(resources_gpu(resources, 0)));
        trouble(resources, "device");
    }
}

/* Run the stages in a loop: a cached runner ends at once, and nothing would
 * wake the main loop for it. */
enum resources_state resources_step(struct resources *resources, int64_t now_ns)
{
    if (resources->state == RESOURCES_TROUBLE)
        return resources->state;
    if (resources->stage == TOOLKIT)
        step_toolkit(resources, now_ns);
    if (resources->stage != TOOLKIT)
        step_programs(resources, now_ns);
    step_header(resources, now_ns);
    if (resources->gpus && resources->state != RESOURCES_TROUBLE)
        step_gpus(resources, now_ns);
    if (resources->slots)
        slots_step(resources->slots, now_ns);
    if (resources->tools)
        tools_step(resources->tools, now_ns);
    return resources->state;
}

void resources_grow(struct resources *resources, int64_t now_ns)
{
    if (resources->gpus && resources->state != RESOURCES_TROUBLE)
        gpus_grow(resources->gpus, resources->share, now_ns);
}

enum resources_state resources_state(const struct resources *resources)
{
    return resources->state;
}

const char *resources_what(const struct resources *resources)
{
    return resources->what;
}

const char *resources_why(const struct resources *resources)
{
    return resources->err.text;
}

const char *resources_toolkit(const struct resources *resources)
{
    return toolkit_text(resources->toolkit);
}

const char *resources_means(const struct resources *resources)
{
    return sandbox_policy_means(resources->sandbox);
}

const char *resources_warning(const struct resources *resources)
{
    return sandbox_policy_warning(resources->sandbox);
}

size_t resources_n_slots(const struct resources *resources)
{
    return resources->n_slots;
}

size_t resources_builds(const struct resources *resources, size_t workers)
{
    if (resources->asked_slots > 0 || workers < 2)
        return resources->n_slots;
    return resources_slots_beside(
        (resources->n_slots + resources->fed + workers - 1) / workers,
        resources->fed);
}

struct slots *resources_slots(struct resources *resources)
{
    return resources->slots;
}

struct tools *resources_tools(struct resources *resources)
{
    return resources->tools;
}

size_t resources_n_gpus(const struct resources *resources)
{
    return resources->gpus ? gpus_count(resources->gpus) : 0;
}

bool resources_lack_gpus(const struct resources *resources)
{
    return resources->gpus && gpus_lack_some(resources->gpus);
}

struct gpu *resources_gpu(struct resources *resources, size_t i)
{
    return gpus_at(resources->gpus, i);
}

int resources_gpu_index(struct resources *resources, const char *uuid)
{
    for (size_t i = 0; i < resources_n_gpus(resources); i++)
        if (strcmp(gpu_uuid(resources_gpu(resources, i)), uuid) == 0)
            return (int)i;
    return -1;
}
