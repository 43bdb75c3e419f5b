#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/python/py_expression.h"
#include "coordinator/python/py_sql.h"

/* a is 8 of 2, 4, 8; W is 3 of 3, 5, and ProblemSize a constant. */
static const struct py_value a_values[] = { { .kind = PY_INT, .integer = 2 },
                                            { .kind = PY_INT, .integer = 4 },
                                            { .kind = PY_INT, .integer = 8 } };
static const struct py_value w_values[] = { { .kind = PY_INT, .integer = 3 },
                                            { .kind = PY_INT, .integer = 5 } };
static const struct py_value sizes[] = { { .kind = PY_INT, .integer = 4096 },
                                         { .kind = PY_INT, .integer = 100 } };
static const struct py_name names[] = {
    { "a", "a", { .kind = PY_INT, .integer = 8 }, a_values, 3 },
    { "W", "W_", { .kind = PY_INT, .integer = 3 }, w_values, 2 },
    { "ProblemSize",
      NULL,
      { .kind = PY_LIST, .items = sizes, .n = 2 },
      NULL,
      0 },
};
static const struct py_scope scope = { names, 3 };

static int run(const char *text, struct py_value *value, struct buf *sql,
               struct py_flaw *flaw)
{
    struct py_expression *expression;
    int rc = py_expression_parse(text, &expression, flaw);

    if (rc < 0)
        return rc;
    rc = value ? py_expression_eval(expression, &scope, value, flaw)
               : py_sql_condition(expression, &scope, sql, flaw);
    py_expression_free(expression);
    return rc;
}

static void names_of_a_tuning_problem_are_known(void **state)
{
    static const struct {
        const char *text;
        int64_t want;
    } rows[] = {
        { "a * W", 24 },
        { "max(W)", 5 },
        { "min(W) + max(a)", 11 },
        { "(ProblemSize[0] + max(W) - 1) * ProblemSize[1]", 410000 },
        { "ProblemSize[-1]", 100 },
        { "sum(ProblemSize)", 4196 },
        { "max(W, a)", 8 },
        { "sum(W for W in range(4))", 6 },
        { "set([1, 2]) == set([2, 1, 2])", 1 },
        { "set(('b', 3, (2, 1), 'a')) == set(((2, 1), 'a', 'b', 3))", 1 },
        { "set([1, 2]) == set([2, 3])", 0 },
        { "0b100 + 0o17 + 0X1f", 50 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct py_value value;
        struct py_flaw flaw;

        if (run(rows[i].text, &value, NULL, &flaw) < 0)
            fail_msg("%s: %s", rows[i].text, flaw.what);
        assert_int_equal(value.integer, rows[i].want);
    }
}

static void work_is_bounded(void **state)
{
    static const char *const rows[][2] = {
        { "sum(i for i in range(10 ** 9))", "more than 200000 steps" },
        { "range(10 ** 18)", "more than 200000 steps" },
        { "sum(1 for i in range(1000) for j in range(1000))", "steps" },
        { "2 ** 127", "beyond 128 bits" },
        { "2 * 2 ** 126", "beyond 128 bits" },
        { "-2 ** 126 * 2 - 1", "beyond 128 bits" },
        { "170141183460469231731687303715884105728", "beyond 128 bits" },
        { "1 << 127", "beyond 128 bits" },
        { "int('9' * 40)", "beyond 128 bits" },
        { "abs(-2 ** 126 * 2)", "beyond 128 bits" },
        { "(2 ** 80 + 1) / 3", "beyond 53 bits" },
        { "'x' * 10 ** 9", "more than 200000 steps" },
        { "[1] * 10 ** 9", "more than 200000 steps" },
        { "a && W", "write 'and'" },
        { "a || W", "write 'or'" },
        { "!a", "write 'not'" },
        { "a = 1", "write '=='" },
        { "'\\x41'", "not part of the Python subset" },
        { "f'{a:4}'", "only {expression} may stand" },
        { "a.real", "there is no method 'real'" },
        { "math.nothing", "there is no number 'nothing'" },
        { "1e200 ** 2", "too large" },
        { "0b102", "'0b102' is not a number" },
        { "0o8", "'0o8' is not a number" },
        { "0x", "'0x' is not a number" },
        { "nothing + 1", "there is no name 'nothing'" },
        { "system('x')", "there is no function 'system'" },
    };
    char deep[2 * PY_EXPRESSION_BYTES_MAX] = "";
    struct py_value value;
    struct py_flaw flaw;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(run(rows[i][0], &value, NULL, &flaw), ERR_INPUT);
        if (!strstr(flaw.what, rows[i][1]))
            fail_msg("%s: %s", rows[i][0], flaw.what);
    }
    memset(deep, '(', 1000);
    assert_int_equal(run(deep, &value, NULL, &flaw), ERR_INPUT);
    assert_string_equal(flaw.what, "it is too deep");
    memset(deep, '-', 1000);
    assert_int_equal(run(deep, &value, NULL, &flaw), ERR_INPUT);
    assert_string_equal(flaw.what, "it is too deep");
    memset(deep, '1', sizeof(deep) - 1);
    assert_int_equal(run(deep, &value, NULL, &flaw), ERR_INPUT);
    assert_string_equal(flaw.what, "it has more than 8192 bytes");
}

static void a_flaw_has_its_place(void **state)
{
    static const struct {
        const char *text;
        size_t at;
    } rows[] = {
        { "a + $", 4 },
        { "a + (1 //  0)", 7 },
        { "a > b", 4 },
        { "a >", 3 },
    };
    struct py_value value;
    struct py_flaw flaw;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(run(rows[i].text, &value, NULL, &flaw), ERR_INPUT);
        assert_int_equal(flaw.at, rows[i].at);
    }
}

static void expect_sql(const char *text, const char *expected)
{
    struct py_flaw flaw;
    struct buf sql;

    buf_init(&sql, PY_EXPRESSION_BYTES_MAX);
    if (run(text, NULL, &sql, &flaw) < 0)
        fail_msg("%s: %s", text, flaw.what);
    assert_string_equal(buf_text(&sql), expected);
    buf_fini(&sql);
}

static void a_condition_is_written_in_sql(void **state)
{
    static const char *const rows[][2] = {
        { "W == 3 or a % 4 != 0", "((W_ = 3) OR ((a % 4) <> 0))" },
        { "2 <= a * W <= 1024", "((2 <= (a * W_)) AND ((a * W_) <= 1024))" },
        { "a // 2 > 1", "((a / 2) > 1)" },
        { "(a - 5) // 2 > 1",
          "(CAST(floor(1.0 * (a - 5) / 2) AS INTEGER) > 1)" },
        { "a / 3 < 2.5", "((1.0 * a / 3) < 2.5)" },
        { "a in [2 ** k for k in range(1, 3)]", "(((a = 2)) OR ((a = 4)))" },
        { "any(a == k for k in range(2))", "(((a = 0)) OR ((a = 1)))" },
        { "a < max(W)", "(a < 5)" },
        { "ProblemSize[0] % a == 0", "((4096 % a) = 0)" },
        { "a", "(a <> 0)" },
        { "not a", "(NOT (a <> 0))" },
        { "1 < 2", "1" },
        { "(a - 5) << 1 > W", "(((a - 5) << 1) > W_)" },
        { "len([a, W]) == 2", "1" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect_sql(rows[i][0], rows[i][1]);
}

/* What depends on one tunable only has a value for each of its values. */
static void what_sql_cannot_say_is_listed(void **state)
{
    static const char *const rows[][2] = {
        { "round(a / 3) == W",
          "((CASE a WHEN 2 THEN 1 WHEN 4 THEN 1 WHEN 8 THEN 3 END) = W_)" },
        { "a.bit_length() > W or W == 3",
          "(((CASE a WHEN 2 THEN 2 WHEN 4 THEN 3 WHEN 8 THEN 4 END) > W_) OR "
          "(W_ = 3))" },
        { "a in range(a)",
          "(CASE a WHEN 2 THEN 0 WHEN 4 THEN 0 WHEN 8 THEN 0 END)" },
        { "[1, 2.5, 3][a // 4] > W", /* 8 // 4 is 2 */
          "((CASE a WHEN 2 THEN 1 WHEN 4 THEN 2.5 WHEN 8 THEN 3 END) > W_)" },
        { "1 << a - 5 > W", /* raises an error for 2 and 4 */
          "((CASE a WHEN 8 THEN 8 END) > W_)" },
        { "f'{a}' == '8' and W > 3",
          "(((CASE a WHEN 2 THEN '2' WHEN 4 THEN '4' WHEN 8 THEN '8' END) = "
          "'8') AND (W_ > 3))" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect_sql(rows[i][0], rows[i][1]);
}

/* SQL's ints have 64 bits: beyond them, it rounds. */
static void what_may_be_too_large_for_sql_is_not_computed_there(void **state)
{
    static const struct {
        const char *text, *sql; /* NULL: refused */
    } rows[] = {
        { "a * W < 2 ** 63", "((a * W_) < 9.223372036854776e+18)" },
        { "a * W * 2 ** 62 > 5", "(((a * W_) * 4611686018427387904) > 5)" },
        { "a * W * 2 ** 62 % 7 > 5", NULL },
        { "W << a * W", "((W_ << (a * W_)) <> 0)" }, /* 5 << 40 */
        { "W << a * W * 2", NULL },                  /* 5 << 80 */
        { "(a + W) ** a > 5", "(CAST(pow((a + W_), a) AS INTEGER) > 5)" },
        { "(a + W) ** (2 * a) > 5", NULL }, /* 13 ** 16 */
        { "a * W == 'it\\'s'", NULL },
        { "a * W in (None, 6)", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct py_flaw flaw;
        struct buf sql;
        int rc;

        buf_init(&sql, PY_EXPRESSION_BYTES_MAX);
        rc = run(rows[i].text, NULL, &sql, &flaw);
        if ((rc < 0) != !rows[i].sql)
            fail_msg("%s: %s", rows[i].text,
                     rc < 0 ? flaw.what : buf_text(&sql));
        if (rc == 0)
            assert_string_equal(buf_text(&sql), rows[i].sql);
        buf_fini(&sql);
    }
}

static void what_sql_cannot_say_is_refused(void **state)
{
    static const char *const rows[] = {
        "[1, 2][a - W]",
        "1 << a - W > 2",
        "round(a / W)",
        "a in range(W)",
        "sum(range(a, W))",
        "'x' < a",
        "any(a == k * W for k in range(5000))",
        "max([k for k in (1, 2) if k > a - W])",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct py_flaw flaw;
        struct buf sql;

        buf_init(&sql, PY_EXPRESSION_BYTES_MAX);
        if (run(rows[i], NULL, &sql, &flaw) == 0)
            fail_msg("%s is %s", rows[i], buf_text(&sql));
        buf_fini(&sql);
    }
}

static void free_names_are_found(void **state)
{
    struct py_expression *expression;
    struct py_flaw flaw;
    size_t at = 0;

    (void)state;
    assert_int_equal(py_expression_parse("a + sum(k * b for k in range(W))",
                                         &expression, &flaw),
                     0);
    assert_true(py_expression_uses(expression, "a"));
    assert_true(py_expression_uses(expression, "W"));
    assert_false(py_expression_uses(expression, "k"));
    assert_string_equal(py_expression_unknown(expression, &scope, &at), "b");
    assert_int_equal(at, 12);
    py_expression_free(expression);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_a_tuning_problem_are_known),
        cmocka_unit_test(work_is_bounded),
        cmocka_unit_test(a_flaw_has_its_place),
        cmocka_unit_test(a_condition_is_written_in_sql),
        cmocka_unit_test(what_sql_cannot_say_is_listed),
        cmocka_unit_test(what_may_be_too_large_for_sql_is_not_computed_there),
        cmocka_unit_test(what_sql_cannot_say_is_refused),
        cmocka_unit_test(free_names_are_found),
    };

    return cmocka_run_group_tests_name("coordinator/python/py_expression",
                                       tests, NULL, NULL);
}
