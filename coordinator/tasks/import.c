#include "coordinator/tasks/import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/device_kind.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/msg_result.h"
#include "common/msg_values.h"
#include "common/outcome.h"
#include "coordinator/plan/plan.h"
#include "coordinator/replay/replay.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"
#include "coordinator/stats/stats.h"
#include "coordinator/store/store.h"

#define HOST "recorded"
#define DEVICE device_kind_name(DEVICE_KIND_REPLAY)
#define TEXT_MAX (1 << 20)

struct import {
    struct store *store;
    const struct spec *spec;
    const struct replay *replay;
    struct plan *plan;
    int64_t epoch, sweep; /* of the run; the row */
    char gpu[HASH_HEX + 16];
    struct value *values; /* values of the current unit */
    struct err *err;
};

static const struct gpu_arch_facts nothing_known = {
    .arch = 0,
    .sm_count = GPU_ARCH_UNKNOWN,
    .smem_per_block = GPU_ARCH_UNKNOWN,
    .smem_per_sm = GPU_ARCH_UNKNOWN,
    .regs_per_block = GPU_ARCH_UNKNOWN,
    .regs_per_sm = GPU_ARCH_UNKNOWN,
    .threads_per_sm = GPU_ARCH_UNKNOWN,
    .blocks_per_sm = GPU_ARCH_UNKNOWN,
    .max_threads_per_block = GPU_ARCH_UNKNOWN,
    .l2_bytes = GPU_ARCH_UNKNOWN,
    .mem_bytes = GPU_ARCH_UNKNOWN,
    .dram_bytes_per_s = GPU_ARCH_UNKNOWN,
    .sm_clock_hz = GPU_ARCH_UNKNOWN,
    .mma_flops_per_clock_sm = GPU_ARCH_UNKNOWN,
};

static int put_run(struct import *import)
{
    char machine[256] = "";

    gethostname(machine, sizeof(machine) - 1);
    return store_run_start(import->store,
                           &(struct store_run){ .epoch = import->epoch,
                                                .pid = getpid(),
                                                .machine = machine,
                                                .version = FA_VERSION,
                                                .command = "import" },
                           import->err);
}

static int put_sweep(struct import *import)
{
    const struct spec *spec = import->spec;
    char *recorded = replay_json(import->replay), key[HASH_HEX];
    char *settings =
        mem_printf("{\"recorded\": %s, \"asked\": false}", recorded);
    int units = plan_units(import->plan), rc;
    struct hash hash;
    struct buf facts;

    hash_init(&hash);
    hash_text(&hash, "import");
    hash_field(&hash, spec->file.text, spec->file.len);
    hash_text(&hash, recorded);
    hash_end(&hash, key);
    buf_init(&facts, TEXT_MAX);
    gpu_arch_json(&nothing_known, &facts);
    rc = store_sweep_put(import->store,
                         &(struct store_sweep){ .key = key,
                                                .name = spec->name,
                                                .folder = spec->file.folder,
                                                .file = spec->file.name,
                                                .hosts_file = "",
                                                .spec = spec->file.text,
                                                .device = DEVICE,
                                                .arch = DEVICE,
                                                .facts = buf_text(&facts),
                                                .settings = settings,
                                                .configurations = units,
                                                .passed = units,
                                                .created_utc = import->epoch },
                         &import->sweep, import->err);
    buf_fini(&facts);
    free(settings);
    free(recorded);
    if (rc < 0)
        return rc;
    return store_shape_put(
        import->store,
        &(struct store_shape){ .sweep = import->sweep,
                               .name = plan_shape_name(import->plan, 0),
                               .vars = "{}",
                               .floor_s = NAN },
        import->err);
}

static int put_place(struct import *import)
{
    char *name =
        mem_printf("%s (recorded)", replay_device_shown(import->replay));
    char id[HASH_HEX];
    int rc;

    hash_of(name, strlen(name), id);
    snprintf(import->gpu, sizeof(import->gpu), "RECORDED-%s", id);
    rc = store_host_put(
        import->store,
        &(struct store_host){ .name = HOST, .rate_usd_per_h = NAN },
        import->err);
    if (rc == 0)
        rc = store_gpu_put(import->store,
                           &(struct store_gpu){ .uuid = import->gpu,
                                                .host = HOST,
                                                .name = name,
                                                .driver = "",
                                                .facts = "{}" },
                           import->err);
    free(name);
    return rc;
}

static void nonce_of(const char *stage, const char *key, char out[HASH_HEX])
{
    struct hash hash;

    hash_init(&hash);
    hash_text(&hash, stage);
    hash_text(&hash, key);
    hash_end(&hash, out);
}

static int put_config(struct import *import, int unit)
{
    const struct plan_unit *u = plan_unit(import->plan, unit);
    char *params = plan_params(import->plan, unit);
    int rc = store_config_put(import->store,
                              &(struct store_config){
                                  .key = u->key,
                                  .sweep = import->sweep,
                                  .point = u->point,
                                  .baseline = u->baseline,
                                  .params = params,
                                  .warnings = "[]",
                                  .source_key = u->source_key,
                              },
                              import->err);

    free(params);
    return rc;
}

/* When it was recorded, as far as the record says so. */
static int64_t utc_of(const struct import *import,
                      const struct landscape_config *config)
{
    return config->recorded_utc > 0 ? config->recorded_utc : import->epoch;
}

/* The reason, if the record has only a word for it. */
static char *reason_of(const struct import *import,
                       const struct landscape_config *config)
{
    if (config->outcome == OUTCOME_CORRECT)
        return mem_strdup("");
    if (config->reason && config->reason[0])
        return mem_strdup(config->reason);
    return mem_printf("recorded as '%s' on %s, without details",
                      outcome_name(config->outcome),
                      replay_device_shown(import->replay));
}

static int put_build(struct import *import, int unit,
                     const struct landscape_config *config, const char *reason,
                     const char *artifact, const char *nonce)
{
    const struct plan_unit *u = plan_unit(import->plan, unit);
    bool built = config->outcome != OUTCOME_COMPILE;
    char key[HASH_HEX];
    int rc;

    plan_build_key(import->plan, unit, HOST, key);
    rc = store_build_put(
        import->store,
        &(struct store_build){
            .nonce = nonce,
            .epoch = import->epoch,
            .config = u->key,
            .purpose = "kernel",
            .attempt = 1,
            .source_key = u->source_key,
            .build_key = key,
            .host = HOST,
            .outcome = outcome_name(built ? OUTCOME_BUILT : OUTCOME_COMPILE),
            .detail = built ? "" : reason,
            .artifact = built ? artifact : "",
            .seconds = config->compile_s,
            .registers = -1,
            .spill_bytes = -1,
            .static_smem = -1,
            .log = "",
            .received_utc = utc_of(import, config),
        },
        import->err);
    return err_only(rc);
}

static struct reals samples_of(const struct import *import,
                               const struct landscape_config *config)
{
    const struct landscape *land = replay_landscape(import->replay);
    size_t n = (size_t)config->samples_n;

    if (config->outcome != OUTCOME_CORRECT)
        return (struct reals){ NULL, 0 };
    if (n == 0)
        return (struct reals){ &config->time_s, 1 };
    return (struct reals){ &land->samples[config->sample_at],
                           n < MSG_SAMPLES_MAX ? n : MSG_SAMPLES_MAX };
}

static int put_result(struct import *import, int unit,
                      const struct landscape_config *config, const char *reason,
                      const char *artifact, const char *nonce)
{
    const struct plan_unit *u = plan_unit(import->plan, unit);
    struct reals samples = samples_of(import, config);
    double held_s = 0;
    int rc;

    for (size_t i = 0; i < samples.n; i++)
        held_s += samples.items[i];
    held_s = config->verify_s + fmax(config->bench_s, held_s);
    rc = store_result_put(
        import->store,
        &(struct store_result){
            .nonce = nonce,
            .epoch = import->epoch,
            .id.config = u->key,
            .id.shape = plan_shape_name(import->plan, 0),
            .id.purpose = "screen",
            .attempt = 1,
            .id.source_key = u->source_key,
            .id.measure_key = plan_measure_key(import->plan, 0),
            .host = HOST,
            .gpu = import->gpu,
            .artifact = artifact,
            .outcome = outcome_name(config->outcome),
            .detail = reason,
            .error.argument = "",
            .error.relative_l2 = NAN,
            .error.max_error = NAN,
            .error.max_at = -1,
            .checked = { -1, -1 },
            .timing.samples = samples,
            .held_s = held_s,
            .seconds = held_s,
            .use = { -1, -1, -1 },
            .received_utc = utc_of(import, config),
        },
        import->err);
    return err_only(rc);
}

static int put_outcome(struct import *import, int unit,
                       const struct landscape_config *config,
                       const char *reason, const char *nonce)
{
    const struct plan_unit *u = plan_unit(import->plan, unit);
    struct reals samples = samples_of(import, config);
    struct summary times = { .median = NAN };
    int rc;

    if (samples.n)
        stats_summary(samples.items, samples.n, &times);
    rc = store_outcome_put(import->store,
                           &(struct store_outcome){
                               .config = u->key,
                               .shape = plan_shape_name(import->plan, 0),
                               .source_key = u->source_key,
                               .measure_key = plan_measure_key(import->plan, 0),
                               .outcome = outcome_name(config->outcome),
                               .reason = reason,
                               .nonce = nonce,
                               .median_s = times.median,
                               .attempts = 1,
                               .settled_utc = import->epoch,
                           },
                           import->err);
    return err_only(rc);
}

static int put_unit(struct import *import, int unit)
{
    const struct plan_unit *u = plan_unit(import->plan, unit);
    const struct landscape_config *config;
    char build[HASH_HEX], result[HASH_HEX], artifact[HASH_HEX];
    bool measured;
    char *reason;
    int rc = put_config(import, unit);

    plan_values(import->plan, unit, import->values);
    config = replay_config(import->replay, import->values);
    measured = config->outcome != OUTCOME_COMPILE;
    reason = reason_of(import, config);
    nonce_of("build", u->key, build);
    nonce_of("result", u->key, result);
    nonce_of("artifact", u->key, artifact);
    if (rc == 0 && config->outcome != OUTCOME_CONSTRAINTS)
        rc = put_build(import, unit, config, reason, artifact, build);
    if (rc == 0 && measured)
        rc = put_result(import, unit, config, reason, artifact, result);
    if (rc == 0)
        rc = put_outcome(import, unit, config, reason,
                         measured ? result : build);
    free(reason);
    return rc;
}

static int put_all(struct import *import)
{
    int rc = put_run(import);

    if (rc == 0)
        rc = put_sweep(import);
    if (rc == 0)
        rc = put_place(import);
    for (int unit = 0; rc == 0 && unit < plan_units(import->plan); unit++)
        rc = put_unit(import, unit);
    if (rc == 0)
        rc = store_run_end(import->store, import->epoch, "done", clock_utc_ns(),
                           import->err);
    return rc == 0 ? store_commit(import->store, import->err) : rc;
}

int import_put(struct store *store, const struct spec *spec,
               const struct replay *replay, int *n, struct err *err)
{
    struct import import = { .store = store,
                             .spec = spec,
                             .replay = replay,
                             .epoch = clock_utc_ns(),
                             .err = err };
    struct space *space = NULL;
    int rc = space_open(spec, &nothing_known, DEVICE,
                        replay_points(spec->replay), &space, err);

    if (rc == 0)
        rc = plan_make(spec, space, NULL, DEVICE, DEVICE, &import.plan, err);
    import.values = mem_new(spec->space.n_axes, sizeof(*import.values));
    if (rc == 0)
        rc = put_all(&import);
    if (rc == 0)
        *n = plan_units(import.plan);
    free(import.values);
    plan_free(import.plan);
    space_close(space);
    return rc;
}
