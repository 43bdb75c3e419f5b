#include "tests/coordinator/store/store_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/whole.h"

#define UTC FIXTURE_EPOCH

static char folder[64];

int fixture_setup(void **state)
{
    struct err err;

    snprintf(folder, sizeof(folder), "/tmp/fa_store_XXXXXX");
    if (hash_setup(&err) < 0 || !mkdtemp(folder))
        return -1;
    *state = mem_printf("%s/sweep.db", folder);
    return 0;
}

int fixture_teardown(void **state)
{
    static const char *const ends[] = { "", "-wal", "-shm", ".lock" };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char *name = mem_printf("%s%s", (char *)*state, ends[i]);

        (void)unlink(name); /* not every test makes every file */
        free(name);
    }
    free(*state);
    return rmdir(folder);
}

struct store *fixture_open(const char *path, enum store_mode mode)
{
    struct store *store;
    struct err err = { "" };

    if (store_open(path, mode, &store, &err) < 0)
        fail_msg("%s", err.text);
    return store;
}

void fixture_seal(struct store *store, const char *table)
{
    struct err err = { "" };
    char *text = whole_seal_text(store_db(store), table, "1", &err);

    if (!text || store_begin(store, &err) < 0 ||
        sql_run(store_db(store), text, &err) < 0 ||
        store_commit(store, &err) < 0)
        fail_msg("%s", err.text);
    free(text);
}

int64_t fixture_number(struct store *store, const char *sql)
{
    struct err err = { "" };
    int64_t number;

    if (sql_number(store_db(store), sql, &number, &err, "") < 0)
        fail_msg("%s", err.text);
    return number;
}

struct store_sweep fixture_sweep(const char *key)
{
    return (struct store_sweep){
        .key = key,
        .name = "vector_add",
        .folder = "/home/ada/vector_add",
        .file = "sweep.json",
        .hosts_file = "",
        .spec = "{}",
        .device = "cuda",
        .arch = "sm_89",
        .facts = "{\"sm_count\":58}",
        .settings = "{\"method\": \"lhs:2,tpe\", "
                    "\"search_seed\": 7}",
        .configurations = 40,
        .passed = 30,
        .created_utc = UTC,
    };
}

struct store_result fixture_result(const char *nonce, const char *config)
{
    static const double samples[] = { 0.001, 0.0011, 0.0012 };
    static const double pair[] = { 2040, 2025 };

    return (struct store_result){
        .nonce = nonce,
        .epoch = UTC,
        .id.config = config,
        .id.shape = "n16m",
        .id.purpose = "screen",
        .attempt = 1,
        .id.source_key = "5c",
        .id.measure_key = "3e",
        .host = "gpu1",
        .gpu = "GPU-1",
        .artifact = "a7",
        .outcome = "correct",
        .detail = "",
        .error.argument = "",
        .error.relative_l2 = 1e-8,
        .error.max_error = 1e-7,
        .checked = { 7, 0 },
        .timing.samples = { samples, 3 },
        .timing.sampling = "settled",
        .timing.l2 = "flush",
        .timing.blocked = true,
        .around.clock_mhz = { pair, 2 },
        .around.temp_c = { pair, 2 },
        .around.power_w = { pair, 2 },
        .around.throttle = { pair, 2 },
        .held_s = 0.02,
        .seconds = 0.05,
        .received_utc = UTC + 1,
    };
}

struct store_build fixture_build(const char *nonce, const char *config)
{
    return (struct store_build){
        .nonce = nonce,
        .epoch = UTC,
        .config = config,
        .purpose = "kernel",
        .attempt = 1,
        .source_key = "5c",
        .build_key = "b1",
        .host = "gpu1",
        .outcome = "built",
        .detail = "",
        .artifact = "a7",
        .artifact_bytes = 4096,
        .seconds = 2.5,
        .registers = 32,
        .log = "",
        .received_utc = UTC + 1,
    };
}

void fixture_run(struct store *store, int64_t epoch)
{
    struct store_run run = { epoch, 42, "laptop", "0.1.0", "sweep" };
    struct err err = { "" };

    if (store_run_start(store, &run, &err) < 0)
        fail_msg("%s", err.text);
}

void fixture_owners(struct store *store, const char *key)
{
    struct store_sweep sweep = fixture_sweep("k1");
    struct store_host host = { .name = "gpu1" };
    struct store_config config = { .key = key,
                                   .params = FIXTURE_PARAMS,
                                   .warnings = "[]",
                                   .source_key = "5c" };
    struct err err = { "" };

    fixture_run(store, UTC);
    if (store_sweep_put(store, &sweep, &config.sweep, &err) < 0 ||
        store_host_put(store, &host, &err) < 0 ||
        store_config_put(store, &config, &err) < 0)
        fail_msg("%s", err.text);
}
