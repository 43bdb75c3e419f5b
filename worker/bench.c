#include "worker/bench.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "worker/build.h"
#include "worker/toolkit.h"

enum stage {
    TOOLKIT,
    RUNNER,
    GPUS,
    DONE
};

struct bench {
    char *device, *which, *nvcc; /* as asked */
    int64_t asked_slots;
    struct cache *cache;
    enum bench_state state;
    enum stage stage;
    const char *what;
    struct err err; /* once in trouble */
    struct toolkit *toolkit;
    struct build_tools compiling;
    struct build *build; /* of the runner */
    int builds;          /* of it that crashed */
    struct gpus *gpus;   /* NULL: none */
    struct slots *slots; /* once ready */
    struct tools *tools; /* likewise */
    char *runner;        /* path of fa-runner, once built */
    size_t n_slots;
};

#define RUNNER_BUILDS_MAX 3

static void trouble(struct bench *bench, const char *what)
{
    bench->state = BENCH_TROUBLE;
    bench->what = what;
}

static bool has_gpus(const struct bench *bench)
{
    return strcmp(bench->which, "none") != 0;
}

/* One processor stays free for the GPUs' runners and this loop. */
static size_t choose_slots(const struct bench *bench)
{
    cpu_set_t cpus;
    size_t n = 1;

    if (bench->asked_slots > 0)
        n = (size_t)bench->asked_slots;
    else if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
        n = (size_t)CPU_COUNT(&cpus) - has_gpus(bench);
    if (n == 0)
        n = 1;
    return n < SLOTS_MAX ? n : SLOTS_MAX;
}

struct bench *bench_open(const struct msg *welcome, struct cache *cache,
                         int64_t now_ns)
{
    struct bench *bench = mem_new(1, sizeof(*bench));

    bench->device = mem_strdup(welcome->device);
    bench->which = mem_strdup(welcome->gpus);
    bench->nvcc = mem_strdup(welcome->nvcc);
    bench->asked_slots = welcome->slots;
    bench->cache = cache;
    if (toolkit_open(bench->device, bench->nvcc, now_ns, &bench->toolkit,
                     &bench->err) < 0)
        trouble(bench, "toolkit");
    return bench;
}

void bench_close(struct bench *bench)
{
    if (!bench)
        return;
    slots_free(bench->slots);
    tools_free(bench->tools);
    gpus_close(bench->gpus);
    build_free(bench->build);
    toolkit_close(bench->toolkit);
    free(bench->runner);
    free(bench->device);
    free(bench->which);
    free(bench->nvcc);
    free(bench);
}

bool bench_serves(const struct bench *bench, const struct msg *welcome)
{
    return bench->state != BENCH_TROUBLE &&
           strcmp(bench->device, welcome->device) == 0 &&
           strcmp(bench->which, welcome->gpus) == 0 &&
           strcmp(bench->nvcc, welcome->nvcc) == 0 &&
           bench->asked_slots == welcome->slots;
}

size_t bench_poll(const struct bench *bench, struct pollfd *fds, size_t max)
{
    size_t n = 0;

    if (bench->state == BENCH_TROUBLE)
        return 0;
    if (bench->stage == TOOLKIT)
        return toolkit_poll(bench->toolkit, fds, max);
    if (bench->stage == RUNNER)
        return build_poll(bench->build, fds, max);
    if (bench->gpus)
        n = gpus_poll(bench->gpus, fds, max);
    if (bench->slots)
        n += slots_poll(bench->slots, fds + n, max - n);
    if (bench->tools)
        n += tools_poll(bench->tools, fds + n, max - n);
    return n;
}

int64_t bench_deadline_ns(const struct bench *bench)
{
    int64_t gpus, slots, tools;

    if (bench->state == BENCH_TROUBLE)
        return INT64_MAX;
    if (bench->stage == TOOLKIT)
        return toolkit_deadline_ns(bench->toolkit);
    if (bench->stage == RUNNER)
        return build_deadline_ns(bench->build);
    gpus = bench->gpus ? gpus_deadline_ns(bench->gpus) : INT64_MAX;
    slots = bench->slots ? slots_deadline_ns(bench->slots) : INT64_MAX;
    tools = bench->tools ? tools_deadline_ns(bench->tools) : INT64_MAX;
    if (tools < slots)
        slots = tools;
    return gpus < slots ? gpus : slots;
}

static void be_ready(struct bench *bench)
{
    bench->n_slots = choose_slots(bench);
    bench->slots = slots_new(&bench->compiling, bench->n_slots);
    bench->tools = tools_new(
        &(struct tool_box){ .dir = cache_dir(bench->cache),
                            .device = bench->device,
                            .compiler = toolkit_path(bench->toolkit),
                            .runner = bench->runner ? bench->runner : "" });
    bench->stage = DONE;
    bench->state = BENCH_READY;
}

static void step_toolkit(struct bench *bench, int64_t now_ns)
{
    int rc = toolkit_step(bench->toolkit, now_ns, &bench->err);

    if (rc < 0)
        trouble(bench, "toolkit");
    if (rc != 1)
        return;
    bench->compiling =
        (struct build_tools){ .cache = bench->cache,
                              .compiler = toolkit_path(bench->toolkit),
                              .toolkit = toolkit_text(bench->toolkit) };
    if (!has_gpus(bench)) {
        be_ready(bench);
        return;
    }
    bench->stage = RUNNER;
    bench->build = build_start_runner(&bench->compiling, bench->device, now_ns);
}

static int open_gpus(struct bench *bench, const char *runner, int64_t now_ns)
{
    const struct gpu_spec spec = { .device = bench->device,
                                   .runner = runner,
                                   .dir = cache_dir(bench->cache) };

    return gpus_open(&spec, bench->which, now_ns, &bench->gpus, &bench->err);
}

static void step_runner(struct bench *bench, int64_t now_ns)
{
    struct build_result result;
    char path[PATH_MAX];

    if (!build_step(bench->build, now_ns))
        return;
    build_take_result(bench->build, &result);
    build_free(bench->build);
    bench->build = NULL;
    if (strcmp(result.outcome, "crash") == 0 &&
        ++bench->builds < RUNNER_BUILDS_MAX) {
        /* the compiler was killed: that says nothing about the box */
        bench->build =
            build_start_runner(&bench->compiling, bench->device, now_ns);
    } else if (strcmp(result.outcome, "built") != 0) {
        err_set(&bench->err, ERR_DEVICE, "fa-runner cannot be built: %s",
                result.detail);
        trouble(bench, "runner");
    } else if (!cache_path(bench->cache, result.made.artifact, path)) {
        err_set(&bench->err, ERR_SYSTEM, "fa-runner is not in the cache");
        trouble(bench, "runner");
    } else if (open_gpus(bench, path, now_ns) < 0) {
        trouble(bench, "device");
    } else {
        bench->runner = mem_strdup(path);
        bench->stage = GPUS;
    }
    build_result_fini(&result);
}

/* Every GPU that was opened has failed for good since. */
static bool all_failed(struct bench *bench)
{
    for (size_t i = 0; i < bench_n_gpus(bench); i++)
        if (gpu_state(bench_gpu(bench, i)) != GPU_TROUBLE)
            return false;
    return bench_n_gpus(bench) > 0;
}

static void step_gpus(struct bench *bench, int64_t now_ns)
{
    int rc = gpus_step(bench->gpus, now_ns, &bench->err);

    if (rc < 0) {
        trouble(bench, gpus_are_taken(bench->gpus) ? "lock" : "device");
    } else if (rc == 1 && bench->stage == GPUS) {
        be_ready(bench);
    } else if (bench->stage == DONE && all_failed(bench)) {
        err_set(&bench->err, ERR_DEVICE, "%s",
                gpu_trouble(bench_gpu(bench, 0)));
        trouble(bench, "device");
    }
}

/* One stage after the other: a runner that lies in the cache ends at once, and
 * nothing would wake the loop for it. */
enum bench_state bench_step(struct bench *bench, int64_t now_ns)
{
    if (bench->state == BENCH_TROUBLE)
        return bench->state;
    if (bench->stage == TOOLKIT)
        step_toolkit(bench, now_ns);
    if (bench->stage == RUNNER)
        step_runner(bench, now_ns);
    if (bench->gpus && bench->state != BENCH_TROUBLE)
        step_gpus(bench, now_ns);
    if (bench->slots)
        slots_step(bench->slots, now_ns);
    if (bench->tools)
        tools_step(bench->tools, now_ns);
    return bench->state;
}

enum bench_state bench_state(const struct bench *bench)
{
    return bench->state;
}

const char *bench_what(const struct bench *bench)
{
    return bench->what;
}

const char *bench_why(const struct bench *bench)
{
    return bench->err.text;
}

const char *bench_toolkit(const struct bench *bench)
{
    return toolkit_text(bench->toolkit);
}

size_t bench_n_slots(const struct bench *bench)
{
    return bench->n_slots;
}

struct slots *bench_slots(struct bench *bench)
{
    return bench->slots;
}

struct tools *bench_tools(struct bench *bench)
{
    return bench->tools;
}

size_t bench_n_gpus(const struct bench *bench)
{
    return bench->gpus ? gpus_count(bench->gpus) : 0;
}

struct gpu *bench_gpu(struct bench *bench, size_t i)
{
    return gpus_at(bench->gpus, i);
}

int bench_gpu_index(struct bench *bench, const char *uuid)
{
    for (size_t i = 0; i < bench_n_gpus(bench); i++)
        if (strcmp(gpu_uuid(bench_gpu(bench, i)), uuid) == 0)
            return (int)i;
    return -1;
}
