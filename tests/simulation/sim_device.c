#include "tests/simulation/sim_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "tests/simulation/sim_tool.h"
#include "tests/simulation/sim_vice.h"
#include "tests/simulation/sim_world.h"

/* Two configurations in so many compile to the same artifact as another. */
#define TWINS_PERCENT 10

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
    uint64_t h = mix(world, "artifact", lease->key);
    size_t len = world->scene.chunk_bytes + 64;
    char *bytes = mem_new(1, len);

    if ((int)(h % 100) < TWINS_PERCENT)
        h = h % 2;
    snprintf(bytes, len, "cubin %llx", (unsigned long long)h);
    hash_of(bytes, len, out->artifact);
    sim_cache_put(world, host, out->artifact, bytes, len);
    out->msg.artifact = out->artifact;
    out->msg.artifact_bytes = (int64_t)len;
    out->msg.registers = 32;
    free(bytes);
}

static void build(struct sim_world *world, size_t host, const struct msg *lease,
                  struct sim_answer *out)
{
    enum sim_truth truth = sim_device_truth(world, lease->id.config);
    struct msg *msg = &out->msg;

    *msg = (struct msg){ .type = MSG_BUILT,
                         .outcome = "built",
                         .detail = "",
                         .log = "",
                         .artifact = "",
                         .seconds = 1 };
    if (truth == SIM_NOT_COMPILED) {
        msg->outcome = "compile";
        msg->detail = "error: too much shared memory";
    } else if (truth == SIM_NO_BUILD) {
        msg->outcome = "timeout";
        msg->detail = "the compiler ran for 300 s";
    } else if (truth == SIM_FLAKY && lease->id.attempt == 1) {
        msg->outcome = "crash";
        msg->detail = "the compiler was killed";
    } else {
        make_artifact(world, host, lease, out);
    }
}

/* ---- measurements ---- */

static int samples_wanted(const struct msg *lease)
{
    const char *line =
        lease->request ? strstr(lease->request, "\nsamples ") : NULL;
    int least = 0, most = 0;

    if (!line || sscanf(line, "\nsamples %d %d", &least, &most) != 2)
        return 5;
    least = least < 1 ? 1 : least;
    return least < SIM_SAMPLES_MAX ? least : SIM_SAMPLES_MAX;
}

static double time_of(const struct sim_world *world, const struct msg *lease)
{
    uint64_t h = mix(world, lease->id.shape, lease->id.config);
    uint64_t card = mix(world, "card", lease->gpu);

    return 1e-4 * (1 + (double)(h % 1000) / 250) *
           (1 + (double)(card % 100) / 2000);
}

static void time_it(struct sim_world *world, const struct msg *lease,
                    struct sim_answer *out)
{
    static const double states[] = { 1500, 1500, 1500 };
    static const double none[] = { 0, 0, 0 };
    struct msg *msg = &out->msg;
    int n = samples_wanted(lease);
    double sum = 0, base = time_of(world, lease);

    for (int i = 0; i < n; i++) {
        out->samples[i] =
            base * (1 + 0.002 * (double)sim_between(world, 0, 10));
        sum += out->samples[i];
    }
    msg->samples = (struct reals){ out->samples, (size_t)n };
    msg->sampling = "settled";
    msg->l2 = "flush";
    msg->clock_mhz = msg->temp_c = msg->power_w = (struct reals){ states, 3 };
    msg->throttle = (struct reals){ none, 3 };
    msg->held_s = sum + 0.01;
}

static void measure(struct sim_world *world, const struct msg *lease,
                    struct sim_answer *out)
{
    enum sim_truth truth = sim_device_truth(world, lease->id.config);
    struct msg *msg = &out->msg;

    *msg = (struct msg){ .type = MSG_MEASURED,
                         .gpu = lease->gpu,
                         .artifact = lease->artifact,
                         .outcome = "correct",
                         .detail = "",
                         .argument = "",
                         .relative_l2 = 1e-8,
                         .max_error = 1e-7,
                         .sampling = "none",
                         .l2 = "none",
                         .held_s = 0.01,
                         .seconds = 0.1 };
    if (truth == SIM_WRONG) {
        msg->outcome = "correctness";
        msg->detail = "out differs";
        msg->argument = "out";
        msg->relative_l2 = msg->max_error = 7;
    } else if (truth == SIM_RUNTIME) {
        msg->outcome = "runtime";
        msg->detail = "misaligned address";
    } else if (truth == SIM_HANGS) {
        msg->outcome = "timeout";
        msg->detail = "it ran for 10 s";
    } else if (truth == SIM_DIES ||
               (truth == SIM_FLAKY && lease->id.attempt == 1)) {
        msg->outcome = "crash";
        msg->detail = "the runner was killed";
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
    enum sim_truth truth = sim_device_truth(world, lease->id.config);
    int64_t slow = world->scene.slow;

    if (lease->type == MSG_BUILD && truth == SIM_NO_BUILD)
        return lease->limit_ms * NS_PER_MS;
    if (lease->type == MSG_MEASURE && truth == SIM_HANGS)
        return 10 * NS_PER_S;
    if (sim_vice_is_late(world, host))
        return sim_between(world, 40, 240) * NS_PER_S;
    if (lease->type == MSG_BUILD)
        return slow * sim_between(world, 200, 2000) * NS_PER_MS;
    return slow * sim_between(world, 30, 300) * NS_PER_MS;
}
