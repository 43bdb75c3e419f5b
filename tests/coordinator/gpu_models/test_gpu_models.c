/* Costs of a configuration on other models, and the sentence. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/gpu_models/gpu_models.h"
#include "coordinator/text/json_out.h"

static char A[] = "A=1", B[] = "A=2", C[] = "A=3", JSON[] = "{\"A\": 0}";
static char FILE_1[] = "{1}", FILE_2[] = "{2}", NONE[] = "";
static char L4[] = "l4", H200[] = "h200", T4[] = "t4", STATE[] = "confirmed";

static struct gpu_models_time old_times[] = {
    { "a", A, JSON, 1e-3 },
    { "b", B, JSON, 1.2e-3 },
    { "c", C, JSON, 1.02e-3 },
};
static struct gpu_models_time new_times[] = {
    { "b", B, JSON, 2e-4 },
    { "a", A, JSON, 2.06e-4 },
};
static struct gpu_models_time third_times[] = { { "c", C, JSON, 5e-3 } };

static const double none = (double)NAN;

/* l4: A wins, 1.31x; h200: B wins, 1.05x; t4: only C is right there. */
static void fill(struct gpu_models_side *sides)
{
    const struct gpu_models_side all[] = {
        { L4,
          NONE,
          NONE,
          FILE_1,
          NONE,
          STATE,
          false,
          false,
          "a",
          { 1.31, 1.3, 1.32 },
          old_times,
          3,
          NONE },
        { H200,
          NONE,
          NONE,
          FILE_1,
          NONE,
          STATE,
          false,
          false,
          "b",
          { 1.05, 1.04, 1.06 },
          new_times,
          2,
          NONE },
        { T4,
          NONE,
          NONE,
          FILE_1,
          NONE,
          STATE,
          false,
          true,
          "c",
          { 1, 1, 1 },
          third_times,
          1,
          NONE },
    };

    memcpy(sides, all, sizeof(all));
}

static void says(const struct gpu_models *models, const char *want)
{
    struct buf text;

    buf_init(&text, 1000);
    gpu_models_sentence(models, &text);
    assert_string_equal(buf_text(&text), want);
    buf_fini(&text);
}

static void each_winner_and_the_cost_of_one_for_both(void **state)
{
    struct gpu_models_side sides[3];

    (void)state;
    fill(sides);
    says(&(struct gpu_models){ sides, 2 },
         "l4: A=1, 1.31x; h200: A=2, 1.05x; A=1 on both costs 3 % on h200");
    says(&(struct gpu_models){ sides, 3 },
         "l4: A=1, 1.31x; h200: A=2, 1.05x; t4: the baseline, A=3; no "
         "configuration has times on all");
}

static void one_that_wins_everywhere_costs_nothing(void **state)
{
    struct gpu_models_side sides[3];

    (void)state;
    fill(sides);
    memcpy(sides[1].winner, "a", 2);
    sides[1].speedup.value = none;
    new_times[0].seconds = 2.06e-4;
    says(&(struct gpu_models){ sides, 2 },
         "l4: A=1, 1.31x; h200: A=1, not confirmed; A=1 on both costs nothing");
    new_times[0].seconds = 2e-4;
}

static void a_compromise_may_be_no_winner(void **state)
{
    struct gpu_models_side sides[3];
    struct gpu_models_common common;
    struct gpu_models models = { sides, 2 };
    struct gpu_models_time times[] = { { "a", A, JSON, 3e-4 },
                                       { "b", B, JSON, 2e-4 },
                                       { "c", C, JSON, 2.02e-4 } };

    (void)state;
    fill(sides);
    sides[1].times = times;
    sides[1].n = 3;
    gpu_models_common(&models, &common);
    assert_string_equal(common.config->key, "c");
    assert_int_equal(common.at, 0);
    assert_true(fabs(common.cost - 0.02) < 1e-9);
}

static void what_was_not_measured_or_only_emulated_has_no_cost(void **state)
{
    struct gpu_models_side sides[3];

    (void)state;
    fill(sides);
    assert_true(fabs(gpu_models_cost(&sides[0], "b") - 0.2) < 1e-9);
    assert_true(isnan(gpu_models_cost(&sides[1], "c")));
    assert_true(isnan(gpu_models_cost(&sides[2], "a")));
    sides[0].emulated = true;
    assert_true(isnan(gpu_models_cost(&sides[0], "b")));
    sides[1].winner[0] = '\0';
    assert_true(isnan(gpu_models_cost(&sides[1], "a")));
    says(&(struct gpu_models){ sides, 2 },
         "l4: no winner; h200: no winner; emulated times are not compared");
}

static char *printed(void (*print)(const struct gpu_models *, FILE *),
                     const struct gpu_models *models)
{
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    print(models, to);
    fclose(to);
    return text;
}

static void another_kernel_is_noticed(void **state)
{
    struct gpu_models_side sides[3];
    struct gpu_models models = { sides, 3 };
    char *text;

    (void)state;
    fill(sides);
    sides[0].sweep = A;
    sides[2].sweep = B;
    sides[2].file = FILE_2;
    text = printed(gpu_models_print, &models);
    assert_non_null(strstr(text,
                           "The sweeps are not of one name (A=1, A=2), so "
                           "they may be of different"));
    assert_null(strstr(text, "The sweep file changed"));
    free(text);
}

static void another_sweep_file_is_noticed(void **state)
{
    struct gpu_models_side sides[3];
    struct gpu_models models = { sides, 3 };

    (void)state;
    fill(sides);
    assert_true(gpu_models_same_file(&models));
    sides[1].file = NONE; /* it has no sweep yet */
    assert_true(gpu_models_same_file(&models));
    sides[2].file = FILE_2;
    assert_false(gpu_models_same_file(&models));
}

static void print_json(const struct gpu_models *models, FILE *to)
{
    struct json_out out;

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    gpu_models_json(models, &out);
    json_out_close(&out);
}

static void people_and_programs_read_the_same_costs(void **state)
{
    struct gpu_models_side sides[3];
    struct gpu_models models = { sides, 3 };
    char *text, *json, *cost;

    (void)state;
    fill(sides);
    text = printed(gpu_models_print, &models);
    json = printed(print_json, &models);
    assert_non_null(strstr(text, "+3.0 %  not measured there  A=1"));
    assert_non_null(strstr(text, "winner of l4\n"));
    assert_null(strstr(text, "The sweep file changed"));
    cost = strstr(json, "\"h200\": ");
    assert_non_null(cost);
    assert_true(fabs(strtod(cost + strlen("\"h200\": "), NULL) - 0.03) < 1e-9);
    assert_non_null(strstr(json, "\"t4\": null"));
    assert_non_null(strstr(json, "\"best_for_all\": null"));
    free(text);
    free(json);
}

static void
a_database_that_is_not_there_is_a_side_without_a_winner(void **state)
{
    const char *label = "l4", *path = "/nowhere/x.l4.db";
    struct gpu_models models;
    struct err err;

    (void)state;
    assert_int_equal(gpu_models_load(&label, &path, 1, &models, &err),
                     ERR_STORE);
    assert_string_equal(err.text, models.sides[0].verdict);
    assert_int_equal(models.n, 1);
    assert_string_equal(models.sides[0].state, "no winner");
    assert_non_null(strstr(models.sides[0].verdict, "/nowhere/x.l4.db"));
    assert_null(gpu_models_winner(&models.sides[0]));
    gpu_models_fini(&models);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_winner_and_the_cost_of_one_for_both),
        cmocka_unit_test(one_that_wins_everywhere_costs_nothing),
        cmocka_unit_test(a_compromise_may_be_no_winner),
        cmocka_unit_test(what_was_not_measured_or_only_emulated_has_no_cost),
        cmocka_unit_test(another_sweep_file_is_noticed),
        cmocka_unit_test(another_kernel_is_noticed),
        cmocka_unit_test(people_and_programs_read_the_same_costs),
        cmocka_unit_test(
            a_database_that_is_not_there_is_a_side_without_a_winner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
