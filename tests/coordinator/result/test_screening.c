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
#include "coordinator/result/report.h"
#include "coordinator/result/screening.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define BASELINE REPORT_BASELINE
#define FIRST REPORT_FASTER   /* 0.8 ms on GPU-1 */
#define SECOND REPORT_PENDING /* pending */

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

static void put_as(struct store *store, const char *config, const char *shape,
                   const char *purpose, int round, const char *gpu,
                   double seconds, const char *measure_key)
{
    double samples[] = { seconds * 1.001, seconds, seconds * 0.999 };
    char *nonce =
        mem_printf("s-%.2s-%s-%s-%d-%s", config, shape, purpose, round, gpu);
    struct store_result result = fixture_result(nonce, config);
    struct err err;

    result.id.shape = shape;
    result.id.purpose = purpose;
    result.id.round = round;
    result.gpu = gpu;
    result.outcome = "correct";
    result.id.measure_key = measure_key;
    result.timing.samples = (struct reals){ samples, 3 };
    ok(store_result_put(store, &result, &err), &err);
    if (strcmp(purpose, "screen") == 0)
        ok(store_outcome_put(store,
                             &(struct store_outcome){ config, shape, "5c", "3e",
                                                      "correct", "", nonce,
                                                      seconds, 1, 5 },
                             &err),
           &err);
    free(nonce);
}

static void put(struct store *store, const char *config, const char *shape,
                const char *purpose, int round, const char *gpu, double seconds)
{
    put_as(store, config, shape, purpose, round, gpu, seconds, "3e");
}

/* The second one is measured on GPU-2 and takes 0.83 ms there. */
static struct store *two_cards(const char *path)
{
    struct store *store = report_fixture(path);

    put(store, SECOND, "n16m", "screen", 0, "GPU-2", 0.00083);
    put(store, SECOND, "odd", "screen", 0, "GPU-2", 0.00083);
    return store;
}

/* Without this one; the last that is chosen. */
static const char *chosen_by(struct store *store, const char *objective,
                             size_t cap, const char *without, char *key,
                             struct finalists *out)
{
    struct screening_rules rules = { .alpha = 0.05, .cap = cap };
    bool wrong[8] = { false }, chosen[8] = { false };
    struct report *report;
    struct err err;

    ok(report_load(store, &report, &err), &err);
    free(report->search.objective);
    report->search.objective = mem_strdup(objective);
    for (size_t i = 0; i < report->n_configs; i++)
        wrong[i] = without && strcmp(report->configs[i].key, without) == 0;
    screening_choose(report, &rules, wrong, chosen, out);
    key[0] = '\0';
    for (size_t i = 0; i < report->n_configs; i++)
        if (chosen[i])
            memcpy(key, report->configs[i].key, HASH_HEX);
    report_free(report);
    return key;
}

static const char *chosen_key(struct store *store, size_t cap,
                              const char *without, char *key,
                              struct finalists *out)
{
    return chosen_by(store, "headline", cap, without, key, out);
}

static void the_fastest_goes_on_and_never_the_baseline(void **state)
{
    struct store *store = report_fixture(*state);
    struct finalists out;
    char key[HASH_HEX];

    assert_string_equal(chosen_key(store, 10, NULL, key, &out), FIRST);
    assert_int_equal(out.n_possible, 1);
    assert_string_equal(chosen_key(store, 10, FIRST, key, &out), "");
    store_close(store);
}

static void as_measured_the_faster_card_chooses(void **state)
{
    struct store *store = two_cards(*state);
    struct finalists out;
    char key[HASH_HEX];

    assert_string_equal(chosen_key(store, 1, NULL, key, &out), FIRST);
    store_close(store);
}

/* Canaries of 1 ms and 1.08 ms: after normalising, 0.83 ms on the slow card is
 * less than 0.8 ms on the fast one.  The cut by the cap is reported. */
static void canaries_bring_two_cards_to_one_level(void **state)
{
    struct store *store = two_cards(*state);
    struct finalists out;
    char key[HASH_HEX];

    for (int round = 0; round < 6; round++) {
        put(store, BASELINE, "n16m", "canary", 2 * round, "GPU-1", 0.001);
        put(store, BASELINE, "n16m", "canary", 2 * round + 1, "GPU-2", 0.00108);
    }
    assert_string_equal(chosen_key(store, 1, NULL, key, &out), SECOND);
    assert_true(out.n_possible == 1 || out.next > 1);
    store_close(store);
}

/* Measured before the sweep file's way of measuring changed. */
static void canaries_measured_another_way_say_nothing(void **state)
{
    struct store *store = two_cards(*state);
    struct finalists out;
    char key[HASH_HEX];

    for (int round = 0; round < 6; round++) {
        put_as(store, BASELINE, "n16m", "canary", 2 * round, "GPU-1", 0.001,
               "01d");
        put_as(store, BASELINE, "n16m", "canary", 2 * round + 1, "GPU-2",
               0.00108, "01d");
    }
    assert_string_equal(chosen_key(store, 1, NULL, key, &out), FIRST);
    store_close(store);
}

/* 0.9 ms where the first takes 0.8, and 0.5 ms where that takes 0.88. */
static void the_fastest_of_the_other_shape_goes_on_too(void **state)
{
    struct store *store = report_fixture(*state);
    struct finalists out;
    char key[HASH_HEX];

    put(store, SECOND, "n16m", "screen", 0, "GPU-1", 0.0009);
    put(store, SECOND, "odd", "screen", 0, "GPU-1", 0.0005);
    chosen_key(store, 10, FIRST, key, &out);
    assert_string_equal(key, SECOND);
    chosen_key(store, 10, NULL, key, &out);
    assert_true(out.n_possible == 2 && out.n_chosen == 2);
    assert_string_equal(chosen_key(store, 1, NULL, key, &out), FIRST);
    assert_true(out.n_possible == 2 && out.n_chosen == 1 && out.next == 1);
    store_close(store);
}

/* 0.84 ms and 0.67 ms by the geometric mean. */
static void the_objective_chooses_first(void **state)
{
    struct store *store = report_fixture(*state);
    struct finalists out;
    char key[HASH_HEX];

    put(store, SECOND, "n16m", "screen", 0, "GPU-1", 0.0009);
    put(store, SECOND, "odd", "screen", 0, "GPU-1", 0.0005);
    assert_string_equal(chosen_by(store, "headline", 1, NULL, key, &out),
                        FIRST);
    assert_string_equal(chosen_by(store, "geomean", 1, NULL, key, &out),
                        SECOND);
    assert_string_equal(chosen_by(store, "odd", 1, NULL, key, &out), SECOND);
    assert_string_equal(chosen_by(store, "absent", 1, NULL, key, &out), FIRST);
    chosen_by(store, "geomean", 10, NULL, key, &out);
    assert_int_equal(out.n_chosen, 2);
    store_close(store);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_fastest_goes_on_and_never_the_baseline),
        TEST(as_measured_the_faster_card_chooses),
        TEST(canaries_bring_two_cards_to_one_level),
        TEST(canaries_measured_another_way_say_nothing),
        TEST(the_fastest_of_the_other_shape_goes_on_too),
        TEST(the_objective_chooses_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
