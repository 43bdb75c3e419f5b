/* A report of a survey says, byte for byte, what one of the whole says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/report/report_loaded.h"
#include "coordinator/report/report_print.h"
#include "coordinator/report/report_sections.h"
#include "coordinator/result/report.h"
#include "coordinator/stats/prng.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/result/confirmation_fixture.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define UTC INT64_C(1700000000000000000)
#define SECOND INT64_C(1000000000)
#define MANY 700 /* more than two parts of a survey */

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

static char *text_of(struct store *store, const struct report_wanted *wanted)
{
    struct report_loaded loaded;
    struct err err = { "" };
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    ok(report_loaded_init(store, wanted, &loaded, &err), &err);
    assert_int_equal(loaded.survey == NULL, wanted->whole);
    ok(report_loaded_costs(store, &loaded, &err), &err);
    fprintf(to, "%s|%s\n", loaded.no_metrics.text, loaded.no_lessons.text);
    report_summary(&loaded.view, to);
    ok(report_csv(&loaded.view, to, &err), &err);
    ok(report_json(&loaded.view, to, &err), &err);
    loaded.view.top = 7;
    report_table(&loaded.view, to);
    report_cost_table(&loaded.view, to);
    ok(report_json(&loaded.view, to, &err), &err);
    report_loaded_fini(&loaded);
    fclose(to);
    return text;
}

static void compare(struct store *store)
{
    char *whole = text_of(store, &(struct report_wanted){ .whole = true });
    char *survey = text_of(store, &(struct report_wanted){ .top = 7 });

    assert_string_equal(survey, whole);
    free(whole);
    free(survey);
}

static void a_small_sweep(void **state)
{
    struct store *store = report_fixture(*state);

    compare(store);
    store_close(store);
}

static void a_sweep_in_which_all_failed(void **state)
{
    struct store *store = report_fixture_negative(*state);

    compare(store);
    store_close(store);
}

static void a_confirmation(void **state)
{
    struct scene s = { .n_gpus = 2,
                       .times = { 1, 0.8, 0.9 },
                       .odd = { 1, 1.1, 0.85 } };

    scene_begin(&s, *state, 2);
    scene_put_blocks(&s, 10);
    scene_end(&s, true);
    compare(s.store);
    scene_close(&s);
}

/* Both take back what a block found wrong, and what the proof did. */
static void a_refuted_configuration(void **state)
{
    struct scene s = { .n_gpus = 1, .times = { 1, 0.8, 0.9 } };

    scene_begin(&s, *state, 2);
    scene_put_blocks(&s, 3);
    scene_put(&s, 4, 1, "correctness");
    scene_end(&s, false);
    compare(s.store);
    scene_close(&s);
}

/* ---- a sweep with all that can happen to a configuration */

static const char *const gpus[] = { "GPU-1", "GPU-2" };
static const char *const shapes[] = { "n16m", "odd" };

static void put_result(struct store *store, const char *nonce, const char *key,
                       const char *shape, const char *purpose, int round,
                       size_t gpu, double seconds, struct prng *prng)
{
    double samples[] = { seconds * 1.01, seconds, seconds * 0.99, seconds };
    static const double throttle[] = { 0, 4 };
    struct store_result row = fixture_result(nonce, key);
    struct err err = { "" };

    row.id.shape = shape;
    row.id.purpose = purpose;
    row.id.round = round;
    if (round > 0 && prng_below(prng, 3) == 0)
        row.id.source_key = "old";
    row.gpu = gpus[gpu];
    row.timing.samples =
        (struct reals){ samples, seconds > 0 ? prng_below(prng, 4) + 1 : 0 };
    row.timing.sampling = prng_below(prng, 9) ? "settled" : "unstable";
    row.around.throttle = (struct reals){ throttle, prng_below(prng, 3) };
    row.received_utc = UTC + (int64_t)prng_below(prng, 4000) * SECOND;
    if (!(seconds > 0)) {
        row.outcome = "runtime";
        row.detail = "misaligned address";
    }
    ok(store_result_put(store, &row, &err), &err);
}

static void put_outcome(struct store *store, const char *key, const char *shape,
                        const char *measure_key, const char *outcome,
                        const char *reason, const char *nonce, int64_t utc)
{
    struct err err = { "" };

    ok(store_outcome_put(store,
                         &(struct store_outcome){ key, shape, "5c", measure_key,
                                                  outcome, reason, nonce, 1e-3,
                                                  1, utc },
                         &err),
       &err);
}

/* At one shape: right, failed, pending, or only measured in an older way. */
static void settle(struct store *store, int n, const char *key, int shape,
                   struct prng *prng)
{
    char nonce[64], reason[64];
    size_t gpu = prng_below(prng, 2), fate = prng_below(prng, 20);
    /* few times, so that many are equal */
    double seconds = 1e-3 * (double)(1 + prng_below(prng, 30));

    snprintf(nonce, sizeof(nonce), "r%d-%d", n, shape);
    snprintf(reason, sizeof(reason), "misaligned address 0x%x%s", n % 13,
             n % 3 ? "" : " in the kernel");
    if (fate == 0)
        return;
    if (fate == 1) {
        put_outcome(store, key, shapes[shape], "old", "correct", "", nonce,
                    UTC);
        return;
    }
    if (fate < 5) {
        put_result(store, nonce, key, shapes[shape], "screen", 0, gpu, 0, prng);
        put_outcome(store, key, shapes[shape], "3e", "runtime", reason, nonce,
                    UTC + 5);
        return;
    }
    put_result(store, nonce, key, shapes[shape], "screen", 0, gpu, seconds,
               prng);
    /* now and then it is the code of another, and is not measured again */
    if (fate == 5)
        snprintf(nonce, sizeof(nonce), "r%d-%d", 6, shape);
    put_outcome(store, key, shapes[shape], "3e", "correct", "", nonce, UTC + 5);
    if (fate < 9) {
        snprintf(nonce, sizeof(nonce), "again%d-%d", n, shape);
        put_result(store, nonce, key, shapes[shape], "screen", 1, 1 - gpu,
                   seconds * 1.02, prng);
    }
}

static void put_config(struct store *store, int64_t sweep, int n,
                       struct prng *prng)
{
    static const int sizes[] = { 64, 128, 256, 512 };
    char params[64], key[HASH_HEX];
    struct store_build build;
    struct err err = { "" };

    snprintf(params, sizeof(params), "{\"BLOCK_SIZE\":%d,\"VECTOR\":%s}",
             n < MANY - 3 ? sizes[n / 2 % 4] : 1000 - n,
             n % 2 ? "true" : "false");
    snprintf(key, sizeof(key), "%d", n);
    hash_of(key, strlen(key), key);
    ok(store_config_put(store,
                        &(struct store_config){
                            key, sweep, n < MANY - 3 ? n % 300 : -1, false,
                            params, n % 5 ? "[]" : "[\"wide\"]", "5c" },
                        &err),
       &err);
    snprintf(params, sizeof(params), "b%d", n);
    build = fixture_build(params, key);
    snprintf(params, sizeof(params), "code %d", n / 2);
    build.artifact = params;
    build.source_key = n % 7 ? "5c" : "old";
    build.epoch = REPORT_FIXTURE_EPOCH;
    build.host = "gpu1";
    ok(store_build_put(store, &build, &err), &err);
    for (int shape = 0; shape < 2; shape++)
        settle(store, n, key, shape, prng);
}

static void many(struct store *store, bool canaries)
{
    int64_t sweep = fixture_number(store, "SELECT max(id) FROM sweep");
    struct prng prng;
    struct err err = { "" };

    prng_init(&prng, 11);
    ok(store_gate_put(store,
                      &(struct store_gate){ sweep, 1, "wide", "warn",
                                            "BLOCK_SIZE > 1", "so it is", 0,
                                            0 },
                      &err),
       &err);
    for (int n = 0; n < MANY; n++)
        put_config(store, sweep, n, &prng);
    for (int i = 0; canaries && i < 24; i++) {
        char nonce[32];

        snprintf(nonce, sizeof(nonce), "canary%d", i);
        put_result(store, nonce, REPORT_BASELINE, shapes[0], "canary", i,
                   (size_t)i % 2, 1e-3 * (1 + 0.01 * (i % 5) + 0.05 * (i % 2)),
                   &prng);
    }
}

static void many_configurations(void **state)
{
    struct store *store = report_fixture(*state);

    many(store, false);
    compare(store);
    store_close(store);
}

static void many_that_are_normalised_on_two_gpus(void **state)
{
    struct store *store = report_fixture(*state);

    many(store, true);
    compare(store);
    store_close(store);
}

static void many_and_a_confirmation(void **state)
{
    struct scene s = { .n_gpus = 2,
                       .times = { 1, 0.8, 0.9 },
                       .odd = { 1, 1.1, 0.85 },
                       .objective = "geomean" };

    scene_begin(&s, *state, 2);
    many(s.store, true);
    scene_put_blocks(&s, 10);
    scene_end(&s, true);
    compare(s.store);
    scene_close(&s);
}

int main(void)
{
#define A_STORE(test) \
    cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        A_STORE(a_small_sweep),
        A_STORE(a_sweep_in_which_all_failed),
        A_STORE(a_confirmation),
        A_STORE(a_refuted_configuration),
        A_STORE(many_configurations),
        A_STORE(many_that_are_normalised_on_two_gpus),
        A_STORE(many_and_a_confirmation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
