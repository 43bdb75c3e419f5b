#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/lessons/lessons.h"
#include "coordinator/lessons/lessons_input.h"
#include "coordinator/lessons/lessons_print.h"
#include "coordinator/result/report.h"
#include "coordinator/stats/prng.h"
#include "coordinator/text/json_out.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

static const char *const blocks[] = { "64", "128", "256" };
static const char *const bools[] = { "0", "1" };
static const struct lessons_axis axes[] = { { "BLOCK_M", blocks, 3, 3 },
                                            { "UNROLL", bools, 2, 2 },
                                            { "SWIZZLE", bools, 2, 2 },
                                            { "HALF2", bools, 2, 2 } };
static const char *const gates[] = { "bank_conflicts", "low_occupancy" };

#define POINTS 24

/* A configuration and its result. */
struct row {
    const uint16_t *levels;
    enum lessons_fate fate;
    double seconds;
    const char *outcome, *reason;
    uint64_t warned;
    int64_t number;
    const char *code; /* NULL: not built */
};

/* The predecessor's space in small: UNROLL changes nothing, SWIZZLE with HALF2
 * is misaligned, and without a swizzle it is slower; so says a gate. */
static void predecessor(struct row *points, uint16_t *levels)
{
    static char reasons[POINTS][64], codes[POINTS][8];

    for (int i = 0; i < POINTS; i++) {
        int at[] = { i / 8, i / 4 % 2, i / 2 % 2, i % 2 };
        bool fails = at[2] && at[3];

        for (int a = 0; a < 4; a++)
            levels[4 * i + a] = (uint16_t)at[a];
        snprintf(reasons[i], sizeof(reasons[i]),
                 "misaligned address 0x7f%d2a%d0", i, i);
        snprintf(codes[i], sizeof(codes[i]), "c%d", i - 4 * at[1]);
        points[i] = (struct row){
            .levels = levels + 4 * i,
            .fate = fails ? LESSONS_FAILED : LESSONS_TIMED,
            .seconds = 1e-3 * (1 + at[0]) * (at[2] ? 1 : 1.5),
            .outcome = "runtime",
            .reason = reasons[i],
            .warned = at[2] ? 0 : 1,
            .number = i,
            .code = codes[i],
        };
    }
}

/* From 1, the same for the same text. */
static uint32_t number_of(const struct row *rows, size_t i)
{
    uint32_t first = 0;

    while (rows[i].code &&
           (!rows[first].code || strcmp(rows[first].code, rows[i].code) != 0))
        first++;
    return rows[i].code ? first + 1 : 0;
}

static struct lessons learn(size_t n, const struct row *rows)
{
    struct lessons_point points[POINTS];
    struct lessons_reason failures[POINTS];
    uint64_t warned[POINTS];
    uint16_t levels[4 * POINTS];
    const struct lessons_input input = { axes,     4, points, levels, n,
                                         failures, n, warned, gates,  2 };
    struct lessons out;

    for (size_t i = 0; i < n; i++) {
        memcpy(levels + 4 * i, rows[i].levels, 4 * sizeof(*levels));
        failures[i] =
            (struct lessons_reason){ rows[i].outcome, rows[i].reason };
        warned[i] = rows[i].warned;
        points[i] = (struct lessons_point){ .fate = (unsigned char)rows[i].fate,
                                            .seconds = rows[i].seconds,
                                            .failure = (uint32_t)i,
                                            .warned = (uint32_t)i,
                                            .number = rows[i].number,
                                            .artifact = number_of(rows, i) };
    }
    lessons_of(&input, &out);
    return out;
}

static void failures_of_one_kind_are_one(void **state)
{
    struct row points[POINTS];
    uint16_t levels[4 * POINTS];
    struct lessons out;

    (void)state;
    predecessor(points, levels);
    points[3].reason = "illegal instruction";
    out = learn(POINTS, points);
    assert_int_equal(out.n_failures, 2);
    assert_int_equal(out.failures[0].common.failures, 5);
    assert_int_equal(out.failures[0].common.n_terms, 2);
    assert_string_equal(out.tunables[out.failures[0].common.terms[0].axis].name,
                        "SWIZZLE");
    assert_string_equal(out.tunables[out.failures[0].common.terms[1].axis].name,
                        "HALF2");
    assert_string_equal(out.failures[1].reason, "illegal instruction");
    lessons_fini(&out);
}

static void a_tunable_that_never_changes_the_code_is_dead(void **state)
{
    struct row points[POINTS];
    uint16_t levels[4 * POINTS];
    struct lessons out;

    (void)state;
    predecessor(points, levels);
    out = learn(POINTS, points);
    assert_int_equal(out.tunables[0].dead, DEAD_TUNABLES_NO);
    assert_int_equal(out.tunables[1].dead, DEAD_TUNABLES_YES);
    assert_int_equal(out.built, 24);
    assert_int_equal(out.codes, 12);
    assert_near(out.tunables[1].share, 0, 0);
    lessons_fini(&out);
}

static void each_value_has_its_best_and_its_median(void **state)
{
    struct row points[POINTS];
    uint16_t levels[4 * POINTS];
    struct lessons out;
    const struct lessons_value *value;

    (void)state;
    predecessor(points, levels);
    points[0].fate = LESSONS_PENDING;
    out = learn(POINTS, points);
    value = &out.tunables[2].values[0]; /* SWIZZLE=0 */
    assert_string_equal(value->text, "0");
    assert_int_equal(value->timed, 11);
    assert_int_equal(value->failed, 0);
    assert_near(value->best_s, 1.5e-3, 1e-12);
    assert_near(value->median_s, 3.0e-3, 1e-12);
    assert_int_equal(out.tunables[2].best, 1);
    assert_int_equal(out.tunables[2].values[1].failed, 6);
    assert_int_equal(out.tunables[0].best, 0);
    assert_int_equal(out.pending, 1);
    lessons_fini(&out);
}

static void what_a_gate_warned_of_came_true_or_not(void **state)
{
    struct row points[POINTS];
    uint16_t levels[4 * POINTS];
    struct lessons out;

    (void)state;
    predecessor(points, levels);
    out = learn(POINTS, points);
    assert_int_equal(out.n_gates, 2);
    assert_string_equal(out.gates[0].name, "bank_conflicts");
    assert_int_equal(out.gates[0].warned, 12);
    assert_int_equal(out.gates[0].timed, 12);
    assert_int_equal(out.gates[0].others_timed, 6);
    assert_int_equal(out.gates[0].others_failed, 6);
    assert_near(out.gates[0].median_s, 3.0e-3, 1e-12);
    assert_near(out.gates[0].others_median_s, 2.0e-3, 1e-12);
    assert_near(out.gates[0].slower, 6.0 / 9 + 0.5 / 9, 1e-9);
    assert_int_equal(out.gates[0].truth, LESSONS_UNSEEN); /* p is 0.13 */
    assert_int_equal(out.gates[0].best_rank, 3); /* two of 1.0 ms before it */
    assert_int_equal(out.gates[1].warned, 0);
    assert_true(isnan(out.gates[1].slower));
    lessons_fini(&out);
}

static enum lessons_truth truth_when_warned_is(double factor)
{
    struct row points[POINTS];
    uint16_t levels[4 * POINTS];
    struct lessons out;
    enum lessons_truth truth;

    predecessor(points, levels);
    for (int i = 0; i < POINTS; i++)
        points[i].seconds =
            1e-3 * (1 + i / 100.0) * (points[i].warned ? factor : 1);
    out = learn(POINTS, points);
    truth = out.gates[0].truth;
    lessons_fini(&out);
    return truth;
}

static void a_warning_is_true_when_what_it_is_about_is_slower(void **state)
{
    (void)state;
    assert_int_equal(truth_when_warned_is(2), LESSONS_TRUE);
    assert_int_equal(truth_when_warned_is(0.5), LESSONS_FALSE);
    assert_int_equal(truth_when_warned_is(1), LESSONS_UNSEEN);
}

static void the_table_has_every_lesson(void **state)
{
    struct row points[POINTS];
    uint16_t levels[4 * POINTS];
    struct lessons out;
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    (void)state;
    predecessor(points, levels);
    out = learn(POINTS, points);
    lessons_table(&out, to);
    fclose(to);
    golden_check("lessons.txt", text);
    free(text);
    lessons_fini(&out);
}

static void the_json_has_every_lesson(void **state)
{
    struct row points[POINTS];
    uint16_t levels[4 * POINTS];
    struct lessons out;
    struct json_out json;
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    (void)state;
    predecessor(points, levels);
    out = learn(POINTS, points);
    json_out_init(&json, to);
    json_out_open(&json, NULL, '{');
    lessons_json(&out, &json, "lessons");
    json_out_close(&json);
    fclose(to);
    golden_check("lessons.json", text);
    free(text);
    lessons_fini(&out);
}

/* Nothing was right: the report says what was never varied. */
static void a_sweep_of_failures_names_what_was_not_varied(void **state)
{
    struct row points[POINTS], bad[POINTS];
    uint16_t levels[4 * POINTS];
    struct lessons out;
    char *text;
    size_t len, n = 0;
    FILE *to = open_memstream(&text, &len);

    (void)state;
    predecessor(points, levels);
    for (int i = 0; i < POINTS; i++)
        if (points[i].fate == LESSONS_FAILED)
            bad[n++] = points[i];
    out = learn(n, bad);
    lessons_table(&out, to);
    fclose(to);
    assert_non_null(
        strstr(text, "share SWIZZLE=1 HALF2=1; no configuration is correct, so "
                     "none of these can be judged: vary them\n"));
    assert_non_null(strstr(text, "all 6 runtime: misaligned address"));
    free(text);
    lessons_fini(&out);
}

static void from_a_database(void **state)
{
    struct store *store = report_fixture(*state);
    struct report *report;
    struct lessons out;
    struct err err = { "" };

    assert_int_equal(report_load(store, &report, &err), 0);
    if (lessons_load(report, NULL, store, &out, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(out.timed, 2);
    assert_int_equal(out.failed, 2);
    assert_int_equal(out.pending, 1);
    assert_int_equal(out.n_tunables, 2);
    assert_string_equal(out.tunables[0].name, "BLOCK_SIZE");
    assert_int_equal(out.tunables[0].n, 4);
    assert_string_equal(out.tunables[0].values[out.tunables[0].best].text,
                        "128");
    assert_int_equal(out.n_failures, 2);
    lessons_fini(&out);
    report_free(report);
    store_close(store);
}

#define MANY 20000
#define MANY_AXES 20
#define MANY_VALUES 4

/* The largest that is promised; prints what it costs. */
static void twenty_thousand_configurations_of_twenty_tunables(void **state)
{
    static const char *const values[] = { "1", "2", "4", "8" };
    struct lessons_axis many[MANY_AXES];
    struct lessons_point *points = mem_new(MANY, sizeof(*points));
    uint16_t *levels = mem_new(MANY * MANY_AXES, sizeof(*levels));
    const struct lessons_reason failure = { "runtime", "misaligned address" };
    const uint64_t warned[] = { 0, 1 };
    struct lessons_input input = { many,     MANY_AXES, points, levels, MANY,
                                   &failure, 1,         warned, gates,  2 };
    struct lessons out;
    struct rusage before, after;
    clock_t start;
    struct prng prng;

    (void)state;
    prng_init(&prng, 7);
    for (int a = 0; a < MANY_AXES; a++)
        many[a] =
            (struct lessons_axis){ "T", values, MANY_VALUES, MANY_VALUES };
    for (int i = 0; i < MANY; i++) {
        uint16_t *at = levels + i * MANY_AXES;

        for (int a = 0; a < MANY_AXES; a++)
            at[a] = (uint16_t)prng_below(&prng, MANY_VALUES);
        points[i] = (struct lessons_point){
            .fate = at[3] == 1 && at[4] == 2 ? LESSONS_FAILED : LESSONS_TIMED,
            .seconds = exp(0.1 * at[0] + 0.1 * prng_unit(&prng) +
                           (at[1] == at[2] ? 0.2 : 0)),
            .warned = at[5] == 0,
            .number = -1,
        };
    }
    getrusage(RUSAGE_SELF, &before);
    start = clock();
    lessons_of(&input, &out);
    print_message(
        "%.2f s, %ld KiB\n", (double)(clock() - start) / CLOCKS_PER_SEC,
        (getrusage(RUSAGE_SELF, &after), after.ru_maxrss - before.ru_maxrss));
    assert_true(out.tunables[0].share > 0.4);
    assert_int_equal(out.importance.pairs[0].a, 1);
    assert_int_equal(out.importance.pairs[0].b, 2);
    assert_int_equal(out.failures[0].common.n_terms, 2);
    assert_int_equal(out.failures[0].common.terms[0].axis, 3);
    assert_int_equal(out.failures[0].common.right_sharing, 0);
    lessons_fini(&out);
    free(points);
    free(levels);
}

static void numbers_do_not_order_reasons(void **state)
{
    (void)state;
    assert_int_equal(
        lessons_reason_order("at 0x7f2: 12 of 'x'", "at 0x9: 3.5e-7 of 'x'"),
        0);
    assert_true(lessons_reason_order("read of 'x'", "read of 'y'") < 0);
    assert_true(lessons_reason_order("row 7", "row") > 0);
    assert_true(lessons_reason_order("", "a") < 0);
    assert_true(lessons_reason_order("7", "a") < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_do_not_order_reasons),
        cmocka_unit_test(failures_of_one_kind_are_one),
        cmocka_unit_test(a_tunable_that_never_changes_the_code_is_dead),
        cmocka_unit_test(each_value_has_its_best_and_its_median),
        cmocka_unit_test(what_a_gate_warned_of_came_true_or_not),
        cmocka_unit_test(a_warning_is_true_when_what_it_is_about_is_slower),
        cmocka_unit_test(the_table_has_every_lesson),
        cmocka_unit_test(the_json_has_every_lesson),
        cmocka_unit_test(a_sweep_of_failures_names_what_was_not_varied),
        cmocka_unit_test_setup_teardown(from_a_database, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test(twenty_thousand_configurations_of_twenty_tunables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
