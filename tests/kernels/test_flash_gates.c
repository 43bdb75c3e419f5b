/* The gates of kernels/flash_attention/sweep.json and the kernel's
 * static_asserts agree on every point of the space, for sm_89. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "tests/kernels/fixture.h"

#define FOLDER FA_SOURCE_DIR "/kernels/flash_attention/"

enum {
    N_TUNABLES = 5,
    N_POINTS = 32,
    JSON_BYTES_MAX = 65536,
    SQL_BYTES_MAX = 8192
};

/* L4, and the headline shape */
#define FACTS                                                              \
    "101376 AS smem_per_block, 102400 AS smem_per_sm, 1536 AS "            \
    "threads_per_sm, 24 AS blocks_per_sm, 1024 AS max_threads_per_block, " \
    "24152899584 AS mem_bytes, 32 AS B, 8 AS H, 512 AS S, 64 AS D"

static cJSON *sweep;
static sqlite3 *db;

static int load_sweep(void **state)
{
    static char text[JSON_BYTES_MAX];
    FILE *file = fopen(FOLDER "sweep.json", "r");
    size_t n;

    (void)state;
    assert_non_null(file);
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    cJSON_Minify(text); /* takes the comments */
    sweep = cJSON_Parse(text);
    assert_non_null(sweep);
    return sqlite3_open(":memory:", &db);
}

static int close_sweep(void **state)
{
    (void)state;
    cJSON_Delete(sweep);
    return sqlite3_close(db);
}

/* A point: its tunables as "64 AS BLOCK_M, ..." and as -D flags. */
struct point {
    char columns[400];
    char flags[N_TUNABLES][40];
};

static void decode(int n, struct point *out)
{
    const cJSON *axis;
    int i = 0;

    out->columns[0] = '\0';
    cJSON_ArrayForEach(axis, cJSON_GetObjectItem(sweep, "tunables"))
    {
        const int value =
            cJSON_GetArrayItem(axis, n % 2)->valueint; /* two values each */
        const size_t used = strlen(out->columns);

        n /= 2;
        snprintf(out->columns + used, sizeof(out->columns) - used, "%d AS %s, ",
                 value, axis->string);
        snprintf(out->flags[i++], sizeof(out->flags[0]), "-D%s=%d",
                 axis->string, value);
    }
}

static int64_t evaluate(const struct point *point, const char *expression)
{
    char from[SQL_BYTES_MAX / 2], sql[SQL_BYTES_MAX];
    const cJSON *derived;
    sqlite3_stmt *stmt;
    int64_t value;

    snprintf(from, sizeof(from), "SELECT %s" FACTS, point->columns);
    cJSON_ArrayForEach(derived, cJSON_GetObjectItem(sweep, "derived"))
    {
        snprintf(sql, sizeof(sql), "SELECT *, (%s) AS %s FROM (%s)",
                 derived->valuestring, derived->string, from);
        snprintf(from, sizeof(from), "%s", sql);
    }
    snprintf(sql, sizeof(sql), "SELECT (%s) FROM (%s)", expression, from);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", expression, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_int_equal(sqlite3_column_type(stmt, 0), SQLITE_INTEGER);
    value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

/* The first gate of this kind ("reject", "warn") that is true, or NULL. */
static const char *gate(const struct point *point, const char *kind)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, cJSON_GetObjectItem(sweep, "gates"))
    {
        const cJSON *rule = cJSON_GetObjectItem(item, kind);

        if (rule && evaluate(point, rule->valuestring))
            return cJSON_GetObjectItem(item, "name")->valuestring;
    }
    return NULL;
}

static bool compiles(const struct point *point)
{
    char smem[40], head_dim[40];

    snprintf(smem, sizeof(smem), "-DSMEM_BYTES=%lld",
             (long long)evaluate(point, "SMEM_BYTES"));
    snprintf(head_dim, sizeof(head_dim), "-DHEAD_DIM=%lld",
             (long long)evaluate(point, "HEAD_DIM"));
    return fixture_command((const char *[]){
               "c++", "-std=c++17", "-w", "-fsyntax-only", "-x", "c++", "-I",
               FA_SOURCE_DIR "/kernels/include", "-include", "fa/emulation.h",
               point->flags[0], point->flags[1], point->flags[2],
               point->flags[3], point->flags[4], smem, head_dim,
               FOLDER "flash_attention.cu", NULL }) == 0;
}

static void what_the_gates_pass_compiles_and_nothing_else(void **state)
{
    (void)state;
    for (int n = 0; n < N_POINTS; n++) {
        struct point point;
        const char *name;

        decode(n, &point);
        name = gate(&point, "reject");
        if (compiles(&point) == (name != NULL))
            fail_msg("%s: gate %s", point.columns, name ? name : "none");
    }
}

static int count(const char *kind, const char *name)
{
    int n_found = 0;

    for (int n = 0; n < N_POINTS; n++) {
        struct point point;
        const char *found;

        decode(n, &point);
        found = gate(&point, kind);
        n_found += found && strcmp(found, name) == 0;
    }
    return n_found;
}

/* 64 rows for 8 warps is the one combination that cannot be. */
static void eight_of_32_points_are_rejected(void **state)
{
    (void)state;
    assert_int_equal(count("reject", "warp_tile"), 8);
    assert_int_equal(count("reject", "smem_overflow"), 0);
    assert_int_equal(count("reject", "alignment"), 0);
}

static void layouts_are_warned_about(void **state)
{
    (void)state;
    assert_int_equal(count("warn", "coalescing"), 0);
    assert_int_equal(count("warn", "bank_conflicts"), 16);
    assert_int_equal(count("warn", "low_occupancy_no_prefetch"), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_gates_pass_compiles_and_nothing_else),
        cmocka_unit_test(eight_of_32_points_are_rejected),
        cmocka_unit_test(layouts_are_warned_about),
    };

    return cmocka_run_group_tests(tests, load_sweep, close_sweep);
}
