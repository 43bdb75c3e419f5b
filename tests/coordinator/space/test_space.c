/* The points of a space, by hand-made spaces and by the predecessor's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/config/config.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"
#include "tests/coordinator/space/space_fixture.h"
#include "tests/coordinator/spec/spec_fixture.h"

#define SPACES FA_SOURCE_DIR "/tests/fixtures/spaces/"

/* The numbers of all points, with a blank after each. */
static const char *walk(void)
{
    static char text[2000];
    struct space_point point;
    size_t n = 0;
    int rc = 0;

    text[0] = '\0';
    while (n < sizeof(text) - 40 && (rc = space_next(space, &point, &err)) > 0)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%lld%s ",
                              (long long)point.number, point.warned ? "w" : "");
    return rc < 0 ? "error" : text;
}

static void points_come_in_order_last_tunable_fastest(void **state)
{
    struct value values[2];

    (void)state;
    open_fine(&(struct spec_parts){
        .tunables = "\"A\": [4, 8], \"B\": [\"x\", \"y\", \"z\"]",
        .gates = "{ \"name\": \"g\", \"reject\": \"A = 4 AND B = 'y'\" },"
                 "{ \"name\": \"w\", \"warn\": \"B = 'z'\" }",
        .baseline = "\"A\": 4, \"B\": \"x\"" });
    assert_int_equal(space_size(space), 6);
    assert_string_equal(walk(), "0 2w 3 4 5w ");
    assert_string_equal(walk(), "0 2w 3 4 5w ");
    space_values(space, 4, values);
    assert_int_equal(values[0].integer, 8);
    assert_string_equal(values[1].text, "y");
    assert_int_equal(space_number(space, values), 4);
    values[0].integer = 5;
    assert_int_equal(space_number(space, values), -1);
}

static void tunables_without_a_gate_are_walked_too(void **state)
{
    (void)state;
    open_fine(&(struct spec_parts){
        .tunables = "\"A\": [1, 2, 3], \"C\": [7], \"B\": [0, 1]",
        .gates = "{ \"name\": \"g\", \"reject\": \"A = 2\" }",
        .baseline = "\"A\": 1, \"B\": 1, \"C\": 7" });
    assert_string_equal(walk(), "0 1 4 5 ");
}

static void a_space_without_gates_is_its_product(void **state)
{
    (void)state;
    open_fine(&(struct spec_parts){ 0 });
    assert_string_equal(walk(), "0 1 2 3 ");
}

static void a_gate_holds_for_every_shape(void **state)
{
    (void)state;
    open_fine(&(struct spec_parts){
        .shapes = "{ \"name\": \"s\", \"N\": 4 }, { \"name\": \"t\", \"N\": 7 "
                  "}",
        .gates = "{ \"name\": \"g\", \"reject\": \"N % A <> 0\" }" });
    assert_string_equal(walk(), "0 1 ");
}

static void derived_values_are_put_in_with_their_parentheses(void **state)
{
    (void)state;
    open_fine(&(struct spec_parts){
        .derived = "\"SUM\": \"A + B\", \"TWICE\": \"2 * sum\"",
        .gates = "{ \"name\": \"g\", \"reject\": \"TWICE = 6\" }" });
    assert_string_equal(walk(), "0 3 ");
}

static void gates_are_counted_first_and_alone(void **state)
{
    struct space_gate_count counts[3];
    int64_t passed;

    (void)state;
    open_fine(&(struct spec_parts){
        .tunables = "\"A\": [1, 2, 3, 4], \"B\": [1, 2, 3, 4], \"C\": [1, 2]",
        .gates = "{ \"name\": \"a\", \"reject\": \"A > 2\" },"
                 "{ \"name\": \"b\", \"warn\": \"A = B\" },"
                 "{ \"name\": \"c\", \"reject\": \"A + B > 4\" }",
        .baseline = "\"A\": 1, \"B\": 1, \"C\": 1" });
    assert_int_equal(space_count(space, counts, &passed, &err), 0);
    assert_int_equal(counts[0].rejected_first, 16);
    assert_int_equal(counts[0].rejected_alone, 16);
    assert_int_equal(counts[1].rejected_alone, 0);
    assert_int_equal(counts[1].warned, 4);          /* A = B = 1 or 2 */
    assert_int_equal(counts[2].rejected_first, 6);  /* 1,4 2,3 2,4 */
    assert_int_equal(counts[2].rejected_alone, 20); /* 10 pairs */
    assert_int_equal(passed, 10);
}

static int rejects_all(const char *file, struct space_gate_count *counts,
                       int64_t *passed)
{
    assert_int_equal(spec_load(file, &spec, &err), 0);
    assert_int_equal(
        space_open(spec, gpu_arch_find("sm_89"), "cuda", NULL, &space, &err),
        0);
    assert_int_equal(space_size(space), 2592);
    assert_int_equal(space_count(space, counts, passed, &err), 0);
    return *passed == 0;
}

static void the_predecessors_gates_rejected_every_point(void **state)
{
    struct space_gate_count counts[4];
    int64_t passed;

    (void)state;
    assert_true(rejects_all(SPACES "predecessor.json", counts, &passed));
    assert_int_equal(counts[0].rejected_first, 1296);
    assert_int_equal(counts[1].rejected_first, 648);
    assert_int_equal(counts[2].rejected_first, 324);
    assert_int_equal(counts[3].rejected_first, 324);
    assert_int_equal(counts[3].rejected_alone, 2592);
    assert_int_equal(space_empty_err(space, counts, &err), ERR_INPUT);
    assert_non_null(strstr(err.text,
                           "gate 'smem' rejects all 2,592 configurations; "
                           "without the other gates, it still leaves 0"));
}

static void corrected_gates_pass_864_to_1080_points(void **state)
{
    struct space_gate_count counts[8];
    int64_t passed;

    (void)state;
    assert_false(rejects_all(SPACES "predecessor_right.json", counts, &passed));
    assert_int_equal(passed, 960);
}

/* Rows of a gate and how the message about it begins. */
static const struct {
    const char *rule, *message;
} bad[] = {
    { "A / 0 > 1", "gate 'g' yields NULL for A=1\n" },
    { "A % (B - 2) = 0", "gate 'g' yields NULL for A=1 B=2\n" },
    { "A", "gate 'g' yields 2 for A=2\n" },
    { "A - 1.5", "gate 'g' yields -0.5 for A=1\n" },
    { "iif(A = 1, 'a', 'b')", "gate 'g' yields 'a' for A=1\n" },
    { "iif(A = 1, 0, NULL)", "gate 'g' yields NULL for A=2\n" },
    { "sm_count > 10", "gate 'g' does not depend on a tunable\n" },
    { "1 = 0", "gate 'g' does not depend on a tunable\n" },
    { "A = 1 && B = 1", "gate 'g': '&&' is not SQL\n" },
    { "A = 1 || B = 1", "gate 'g': '||' joins texts in SQL\n" },
    { "!A", "gate 'g': '!' is not SQL\n" },
    { "A = 1; DROP TABLE t0", "gate 'g': this character is not allowed" },
    { "A = 1 -- B", "gate 'g': '--' begins a comment in SQL\n" },
    { "A = /* x */ 1", "gate 'g': a comment in a rule\n" },
    { "A = \\\"x\\\"", "gate 'g': this character is not allowed" },
    { "A = [x]", "gate 'g': this character is not allowed" },
    { "A = ?1", "gate 'g': this character is not allowed" },
    { "A = $x", "gate 'g': this character is not allowed" },
    { "A = x'00'", "gate 'g': this text has a prefix\n" },
    { "A = 'x", "gate 'g': this text does not end\n" },
    { "(A = 1", "gate 'g': a ) is missing\n" },
    { "A = 1) OR (1", "gate 'g': this ) closes nothing\n" },
    { "A IN (SELECT 1)", "gate 'g': 'SELECT' is not allowed in a rule\n" },
    { "EXISTS (VALUES (A))", "gate 'g': there is no function 'EXISTS'" },
    { "randomblob(1000000000) IS A", "gate 'g': there is no function 'rand" },
    { "A = CURRENT_TIME",
      "gate 'g': 'CURRENT_TIME' is not allowed in a rule\n" },
    { "A = rowid", "gate 'g': there is no 'rowid'\n" },
    { "A = t0.k", "gate 'g': there is no 't0'\n" },
    { "max(A) > 1", "gate 'g': misuse of aggregate function max()\n" },
    { "A > time_s", "gate 'g' cannot use the measured time 'time_s'\n" },
    { "A COLLATE nocase = 1",
      "gate 'g': 'COLLATE' is not allowed in a rule\n" },
    { "A >", "gate 'g': the rule ends where a value is missing\n" },
    { "fa_flaw(1, 2, A)", "gate 'g': there is no function 'fa_flaw'\n" },
};

static void each_bad_rule_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char gate[200], wanted[200], *slash;

        snprintf(gate, sizeof(gate), "{ \"name\": \"g\", \"reject\": \"%s\" }",
                 bad[i].rule);
        snprintf(wanted, sizeof(wanted), ": %s", bad[i].message);
        while ((slash = strchr(wanted, '\\')))
            memmove(slash, slash + 1, strlen(slash));
        assert_int_equal(open_parts(&(struct spec_parts){ .gates = gate }),
                         ERR_INPUT);
        if (!strstr(err.text, wanted))
            fail_msg("%s\ngave %s", bad[i].rule, err.text);
        teardown(NULL);
    }
}

static void a_rule_over_many_points_is_checked_during_the_walk(void **state)
{
    struct space_gate_count counts[1];
    struct space_point point;
    int64_t passed;
    int rc;

    (void)state;
    open_fine(&(struct spec_parts){
        .tunables = "\"A\": [1,2,3,4,5,6,7,8], \"B\": [1,2,3,4,5,6,7,8],"
                    "\"C\": [1,2,3,4,5,6,7,8], \"D\": [1,2,3,4,5,6,7,8],"
                    "\"E\": [1,2,3,4,5,6,7,8], \"F\": [1,2,3,4,5,6,7,8]",
        .gates = "{ \"name\": \"g\", \"reject\": "
                 "\"A + B + C + D + E + F / (8 - A) > 40\" }",
        .baseline = "\"A\":1,\"B\":1,\"C\":1,\"D\":1,\"E\":1,\"F\":1" });
    while ((rc = space_next(space, &point, &err)) > 0)
        continue;
    assert_int_equal(rc, ERR_INPUT);
    assert_non_null(strstr(err.text, "yields NULL for A=8 B=1 C=1 D=1 E=1"));
    assert_int_equal(space_count(space, counts, &passed, &err), ERR_INPUT);
}

/* Gates over 2^18 points, so that none is tried on all of them beforehand. */
#define EIGHT "[1,2,3,4,5,6,7,8]"
static const struct spec_parts many = {
    .tunables = "\"A\": " EIGHT ", \"B\": " EIGHT ", \"C\": " EIGHT
                ", \"D\": " EIGHT ", \"E\": " EIGHT ", \"F\": " EIGHT,
    .shapes = "{ \"name\": \"s\", \"N\": 8 }, { \"name\": \"t\", \"N\": 9 }",
    /* each would be in error where the other hits */
    .gates = "{ \"name\": \"p\", \"reject\": "
             "\"A + B + C + D + E + F > N + 12 OR A > F\" },"
             "{ \"name\": \"q\", \"reject\": "
             "\"(A * B + C * D) % (F - A + 1) <> E - E\" },"
             "{ \"name\": \"r\", \"reject\": \"B = C\" },"
             "{ \"name\": \"w\", \"warn\": \"A * B * C * D * E * F % N = 0\" }",
    .baseline = "\"A\":1,\"B\":1,\"C\":1,\"D\":1,\"E\":1,\"F\":1"
};

/* Is it rejected, by rules in C? */
static bool many_rejects(const int *v)
{
    return v[0] + v[1] + v[2] + v[3] + v[4] + v[5] > 20 || v[0] > v[5] ||
           (v[0] * v[1] + v[2] * v[3]) % (v[5] - v[0] + 1) != 0 || v[1] == v[2];
}

static int64_t walk_many(void)
{
    struct space_point point;
    int64_t passed = 0;

    for (int64_t number = 0; number < 1 << 18; number++) {
        int v[6], product = 1;
        uint64_t warned;

        for (int i = 0; i < 6; i++) {
            v[i] = (int)(number >> 3 * (5 - i) & 7) + 1;
            product *= v[i];
        }
        if (many_rejects(v))
            continue;
        passed++;
        assert_int_equal(space_next(space, &point, &err), 1);
        assert_int_equal(point.number, number);
        assert_int_equal(space_warned_at(space, number, &warned, &err), 0);
        assert_int_equal(warned, point.warned);
        assert_int_equal(point.warned,
                         product % 8 == 0 || product % 9 == 0 ? 8 : 0);
    }
    assert_int_equal(space_next(space, &point, &err), 0);
    return passed;
}

static void
gates_of_many_tunables_agree_with_looking_at_each_point(void **state)
{
    struct space_gate_count counts[4];
    int64_t walked, passed;

    (void)state;
    open_fine(&many);
    walked = walk_many();
    assert_true(walked > 1000);
    assert_int_equal(space_count(space, counts, &passed, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "gate 'q' yields NULL for A=2 B=1 C=1 "));
}

/* One gate of 2^24 combinations, whose sum is no whole number, is left to a
 * query. */
static void a_gate_with_too_many_combinations_uses_a_query(void **state)
{
    struct space_point point;
    int64_t n = 0, last = -1;

    (void)state;
    open_fine(&(struct spec_parts){
        .tunables = "\"A\": " EIGHT ", \"B\": " EIGHT ", \"C\": " EIGHT
                    ", \"D\": " EIGHT ", \"E\": " EIGHT ", \"F\": " EIGHT
                    ", \"G\": " EIGHT ", \"H\": " EIGHT,
        .gates = "{ \"name\": \"p\", \"reject\": \"A > 1 OR B > 1\" },"
                 "{ \"name\": \"q\", \"reject\": "
                 "\"0.5 * A + B + C + D + E + F + G + H > 8.5\" }",
        .baseline = "\"A\":1,\"B\":1,\"C\":1,\"D\":1,\"E\":1,\"F\":1,"
                    "\"G\":1,\"H\":1" });
    for (; space_next(space, &point, &err) == 1; last = point.number, n++)
        assert_true(point.number > last);
    assert_int_equal(n, 7); /* all are 1, or one of six is 2 */
    assert_int_equal(last, 1 << 15);
}

/* X0, X1 ... of these values, and a rule that joins them by 'sign'. */
static void open_many(int n, const char *values, const char *first,
                      const char *sign, const char *compared)
{
    char tunables[2000] = "", baseline[2000] = "", rule[2000] = "";

    for (int i = 0; i < n; i++) {
        const char *comma = i ? ", " : "";

        snprintf(tunables + strlen(tunables),
                 sizeof(tunables) - strlen(tunables), "%s\"X%d\": %s", comma, i,
                 values);
        snprintf(baseline + strlen(baseline),
                 sizeof(baseline) - strlen(baseline), "%s\"X%d\": %s", comma, i,
                 first);
        snprintf(rule + strlen(rule), sizeof(rule) - strlen(rule), "%sX%d",
                 i ? sign : "{ \"name\": \"g\", \"reject\": \"", i);
    }
    snprintf(rule + strlen(rule), sizeof(rule) - strlen(rule), "%s\" }",
             compared);
    open_fine(&(struct spec_parts){
        .tunables = tunables, .gates = rule, .baseline = baseline });
}

static void a_sum_of_sixty_tunables_is_counted_and_walked(void **state)
{
    struct space_gate_count count;
    struct space_point point;
    int64_t passed;

    (void)state;
    open_many(60, "[0, 1]", "0", " + ", " > 3");
    assert_int_equal(space_size(space), INT64_C(1) << 60);
    assert_int_equal(space_count(space, &count, &passed, &err), 0);
    assert_int_equal(passed, 1 + 60 + 1770 + 34220);
    assert_int_equal(count.rejected_first, (INT64_C(1) << 60) - passed);
    for (int64_t number = 0; number < 15; number++) {
        assert_int_equal(space_next(space, &point, &err), 1);
        assert_int_equal(point.number, number);
    }
    assert_int_equal(space_next(space, &point, &err), 1);
    assert_int_equal(point.number, 16);
    assert_int_equal(space_at(space, passed - 1, &point, &err), 0);
    assert_int_equal(point.number, INT64_C(7) << 57);
}

static void a_product_of_many_tunables_is_counted(void **state)
{
    struct space_gate_count count;
    int64_t passed;

    (void)state;
    open_many(30, "[1, 2, 4]", "1", " * ", " > 4");
    assert_int_equal(space_count(space, &count, &passed, &err), 0);
    assert_int_equal(passed, 1 + 30 + 30 + 435); /* none, a 2, a 4, two 2 */
}

/* Without whole numbers there is no way but to try all. */
static void what_is_not_understood_is_not_found_by_rank(void **state)
{
    struct space_point point;

    (void)state;
    open_many(20, "[0.5, 1]", "0.5", " + ", " > 12");
    assert_int_equal(space_at(space, 5, &point, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "too many configurations to list"));
    assert_int_equal(space_next(space, &point, &err), 1);
    assert_int_equal(point.number, 0);
}

static bool derives_numbers(const char *derived)
{
    bool numbers;

    open_fine(&(struct spec_parts){ .tunables = "\"A\": [0, 1, 2]",
                                    .baseline = "\"A\": 1",
                                    .derived = derived });
    numbers = space_derives_numbers(space);
    teardown(NULL);
    return numbers;
}

static void derived_values_that_may_fail_are_no_numbers(void **state)
{
    (void)state;
    assert_true(derives_numbers("\"D\": \"A * 2.5\", \"E\": \"D - 7\""));
    assert_true(derives_numbers("\"D\": \"64\""));
    assert_false(derives_numbers("\"D\": \"A\", \"E\": \"1 / D\""));
    assert_false(derives_numbers("\"D\": \"iif(A = 2, 'fine', 1)\""));
    assert_false(derives_numbers("\"D\": \"A * 1e308\""));
}

/* 60 derived values, each with twice the text of the previous one. */
static void the_length_of_derived_values_is_limited(void **state)
{
    char derived[8000] = "\"D0\": \"A\"";

    (void)state;
    for (int i = 1; i < 60; i++)
        snprintf(derived + strlen(derived), sizeof(derived) - strlen(derived),
                 ", \"D%d\": \"D%d * D%d\"", i, i - 1, i - 1);
    assert_int_equal(open_parts(&(struct spec_parts){ .derived = derived }),
                     ERR_INPUT);
    assert_non_null(strstr(err.text, "are longer than 1 MiB"));
}

static void facts_that_are_not_known_are_null(void **state)
{
    struct gpu_arch_facts facts = *gpu_arch_find("sm_89");

    (void)state;
    facts.mem_bytes = GPU_ARCH_UNKNOWN;
    spec = spec_fixture(&(struct spec_parts){
        .gates = "{ \"name\": \"g\", \"reject\": \"A > mem_bytes\" }" });
    assert_int_equal(space_open(spec, &facts, "cuda", NULL, &space, &err),
                     ERR_INPUT);
    assert_non_null(strstr(err.text, "gate 'g' yields NULL for A=1"));
}

static void a_cover_is_of_the_points_that_pass(void **state)
{
    const int64_t want[] = { 0, 1, 3 };
    int64_t *points;
    size_t n;

    (void)state;
    open_fine(&(struct spec_parts){
        .gates = "{ \"name\": \"g\", \"reject\": \"A = 2 AND B = 1\", "
                 "\"why\": \"w\" }" });
    assert_int_equal(space_cover(space, &points, &n, &err), 0);
    assert_int_equal(n, 3);
    assert_memory_equal(points, want, sizeof(want));
    free(points);
    assert_string_equal(walk(), "0 1 3 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(points_come_in_order_last_tunable_fastest,
                                  teardown),
        cmocka_unit_test_teardown(tunables_without_a_gate_are_walked_too,
                                  teardown),
        cmocka_unit_test_teardown(a_space_without_gates_is_its_product,
                                  teardown),
        cmocka_unit_test_teardown(a_gate_holds_for_every_shape, teardown),
        cmocka_unit_test_teardown(
            derived_values_are_put_in_with_their_parentheses, teardown),
        cmocka_unit_test_teardown(gates_are_counted_first_and_alone, teardown),
        cmocka_unit_test_teardown(the_predecessors_gates_rejected_every_point,
                                  teardown),
        cmocka_unit_test_teardown(corrected_gates_pass_864_to_1080_points,
                                  teardown),
        cmocka_unit_test(each_bad_rule_is_named),
        cmocka_unit_test_teardown(
            a_rule_over_many_points_is_checked_during_the_walk, teardown),
        cmocka_unit_test_teardown(
            gates_of_many_tunables_agree_with_looking_at_each_point, teardown),
        cmocka_unit_test_teardown(a_sum_of_sixty_tunables_is_counted_and_walked,
                                  teardown),
        cmocka_unit_test_teardown(a_product_of_many_tunables_is_counted,
                                  teardown),
        cmocka_unit_test_teardown(what_is_not_understood_is_not_found_by_rank,
                                  teardown),
        cmocka_unit_test_teardown(
            a_gate_with_too_many_combinations_uses_a_query, teardown),
        cmocka_unit_test_teardown(derived_values_that_may_fail_are_no_numbers,
                                  teardown),
        cmocka_unit_test_teardown(the_length_of_derived_values_is_limited,
                                  teardown),
        cmocka_unit_test_teardown(facts_that_are_not_known_are_null, teardown),
        cmocka_unit_test_teardown(a_cover_is_of_the_points_that_pass, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
