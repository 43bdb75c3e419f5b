#include "worker/resources/resources.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "common/mem.h"
#include "common/msg_host.h"
#include "common/outcome.h"
#include "worker/build/build.h"
#include "worker/build/toolkit.h"
#include "worker/gpu/gpu_share.h"
#include "worker/process/sandbox.h"
#include "worker/process/sandbox_policy.h"

enum build_dir {
    TOOLKIT,
    RUNNER,
    GPUS,
    DONE
};

struct resources {
    char *device, *which, *nvcc, *allow; /* as requested */
    int64_t asked_slots;
    struct cache *cache;
    const struct gpu_share *share;
    struct sandbox *sandbox; /* of all programs; NULL in trouble */
    enum resources_state state;
    enum build_dir stage;
    const char *what;
    struct err err; /* once in trouble */
    struct toolkit *toolkit;
    struct build_tools compiling;
    struct build *build; /* of the runner */
    int builds;          /* crashed builds of the runner */
    struct gpus *gpus;   /* NULL: none */
    struct slots *slots; /* once ready */
    struct tools *tools; /* likewise */
    char *runner;        /* path of fa-runner, once built */
    size_t n_slots;
    size_t fed; /* GPUs that have a core each */
};

#define RUNNER_BUILDS_MAX 3
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

static int open_sandbox(struct resources *resources, const char *database)
{
    return sandbox_policy_new(
        &(struct sandbox_policy){ .dir = cache_home(resources->cache),
                                  .home = getenv("HOME"),
                                  .database = database,
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
    resources->asked_slots = welcome->slots;
    resources->cache = cache;
    resources->share = share;
    if (open_sandbox(resources, database) < 0 ||
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
    build_free(resources->build);
    toolkit_close(resources->toolkit);
    free(resources->runner);
    free(resources->device);
    free(resources->which);
    free(resources->nvcc);
    free(resources->allow);
    sandbox_free(resources->sandbox);
    free(resources);
}

bool resources_serves(const struct resources *resources,
                      const struct msg_welcome *welcome)
{
    return resources->state != RESOURCES_TROUBLE &&
           strcmp(resources->device, welcome->device) == 0 &&
           strcmp(resources->which, welcome->gpus) == 0 &&
           strcmp(resources->nvcc, welcome->nvcc) == 0 &&
           strcmp(resources->allow, welcome->allow) == 0 &&
           resources->asked_slots == welcome->slots;
}

size_t resources_poll(const struct resources *resources, struct pollfd *fds,
                      size_t max)
{
    size_t n = 0;

    if (resources->state == RESOURCES_TROUBLE)
        return 0;
    if (resources->stage == TOOLKIT)
        return toolkit_poll(resources->toolkit, fds, max);
    if (resources->stage == RUNNER)
        return build_poll(resources->build, fds, max);
    if (resources->gpus)
        n = gpus_poll(resources->gpus, fds, max);
    if (resources->slots)
        n += slots_poll(resources->slots, fds + n, max - n);
    if (resources->tools)
        n += tools_poll(resources->tools, fds + n, max - n);
    return n;
}

int64_t resources_deadline_ns(const struct resources *resources)
{
    int64_t gpus, slots, tools;

    if (resources->state == RESOURCES_TROUBLE)
        return INT64_MAX;
    if (resources->stage == TOOLKIT)
        return toolkit_deadline_ns(resources->toolkit);
    if (resources->stage == RUNNER)
        return build_deadline_ns(resources->build);
    gpus = resources->gpus ? gpus_deadline_ns(resources->gpus) : INT64_MAX;
    slots = resources->slots ? slots_deadline_ns(resources->slots) : INT64_MAX;
    tools = resources->tools ? tools_deadline_ns(resources->tools) : INT64_MAX;
    if (tools < slots)
        slots = tools;
    return gpus < slots ? gpus : slots;
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
    resources->tools = tools_new(&(struct tool_box){
        .dir = cache_dir(resources->cache),
        .device = resources->device,
        .compiler = toolkit_path(resources->toolkit),
        .runner = resources->runner ? resources->runner : "",
        .sandbox = resources->sandbox });
    resources->stage = DONE;
    resources->state = RESOURCES_READY;
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
                              .sandbox = resources->sandbox };
    if (!has_gpus(resources)) {
        be_ready(resources);
        return;
    }
    resources->stage = RUNNER;
    resources->build =
        build_start_runner(&resources->compiling, resources->device, now_ns);
}

static int open_gpus(struct resources *resources, int64_t now_ns)
{
    const struct gpu_spec spec = { .device = resources->device,
                                   .runner = resources->runner,
                                   .dir = cache_dir(resources->cache),
                                   .home = cache_home(resources->cache),
                                   .sandbox = resources->sandbox };

    return gpus_open(&spec, resources->which, resources->share, now_ns,
                     &resources->gpus, &resources->err);
}

static void step_runner(struct resources *resources, int64_t now_ns)
{
    struct build_result result;
    char path[PATH_MAX];

    if (!build_step(resources->build, now_ns))
        return;
    build_take_result(resources->build, &result);
    build_free(resources->build);
    resources->build = NULL;
    if (result.outcome == OUTCOME_CRASH &&
        ++resources->builds < RUNNER_BUILDS_MAX) {
        /* the compiler was killed: not the machine's fault */
        resources->build = build_start_runner(&resources->compiling,
                                              resources->device, now_ns);
    } else if (result.outcome != OUTCOME_BUILT) {
        err_set(&resources->err, ERR_DEVICE, "fa-runner cannot be built: %s",
                result.detail);
        trouble(resources, "runner");
    } else if (!cache_path(resources->cache, result.made.artifact, path)) {
        err_set(&resources->err, ERR_SYSTEM,
                "fa-runner is not in the worker's cache");
        trouble(resources, "runner");
    } else {
        resources->runner = mem_strdup(path);
        resources->stage = GPUS;
        if (open_gpus(resources, now_ns) < 0)
            trouble(resources, "device");
    }
    build_result_fini(&result);
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
    if (resources->stage == RUNNER)
        step_runner(resources, now_ns);
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
