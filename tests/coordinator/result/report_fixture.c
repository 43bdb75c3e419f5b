#include "tests/coordinator/result/report_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/store/store_held.h"
#include "tests/coordinator/store/store_fixture.h"

#define UTC INT64_C(1700000000000000000)
#define HOUR_NS INT64_C(3600000000000)

static const char spec[] =
    "{ \"name\": \"vector_add\","
    " \"kernel\": { \"source\": \"vector_add.cu\","
    "  \"entry\": \"vector_add\", \"standard\": \"c++17\" },"
    " \"tunables\": { \"BLOCK_SIZE\": [64, 128, 256, 512],"
    "  \"VECTOR\": [false, true] },"
    " \"gates\": [ { \"name\": \"threads\","
    "  \"reject\": \"BLOCK_SIZE > max_threads_per_block\","
    "  \"why\": \"the device launches no larger block\" } ],"
    " \"launch\": { \"grid\": [\"N / BLOCK_SIZE\"],"
    "  \"block\": [\"BLOCK_SIZE\"], \"smem\": \"0\" },"
    " \"shapes\": [ { \"name\": \"n16m\", \"N\": 16777216 },"
    "  { \"name\": \"odd\", \"N\": 16777213 } ],"
    " \"arguments\": [ { \"name\": \"out\", \"type\": \"fp32\","
    "  \"shape\": [\"N\"], \"output\": true } ],"
    " \"reference\": { \"source\": \"reference.cu\", \"entry\": \"ref\","
    "  \"launch\": { \"grid\": [\"N / 256\"], \"block\": [\"256\"],"
    "   \"smem\": \"0\" } },"
    " \"tolerance\": { \"relative_l2\": 1e-6, \"max_error\": 1e-5 },"
    " \"baseline\": { \"BLOCK_SIZE\": 256, \"VECTOR\": false },"
    " \"metrics\": { \"gbps\": { \"value\": \"12.0 * N / time_s / 1e9\","
    "  \"unit\": \"GB/s\" } },"
    " \"floors\": { \"tensor\": \"0.0002\", \"dram\": \"0.0006\" } }";

static const char facts[] =
    "{\"arch\": 89, \"sm_count\": 58, \"smem_per_block\": 101376,"
    " \"smem_per_sm\": 102400, \"regs_per_block\": 65536,"
    " \"regs_per_sm\": 65536, \"threads_per_sm\": 1536,"
    " \"blocks_per_sm\": 24, \"max_threads_per_block\": 1024,"
    " \"l2_bytes\": 50331648, \"mem_bytes\": 23609475072,"
    " \"dram_bytes_per_s\": 300000000000, \"sm_clock_hz\": 2040000000,"
    " \"mma_flops_per_clock_sm\": 1024}";

static const char *const keys[] = {
    REPORT_BASELINE, REPORT_FASTER,  REPORT_UNBUILT,
    REPORT_WRONG,    REPORT_PENDING,
};
static const char *const shapes[] = { "n16m", "odd" };

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

static void put_sweep(struct store *store)
{
    static const char *const params[] = {
        "{\"BLOCK_SIZE\":256,\"VECTOR\":false}",
        "{\"BLOCK_SIZE\":128,\"VECTOR\":true}",
        "{\"BLOCK_SIZE\":512,\"VECTOR\":true}",
        "{\"BLOCK_SIZE\":64,\"VECTOR\":true}",
        "{\"BLOCK_SIZE\":64,\"VECTOR\":false}",
    };
    struct store_sweep sweep = fixture_sweep("k1");
    struct err err = { "" };
    int64_t id;

    sweep.spec = spec;
    sweep.facts = facts;
    sweep.configurations = 8;
    sweep.passed = 5;
    ok(store_sweep_put(store, &sweep, &id, &err), &err);
    ok(store_gate_put(
           store,
           &(struct store_gate){ id, 0, "threads", "reject",
                                 "BLOCK_SIZE > max_threads_per_block",
                                 "the device launches no larger block", 3, 3 },
           &err),
       &err);
    ok(store_shape_put(store,
                       &(struct store_shape){ id, 0, shapes[0],
                                              "{\"N\":16777216}", 0.0006,
                                              "dram" },
                       &err),
       &err);
    ok(store_shape_put(store,
                       &(struct store_shape){ id, 1, shapes[1],
                                              "{\"N\":16777213}", 0.0006,
                                              "dram" },
                       &err),
       &err);
    for (int i = 0; i < 5; i++)
        ok(store_config_put(store,
                            &(struct store_config){ keys[i], id, i, i == 0,
                                                    params[i], "[]", "5c" },
                            &err),
           &err);
}

static void put_machines(struct store *store)
{
    static const char *const hosts[] = { "gpu1", "\033[31mgpu2" };
    struct err err = { "" };

    for (int i = 0; i < 2; i++) {
        char uuid[8] = { 'G', 'P', 'U', '-', (char)('1' + i) };

        ok(store_host_put(
               store,
               &(struct store_host){ .name = hosts[i],
                                     .position = i,
                                     .rate_usd_per_h = i ? (double)NAN : 0.5 },
               &err),
           &err);
        ok(store_gpu_put(store,
                         &(struct store_gpu){ uuid, hosts[i], 0, "NVIDIA L4",
                                              "550.54", "{}" },
                         &err),
           &err);
        ok(store_held_put(
               store,
               &(struct store_held){ hosts[i], REPORT_FIXTURE_EPOCH, 0, HOUR_NS,
                                     UTC, i ? (double)NAN : 0.5, "search" },
               &err),
           &err);
        ok(store_interval_put(
               store,
               &(struct store_interval){ hosts[i], REPORT_FIXTURE_EPOCH, 0,
                                         HOUR_NS / 2, UTC, "building", 0 },
               &err),
           &err);
        ok(store_interval_put(store,
                              &(struct store_interval){
                                  hosts[i], REPORT_FIXTURE_EPOCH, HOUR_NS / 2,
                                  HOUR_NS, UTC, i ? "idle" : "measuring", 0 },
                              &err),
           &err);
    }
}

/* A settled configuration: three samples around 'seconds', or none. */
static void settle(struct store *store, int config, int shape,
                   const char *outcome, const char *reason, double seconds)
{
    static const double throttle[] = { 0x1, 0x0, 0x4 }; /* idle, power cap */
    double samples[] = { seconds * 1.01, seconds, seconds * 0.99 };
    char *nonce = mem_printf("n%d-%d", config, shape);
    struct store_result result = fixture_result(nonce, keys[config]);
    struct err err = { "" };

    result.id.shape = shapes[shape];
    result.outcome = outcome;
    result.detail = reason;
    result.timing.samples = (struct reals){ samples, isnan(seconds) ? 0 : 3 };
    result.around.throttle = (struct reals){ throttle, config == 1 ? 3 : 1 };
    result.timing.sampling = isnan(seconds) ? "none"
                             : config       ? "settled"
                                            : "unstable";
    ok(store_result_put(store, &result, &err), &err);
    ok(store_outcome_put(store,
                         &(struct store_outcome){ keys[config], shapes[shape],
                                                  "5c", "3e", outcome, reason,
                                                  nonce, seconds, 1, UTC + 5 },
                         &err),
       &err);
    free(nonce);
}

static struct store *begin(const char *path)
{
    struct store *store = fixture_open(path, STORE_CREATE);
    struct store_run run = { REPORT_FIXTURE_EPOCH, 42, "laptop", "0.1.0",
                             "sweep" };
    struct err err = { "" };

    ok(store_run_start(store, &run, &err), &err);
    put_sweep(store);
    put_machines(store);
    return store;
}

static void end(struct store *store, const char *ending)
{
    struct err err = { "" };

    ok(store_run_end(store, REPORT_FIXTURE_EPOCH, ending, UTC + 9, &err), &err);
    ok(store_commit(store, &err), &err);
}

struct store *report_fixture(const char *path)
{
    struct store *store = begin(path);
    static const char compile[] = "kernel.cu:7:3: error: static assertion "
                                  "failed: \033[1mtile too large\033[0m";

    settle(store, 0, 0, "correct", "", 0.001);
    settle(store, 0, 1, "correct", "", 0.0011);
    settle(store, 1, 0, "correct", "", 0.0008);
    settle(store, 1, 1, "correct", "", 0.0009);
    settle(store, 2, 0, "compile", compile, (double)NAN);
    settle(store, 2, 1, "compile", compile, (double)NAN);
    settle(store, 3, 0, "correct", "", 0.0005);
    settle(store, 3, 1, "correctness",
           "relative L2 0.031 of out, 1e-06 allowed", (double)NAN);
    end(store, "partial");
    return store;
}

struct store *report_fixture_negative(const char *path)
{
    struct store *store = begin(path);

    for (int i = 0; i < 5; i++) {
        settle(store, i, 0, "runtime", "misaligned address", (double)NAN);
        settle(store, i, 1, i % 2 ? "timeout" : "runtime", "misaligned address",
               (double)NAN);
    }
    end(store, "done");
    return store;
}

void golden_check(const char *name, const char *text)
{
    char *path = mem_printf(FA_SOURCE_DIR "/tests/coordinator/golden/%s", name);
    const char *mode = getenv("FA_GOLDEN");
    bool writing = mode && strcmp(mode, "write") == 0;
    FILE *file = fopen(path, writing ? "w" : "r");
    char *expected;
    size_t n;

    if (!file)
        fail_msg("%s cannot be opened", path);
    if (writing) {
        fputs(text, file);
    } else {
        expected = mem_new(1 << 16, 1);
        n = fread(expected, 1, (1 << 16) - 1, file);
        expected[n] = '\0';
        assert_string_equal(text, expected);
        free(expected);
    }
    fclose(file);
    free(path);
}
