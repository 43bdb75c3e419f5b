/* bench_store.c - what a durable result costs: CPU each, and commits a second
 *
 * The bench stores results of 30 samples and commits them in groups, as the
 * reactor does; then also what comes with a result: its lease, which ends, the
 * interval of its host, which grows, its configuration and its outcome.  Then
 * it commits results one by one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"

#define SAMPLES 30
#define RESULTS 20000
#define GROUP 256 /* most results in one commit: COMMIT_ROWS */
#define COMMITS 200

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void stop(const struct err *err)
{
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static void put(struct store *store, int i, struct err *err)
{
    char nonce[HASH_HEX], config[HASH_HEX];
    double samples[SAMPLES];
    static const double pair[] = { 2040, 2025 };
    struct store_result result = {
        .nonce = nonce,
        .epoch = 1,
        .id.config = config,
        .id.shape = "n16m",
        .id.purpose = "screen",
        .attempt = 1,
        .id.source_key = "5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c",
        .id.measure_key = "3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e",
        .host = "gpu1",
        .gpu = "GPU-11111111-2222-3333-4444-555555555555",
        .artifact = "a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7",
        .outcome = "correct",
        .timing.sampling = "fixed",
        .timing.samples = { samples, SAMPLES },
        .around.clock_mhz = { pair, 2 },
        .around.temp_c = { pair, 2 },
        .around.power_w = { pair, 2 },
        .around.throttle = { pair, 2 },
    };

    hash_of(&i, sizeof(i), nonce);
    hash_of(nonce, 8, config);
    for (int s = 0; s < SAMPLES; s++) /* a float of ms, as CUDA events */
        samples[s] = (double)(0.6f + 0.0001f * (float)(s + i % 100)) / 1e3;
    if (store_result_put(store, &result, err) != 1)
        stop(err);
}

/* What comes with result 'i' of the second round of grouped(). */
static void put_around(struct store *store, int64_t sweep, int i,
                       struct err *err)
{
    char nonce[HASH_HEX], config[HASH_HEX];
    struct store_config row = { config,
                                sweep,
                                i,
                                false,
                                "{\"BLOCK_SIZE\": 256, \"VECTOR\": false}",
                                "[]",
                                "5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c" };
    struct store_lease lease = { .epoch = 1,
                                 .id = i + 1,
                                 .config = config,
                                 .shape = "n16m",
                                 .purpose = "screen",
                                 .stage = "measure",
                                 .attempt = 1,
                                 .host = "gpu1",
                                 .gpu = "GPU-1",
                                 .leased_utc = i };
    struct store_interval interval = { "gpu1", 1, i, i, 1, "measuring", i + 1 };
    struct store_outcome outcome = { config,
                                     "n16m",
                                     "5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c5c",
                                     "3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e",
                                     "correct",
                                     "",
                                     nonce,
                                     0.0006,
                                     1,
                                     i };

    hash_of(&i, sizeof(i), nonce);
    hash_of(nonce, 8, config);
    if (store_config_put(store, &row, err) < 0 ||
        store_lease_put(store, &lease, err) < 0 ||
        store_interval_put(store, &interval, err) < 0)
        stop(err);
    interval.end_ns++;
    if (store_interval_put(store, &interval, err) < 0 ||
        store_lease_end(store, 1, i + 1, "done", i, err) < 0 ||
        store_outcome_put(store, &outcome, err) < 0)
        stop(err);
}

static void commit(struct store *store, struct err *err)
{
    if (store_commit(store, err) < 0)
        stop(err);
}

/* Results from 'first' on; of a 'sweep' other than 0 with what is around them.
 */
static void grouped(struct store *store, int first, int64_t sweep,
                    struct err *err)
{
    double cpu = cpu_s();
    int64_t start = clock_boot_ns();
    double wall;

    for (int i = first; i < first + RESULTS; i++) {
        put(store, i, err);
        if (sweep)
            put_around(store, sweep, i, err);
        if (store_pending(store) >= GROUP)
            commit(store, err);
    }
    commit(store, err);
    cpu = cpu_s() - cpu;
    wall = (double)(clock_boot_ns() - start) / 1e9;
    printf("%d results of %d samples%s in groups of %d: %.1f us CPU each, "
           "%.0f durable results/s\n",
           RESULTS, SAMPLES, sweep ? " with what is around them" : "", GROUP,
           cpu / RESULTS * 1e6, RESULTS / wall);
}

static void one_by_one(struct store *store, struct err *err)
{
    int64_t start = clock_boot_ns();

    for (int i = 0; i < COMMITS; i++) {
        put(store, 2 * RESULTS + i, err);
        commit(store, err);
    }
    printf("one result a commit: %.0f commits/s\n",
           COMMITS / ((double)(clock_boot_ns() - start) / 1e9));
}

int main(int argc, char *argv[])
{
    const char *path = argc > 1 ? argv[1] : "bench_store.db";
    struct store_run run = { .epoch = 1, .machine = "box", .command = "sweep" };
    struct store_sweep sweep = { .key = "k", .device = "cuda" };
    struct store_host host = { .name = "gpu1" };
    struct store *store = NULL;
    struct err err = { "" };
    int64_t id = 0;

    sql_setup();
    if (hash_setup(&err) < 0 ||
        store_open(path, STORE_CREATE, &store, &err) < 0 ||
        store_run_start(store, &run, &err) < 0 ||
        store_sweep_put(store, &sweep, &id, &err) < 0 ||
        store_host_put(store, &host, &err) < 0)
        stop(&err);
    grouped(store, 0, 0, &err);
    grouped(store, RESULTS, id, &err);
    one_by_one(store, &err);
    store_close(store);
    (void)unlink(path);
    return 0;
}
