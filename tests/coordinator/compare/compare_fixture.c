#include "tests/coordinator/compare/compare_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/config/config.h"
#include "coordinator/confirm/confirmation.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_contest.h"
#include "tests/coordinator/noise.h"

#define UTC INT64_C(1700000000000000000)
#define SECOND INT64_C(1000000000)
#define SCREEN_SAMPLES 7
#define BLOCK_SAMPLES 3
#define CANARIES 6
#define TEXT_MAX 4096

const struct compare_named compare_named[] = {
    { "base", { .seed = 1, .factor = 1, .noise = 0.005, .blocks = 8 } },
    { "faster", { .seed = 2, .factor = 0.9, .noise = 0.005, .blocks = 8 } },
    { "slower", { .seed = 3, .factor = 1.1, .noise = 0.005, .blocks = 8 } },
    { "noisy", { .seed = 4, .factor = 1.02, .noise = 0.2, .blocks = 8 } },
    { NULL, { .seed = 0 } },
};

static const double times_us[COMPARE_CONFIGS] = {
    150, 148, 131, 128, 104, 100, 119, 117, 140, 138, 160, 133,
};

static const char spec_text[] =
    "{ \"name\": \"vector_add\","
    " \"kernel\": { \"source\": \"vector_add.cu\","
    "  \"entry\": \"vector_add\", \"standard\": \"c++17\" },"
    " \"tunables\": { \"BLOCK\": [64, 128, 256], \"WARPS\": [4, 8],"
    "  \"VECTOR\": [false, true] },"
    " \"launch\": { \"grid\": [\"N / BLOCK\"], \"block\": [\"BLOCK\"],"
    "  \"smem\": \"0\" },"
    " \"shapes\": [ { \"name\": \"n16m\", \"N\": 16777216 } ],"
    " \"arguments\": [ { \"name\": \"out\", \"type\": \"fp32\","
    "  \"shape\": [\"N\"], \"output\": true } ],"
    " \"reference\": { \"source\": \"reference.cu\", \"entry\": \"ref\","
    "  \"launch\": { \"grid\": [\"N / 256\"], \"block\": [\"256\"],"
    "   \"smem\": \"0\" } },"
    " \"tolerance\": { \"relative_l2\": 1e-6, \"max_error\": 1e-5 },"
    " \"measure\": { \"l2\": \"%s\" },"
    " \"baseline\": { \"BLOCK\": 64, \"WARPS\": 4, \"VECTOR\": false } }";

struct making {
    const struct compare_plan *plan;
    struct store *store;
    struct spec *spec;
    struct noise_stream noise;
    char keys[COMPARE_CONFIGS][HASH_HEX];
    int64_t sweep, results, now;
};

static const char *or_usual(const char *text, const char *usual)
{
    return text ? text : usual;
}

static void ok(int rc, const struct err *err)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "compare_fixture: %s\n", err->text);
    abort();
}

static void values_of(int i, struct value *out)
{
    static const int64_t blocks[] = { 64, 128, 256 };

    out[0] = (struct value){ .kind = VALUE_INT, .integer = blocks[i / 4] };
    out[1] = (struct value){ .kind = VALUE_INT, .integer = i / 2 % 2 ? 8 : 4 };
    out[2] = (struct value){ .kind = VALUE_BOOL, .integer = i % 2 };
    for (int v = 0; v < 3; v++)
        out[v].real = (double)out[v].integer;
}

/* ---- the sweep */

static char *facts_of(const char *arch)
{
    struct buf facts;
    char *text;

    buf_init(&facts, TEXT_MAX);
    gpu_arch_json(gpu_arch_find(arch), &facts);
    text = mem_strdup(buf_text(&facts));
    buf_fini(&facts);
    return text;
}

static void put_sweep(struct making *making)
{
    const struct compare_plan *plan = making->plan;
    const char *arch = or_usual(plan->arch, "sm_89");
    char *facts = facts_of(arch);
    char *text = mem_printf(spec_text, or_usual(plan->l2, "flush"));
    struct store_sweep sweep = {
        .key = "5eed",
        .name = or_usual(plan->name, "vector_add"),
        .folder = "/home/ada/vector_add",
        .file = "sweep.json",
        .hosts_file = "/home/ada/hosts.txt",
        .spec = text,
        .device = or_usual(plan->device, "cuda"),
        .arch = arch,
        .facts = facts,
        .settings = "{}",
        .configurations = COMPARE_CONFIGS,
        .passed = COMPARE_CONFIGS,
        .created_utc = UTC,
    };
    struct store_shape shape = { 0, 0, "n16m", "{\"N\":16777216}", NAN, NULL };
    struct err err = { "" };

    ok(spec_parse("/home/ada/vector_add", "sweep.json", text, strlen(text),
                  &making->spec, &err),
       &err);
    ok(store_sweep_put(making->store, &sweep, &making->sweep, &err), &err);
    shape.sweep = making->sweep;
    ok(store_shape_put(making->store, &shape, &err), &err);
    free(text);
    free(facts);
}

static void put_configs(struct making *making)
{
    struct err err = { "" };

    for (int i = 0; i < COMPARE_CONFIGS; i++) {
        struct store_config config = { .sweep = making->sweep,
                                       .point = i,
                                       .baseline = i == COMPARE_BASELINE,
                                       .warnings = "[]",
                                       .source_key = "50" };
        struct value values[3];
        struct buf params;

        values_of(i, values);
        config_key(making->spec, values, making->keys[i]);
        buf_init(&params, TEXT_MAX);
        config_json(making->spec, values, &params);
        config.key = making->keys[i];
        config.params = buf_text(&params);
        ok(store_config_put(making->store, &config, &err), &err);
        buf_fini(&params);
    }
}

static void put_machine(struct making *making)
{
    const struct compare_plan *plan = making->plan;
    const char *arch = or_usual(plan->arch, "sm_89");
    char *facts = facts_of(arch);
    struct store_host host = { .name = "gpu1",
                               .rate_usd_per_h = 0.68,
                               .machine = "box",
                               .boot_id = "b007",
                               .worker_version = "0.1.0",
                               .toolkit = "13.0.88",
                               .cpus = 16,
                               .slots = 8 };
    struct store_gpu gpu = { .uuid = or_usual(plan->uuid, "GPU-1"),
                             .host = "gpu1",
                             .name = gpu_arch_gpu_name(gpu_arch_find(arch)),
                             .driver = or_usual(plan->driver, "580.65"),
                             .facts = facts };
    struct err err = { "" };

    ok(store_host_put(making->store, &host, &err), &err);
    ok(store_gpu_put(making->store, &gpu, &err), &err);
    free(facts);
}

/* ---- results */

static double time_of(const struct making *making, int i)
{
    const struct compare_plan *plan = making->plan;

    double us = plan->close && i == COMPARE_SECOND
                    ? 1.01 * times_us[COMPARE_FASTEST]
                    : times_us[i];

    if (plan->fastest > 0 && i == COMPARE_FASTEST)
        us *= plan->fastest;
    return us * 1e-6 * plan->factor * (plan->slow && i == plan->slow ? 1.2 : 1);
}

static bool fails(const struct making *making, int i)
{
    return i == COMPARE_FAILED ||
           (making->plan->fails && i == making->plan->fails);
}

static double drift_of(const struct compare_plan *plan, const char *purpose,
                       int round)
{
    int block = round - CONFIRMATION_ROUNDS;

    return strcmp(purpose, "confirm") == 0 && plan->blocks > 0
               ? plan->drift * block / plan->blocks
               : 0;
}

/* Store one measurement; returns its nonce, for the caller to free. */
static char *put_result(struct making *making, int i, const char *purpose,
                        int round, int n)
{
    static const double clock[] = { 2040, 2025 }, temperature[] = { 41, 42 };
    double samples[SCREEN_SAMPLES];
    char artifact[HASH_HEX], *nonce;
    struct store_result result = {
        .epoch = UTC,
        .id.config = making->keys[i],
        .id.shape = "n16m",
        .id.purpose = purpose,
        .id.round = round,
        .attempt = 1,
        .id.source_key = "50",
        .id.measure_key = "3e",
        .host = "gpu1",
        .gpu = or_usual(making->plan->uuid, "GPU-1"),
        .artifact = artifact,
        .outcome = fails(making, i) ? "runtime" : "correct",
        .detail = fails(making, i) ? "misaligned address" : "",
        .error.argument = "",
        .error.relative_l2 = fails(making, i) ? NAN : 1e-7,
        .error.max_error = fails(making, i) ? NAN : 1e-6,
        .timing.samples = { samples, fails(making, i) ? 0 : (size_t)n },
        .timing.sampling = fails(making, i) ? "none" : "fixed",
        .timing.l2 =
            fails(making, i) ? "none" : or_usual(making->plan->l2, "flush"),
        .checked = { -1, -1 },
        .timing.blocked = !fails(making, i),
        .around.clock_mhz = { clock, 2 },
        .around.temp_c = { temperature, 2 },
        .held_s = 0.02,
        .seconds = 0.05,
        .use.registers = 32,
        .received_utc = making->now += SECOND,
    };
    struct err err = { "" };

    for (int k = 0; k < n; k++)
        samples[k] = time_of(making, i) *
                     exp(drift_of(making->plan, purpose, round) +
                         making->plan->noise * noise_normal(&making->noise));
    if (making->plan->late && n == SCREEN_SAMPLES)
        samples[3] *= 100;
    snprintf(artifact, sizeof(artifact), "%02x%s%02d", i,
             making->plan->same_code ? "c0" : "d1",
             making->plan->same_code ? 0 : (int)making->plan->seed);
    nonce =
        mem_printf("%02d%s%04d%04d", i, purpose, round, (int)making->results++);
    result.nonce = nonce;
    ok(store_result_put(making->store, &result, &err), &err);
    return nonce;
}

static void screen(struct making *making, int i)
{
    char *nonce = put_result(making, i, "screen", 0, SCREEN_SAMPLES);
    struct store_outcome outcome = {
        .config = making->keys[i],
        .shape = "n16m",
        .source_key = "50",
        .measure_key = "3e",
        .outcome = fails(making, i) ? "runtime" : "correct",
        .reason = fails(making, i) ? "misaligned address" : "",
        .nonce = nonce,
        .median_s = fails(making, i) ? NAN : time_of(making, i),
        .attempts = 1,
        .settled_utc = making->now,
    };
    struct err err = { "" };

    ok(store_outcome_put(making->store, &outcome, &err), &err);
    free(nonce);
}

/* The fastest configuration that is not left out. */
static int finalist(const struct compare_plan *plan)
{
    return plan->pending || plan->fails == COMPARE_FASTEST ||
                   plan->slow == COMPARE_FASTEST
               ? COMPARE_SECOND
               : COMPARE_FASTEST;
}

static void put_contestant(struct making *making, int number, int config)
{
    const struct store_contestant contestant = {
        1,
        number,
        making->keys[config],
        "50",
        number ? "finalist" : "baseline",
        "",
        -1,
        -1
    };
    struct err err = { "" };

    ok(store_contestant_put(making->store, &contestant, &err), &err);
}

/* The candidates of the pass: the baseline, the fastest, and others. */
static int choose(const struct compare_plan *plan, int *out)
{
    int best = finalist(plan), n = 0;

    out[n++] = COMPARE_BASELINE;
    out[n++] = best;
    for (int i = 0; n <= plan->finalists; i++)
        if (i != COMPARE_BASELINE && i != best && i != COMPARE_FAILED)
            out[n++] = i;
    return n;
}

/* Confirmation pass 1, to which the blocks belong. */
static void put_contest(struct making *making)
{
    int who[COMPARE_CONFIGS], n;
    struct store_contest confirmation = {
        .pass = 1,
        .sweep = making->sweep,
        .kind = "confirm",
        .seed = 1,
        .blocks = making->plan->blocks,
        .samples = BLOCK_SAMPLES,
        .alpha = 0.05,
        .floor = 0.005,
        .target = 1.1,
        .possible = 1,
        .cut = NAN,
        .started_utc = making->now,
        .look_blocks = making->plan->most > 0 ? 2 : 0,
        .most_blocks = making->plan->most,
    };
    struct err err = { "" };

    ok(store_contest_put(making->store, &confirmation, &err), &err);
    n = choose(making->plan, who);
    for (int i = 0; i < n; i++)
        put_contestant(making, i, who[i]);
    ok(store_contest_shape_put(
           making->store, &(struct store_contest_shape){ 1, 0, "n16m", "3e" },
           &err),
       &err);
    ok(store_contest_end(making->store, 1, "done", making->now, &err), &err);
}

/* The noise of the baseline and the fastest is the same, whoever else is
 * there. */
static void put_block(struct making *making, int round)
{
    int who[COMPARE_CONFIGS], n = choose(making->plan, who);
    struct noise_stream kept;

    for (int i = 0; i < n; i++) {
        free(put_result(making, who[i], "confirm", round, BLOCK_SAMPLES));
        if (i == 1)
            kept = making->noise;
    }
    making->noise = kept;
}

static void put_results(struct making *making)
{
    const struct compare_plan *plan = making->plan;

    for (int i = 0; i < COMPARE_CONFIGS; i++)
        if (!plan->pending || i != COMPARE_FASTEST)
            screen(making, i);
    if (plan->blocks == 0)
        return;
    for (int round = 1; round <= CANARIES; round++)
        free(put_result(making, COMPARE_BASELINE, "canary", round,
                        BLOCK_SAMPLES));
    put_contest(making);
    for (int block = 1; block <= plan->blocks; block++)
        put_block(making, CONFIRMATION_ROUNDS + block);
}

/* The host was held during the whole sweep. */
static void put_interval(struct making *making)
{
    struct store_interval interval = { .host = "gpu1",
                                       .epoch = UTC,
                                       .start_ns = SECOND,
                                       .end_ns = SECOND + making->now - UTC,
                                       .start_utc = UTC,
                                       .category = "measuring" };
    struct err err = { "" };

    ok(store_interval_put(making->store, &interval, &err), &err);
}

void compare_fixture(const char *path, const struct compare_plan *plan)
{
    struct making making = { .plan = plan,
                             .noise = noise_stream(plan->seed),
                             .now = UTC };
    struct store_run run = { UTC, 42, "laptop", "0.1.0", "sweep" };
    struct err err = { "" };

    ok(store_open(path, STORE_CREATE, &making.store, &err), &err);
    ok(store_run_start(making.store, &run, &err), &err);
    put_sweep(&making);
    put_configs(&making);
    put_machine(&making);
    put_results(&making);
    put_interval(&making);
    ok(store_run_end(making.store, UTC, "done", making.now, &err), &err);
    ok(store_commit(making.store, &err), &err);
    store_close(making.store);
    spec_free(making.spec);
}
