#include "tests/simulation/sim_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "tests/simulation/sim_tool.h"
#include "tests/simulation/sim_vice.h"
#include "tests/simulation/sim_world.h"

/* Configurations that compile to the same artifact as another one. */
#define TWINS_PERCENT 10
/* How much slower a hot GPU is; it must rest, and recovers. */
#define DRIFT 1.05
#define LIGHTER 50
#define DRIFT_NS (40 * NS_PER_S)

static uint64_t mix(const struct sim_world *world, const char *what,
                    const char *text)
{
    char whole[512];

    snprintf(whole, sizeof(whole), "%s/%s", what, text);
    return sim_mix(world, whole);
}

enum sim_truth sim_device_truth(const struct sim_world *world,
                                const char *config)
{
    static const enum sim_truth bad[] = {
        SIM_NOT_COMPILED, SIM_NOT_COMPILED, SIM_WRONG, SIM_WRONG, SIM_RUNTIME,
        SIM_DIES,         SIM_FLAKY,        SIM_FLAKY, SIM_HANGS, SIM_NO_BUILD
    };
    uint64_t h = mix(world, "truth", config);

    if ((int)(h % 100) >= world->scene.bad_percent)
        return SIM_RIGHT;
    return bad[h / 100 % (sizeof(bad) / sizeof(bad[0]))];
}

/* ---- builds ---- */

static void make_artifact(struct sim_world *world, size_t host,
                          const struct msg *lease, struct sim_answer *out)
{
    uint64_t h = mix(world, "artifact", lease->build.work.key);
    size_t len = world->scene.chunk_bytes + 64;
    char *bytes = mem_new(1, len);

    if ((int)(h % 100) < TWINS_PERCENT)
        h = h % 2;
    snprintf(bytes, len, "cubin %llx", (unsigned long long)h);
    hash_of(bytes, len, out->artifact);
    sim_cache_put(world, host, out->artifact, bytes, len);
    out->msg.built.artifact = out->artifact;
    out->msg.built.artifact_bytes = (int64_t)len;
    out->msg.built.usage.registers = 32;
    free(bytes);
}

static void build(struct sim_world *world, size_t host, const struct msg *lease,
                  struct sim_answer *out)
{
    enum sim_truth truth = sim_device_truth(world, lease->build.work.id.config);
    struct msg_result *result = &out->msg.built.result;

    out->msg = (struct msg){
        .type = MSG_BUILT,
        .built = { .result = { .outcome = "built", .detail = "", .seconds = 1 },
                   .artifact = "",
                   .log = "" }
    };
    if (truth == SIM_NOT_COMPILED) {
        result->outcome = "compile";
        result->detail = "error: too much shared memory";
    } else if (truth == SIM_NO_BUILD) {
        result->outcome = "timeout";
        result->detail = "the compiler ran for 300 s";
    } else if (truth == SIM_FLAKY && lease->build.work.id.attempt == 1) {
        result->outcome = "crash";
        result->detail = "the compiler was killed";
    } else {
        make_artifact(world, host, lease, out);
    }
}

/* ---- measurements ---- */

static int samples_wanted(const struct msg *lease)
{
    const char *request = lease->measure.launch.request;
    const char *line = request ? strstr(request, "\nsamples ") : NULL;
    int least = 0, most = 0;

    if (!line || sscanf(line, "\nsamples %d %d", &least, &most) != 2)
        return 5;
    least = least < 1 ? 1 : least;
    return least < SIM_SAMPLES_MAX ? least : SIM_SAMPLES_MAX;
}

/* In a sweep with canaries, some GPUs leave their level for a while. */
static double drift_of(const struct sim_world *world, const char *gpu)
{
    uint64_t h = mix(world, "drift", gpu);
    int64_t from_ns = (int64_t)(h % 60) * NS_PER_S;

    return world->scene.pass == SIM_PASS_CANARY && h % 3 == 0 &&
                   world->boot_ns >= from_ns &&
                   world->boot_ns < from_ns + DRIFT_NS
               ? DRIFT
               : 1;
}

static double time_of(const struct sim_world *world, const struct msg *lease)
{
    uint64_t h =
        mix(world, lease->measure.work.id.shape, lease->measure.work.id.config);
    uint64_t card = mix(world, "card", lease->measure.launch.gpu);

    return 1e-4 * (1 + (double)(h % 1000) / 250) *
           (1 + (double)(card % 100) / 2000);
}

static void time_it(struct sim_world *world, const struct msg *lease,
                    struct sim_answer *out)
{
    static const double states[] = { 1500, 1500, 1500 };
    static const double none[] = { 0, 0, 0 };
    struct msg_measured *measured = &out->msg.measured;
    int n = samples_wanted(lease);
    double sum = 0, base = time_of(world, lease) *
                           drift_of(world, lease->measure.launch.gpu);

    for (int i = 0; i < n; i++) {
        out->samples[i] =
            base * (1 + 0.002 * (double)sim_between(world, 0, 10));
        sum += out->samples[i];
    }
    measured->samples = (struct reals){ out->samples, (size_t)n };
    measured->sampling = "settled";
    measured->checked = (struct msg_checked){ n + 2, n % 2 };
    measured->l2 = "flush";
    measured->clock_mhz = measured->temp_c = measured->power_w =
        (struct reals){ states, 3 };
    measured->throttle = (struct reals){ none, 3 };
    measured->held_s = sum + 0.01;
}

static void measure(struct sim_world *world, const struct msg *lease,
                    struct sim_answer *out)
{
    enum sim_truth truth =
        sim_device_truth(world, lease->measure.work.id.config);
    struct msg_measured *measured = &out->msg.measured;
    struct msg_result *result = &measured->result;

    out->msg =
        (struct msg){ .type = MSG_MEASURED,
                      .measured = { .result = { .outcome = "correct",
                                                .detail = "",
                                                .seconds = 0.1 },
                                    .gpu = lease->measure.launch.gpu,
                                    .artifact = lease->measure.launch.artifact,
                                    .argument = "",
                                    .relative_l2 = 1e-8,
                                    .max_error = 1e-7,
                                    .sampling = "none",
                                    .l2 = "none",
                                    .checked = { -1, -1 },
                                    .held_s = 0.01 } };
    if (truth == SIM_WRONG) {
        result->outcome = "correctness";
        result->detail = "out differs";
        measured->argument = "out";
        measured->relative_l2 = measured->max_error = 7;
    } else if (truth == SIM_RUNTIME) {
        result->outcome = "runtime";
        result->detail = "misaligned address";
    } else if (truth == SIM_HANGS) {
        result->outcome = "timeout";
        result->detail = "it ran for 10 s";
    } else if (truth == SIM_DIES ||
               (truth == SIM_FLAKY && lease->measure.work.id.attempt == 1)) {
        result->outcome = "crash";
        result->detail = "the runner was killed";
    } else {
        time_it(world, lease, out);
    }
}

void sim_device_answer(struct sim_world *world, size_t host,
                       const struct msg *lease, struct sim_answer *out)
{
    if (lease->type == MSG_BUILD)
        build(world, host, lease, out);
    else if (lease->type == MSG_MEASURE)
        measure(world, lease, out);
    else
        sim_tool_run(world, host, lease, out);
}

int64_t sim_device_takes_ns(struct sim_world *world, size_t host,
                            const struct msg *lease)
{
    enum sim_truth truth = sim_device_truth(world, msg_work(lease)->id.config);
    int64_t slow = world->scene.slow;

    if (lease->type == MSG_BUILD && truth == SIM_NO_BUILD)
        return lease->build.limit_ms * NS_PER_MS;
    if (lease->type == MSG_MEASURE && truth == SIM_HANGS)
        return 10 * NS_PER_S;
    if (sim_vice_is_late(world, host))
        return sim_between(world, 40, 240) * NS_PER_S;
    if (lease->type == MSG_BUILD)
        return slow * sim_between(world, 200, 2000) * NS_PER_MS;
    /* Of every third sweep the kernel is light, so that GPUs have much ahead.
     */
    return slow * sim_between(world, 30, 300) * NS_PER_MS /
           (mix(world, "light", "") % 3 == 0 ? LIGHTER : 1);
}
