#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/msg.h"
#include "coordinator/reactor/result_check.h"

#define HASH "00112233445566778899aabbccddeeff"

static const double second[] = { 1.0 }, pair[] = { 0.5, 0.5 };

static struct msg built(const char *outcome, const char *artifact)
{
    return (
        struct msg){ .type = MSG_BUILT,
                     .built = { .work = { .id = { .purpose = "kernel" } },
                                .result = { .nonce = HASH, .outcome = outcome },
                                .artifact = artifact } };
}

static struct msg measured(const char *outcome, size_t samples, double held_s)
{
    return (struct msg){ .type = MSG_MEASURED,
                         .measured = {
                             .result = { .nonce = HASH, .outcome = outcome },
                             .samples = { second, samples },
                             .sampling = samples ? "settled" : "none",
                             .checked = { -1, -1 },
                             .held_s = held_s } };
}

static void assert_refused(struct msg msg, const char *text)
{
    struct err err;

    assert_int_equal(result_check(&msg, &err), ERR_PROTO);
    assert_string_equal(err.text, text);
}

static void honest_results_pass(void **state)
{
    struct msg rows[] = { built("built", HASH), built("compile", ""),
                          measured("correct", 1, 1.5),
                          measured("runtime", 0, 0) };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(result_check(&rows[i], NULL), 0);
}

static void only_what_is_wrong_may_have_any_error(void **state)
{
    struct msg right = measured("correct", 1, 1.5);
    struct msg wrong = measured("correctness", 0, 0);

    (void)state;
    right.measured.relative_l2 = wrong.measured.relative_l2 = INFINITY;
    wrong.measured.max_error = NAN;
    assert_int_equal(result_check(&wrong, NULL), 0);
    assert_refused(right, "MEASURED is correct with errors of inf and 0");
    right.measured.relative_l2 = 0;
    right.measured.max_error = NAN;
    assert_refused(right, "MEASURED is correct with errors of 0 and nan");
}

static void lies_are_named(void **state)
{
    struct msg no_nonce = built("compile", "");
    struct msg aimless = built("built", HASH);
    struct msg no_word = measured("correct", 1, 2), unsure = no_word;
    struct msg rejected = no_word;

    (void)state;
    no_nonce.built.result.nonce = "";
    aimless.built.work.id.purpose = "fun";
    no_word.measured.sampling = "none";
    unsure.measured.sampling = "perhaps";
    rejected.measured.rejected = (struct reals){ second, 1 };
    rejected.measured.held_s = 1.5;
    assert_refused(no_nonce, "a result's nonce is no hash");
    assert_refused(built("built", ""), "BUILT.artifact is no hash");
    assert_refused(built("correct", HASH), "BUILT.outcome is 'correct'");
    assert_refused(aimless, "BUILT is not for 'fun'");
    assert_refused(measured("built", 1, 2), "MEASURED.outcome is 'built'");
    assert_refused(measured("correct", 0, 1),
                   "MEASURED is correct without a sample");
    assert_refused(measured("correct", 1, 0.5),
                   "MEASURED.samples add up to 1 s, more than the 0.5 s the "
                   "GPU was held");
    assert_refused(no_word, "MEASURED.sampling is 'none' with 1 samples");
    assert_refused(unsure, "MEASURED.sampling is 'perhaps'");
    assert_refused(rejected,
                   "MEASURED.samples add up to 2 s, more than the 1.5 s the "
                   "GPU was held");
}

static void a_sample_that_no_launch_has_is_named(void **state)
{
    static const double short_ones[] = { 1e-3, 5e-324 };
    struct msg msg = measured("correct", 2, 1.5);

    (void)state;
    msg.measured.samples.items = short_ones;
    assert_refused(msg, "MEASURED has a sample of 4.94066e-324 s, and no "
                        "launch is that short");
    msg.measured.samples = (struct reals){ second, 1 };
    msg.measured.rejected = (struct reals){ &short_ones[1], 1 };
    assert_refused(msg, "MEASURED has a sample of 4.94066e-324 s, and no "
                        "launch is that short");
}

static struct msg counted(int64_t launches, int64_t varied)
{
    struct msg msg = measured("correct", 2, 3);

    msg.measured.samples.items = pair;
    msg.measured.rejected = (struct reals){ second, 1 };
    msg.measured.checked = (struct msg_checked){ launches, varied };
    return msg;
}

/* An older worker counts none. */
static void each_sample_was_a_checked_launch(void **state)
{
    struct msg rows[] = { counted(-1, -1), counted(3, 0), counted(3120, 1) };
    struct msg none = measured("runtime", 0, 0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(result_check(&rows[i], NULL), 0);
    assert_refused(counted(2, 0), "MEASURED.checked is 2 with 3 samples");
    assert_refused(counted(0, 1), "MEASURED.checked is 0 with 3 samples");
    assert_refused(counted(3, -1),
                   "MEASURED.checked and MEASURED.varied are not both there");
    assert_refused(counted(-1, 0),
                   "MEASURED.checked and MEASURED.varied are not both there");
    none.measured.checked = (struct msg_checked){ 0, 0 };
    assert_int_equal(result_check(&none, NULL), 0);
    none.measured.checked.varied = 1;
    assert_refused(none, "MEASURED.varied is 1 without a checked launch");
}

static struct msg ran(const char *outcome, int64_t status)
{
    return (
        struct msg){ .type = MSG_RAN,
                     .ran = { .result = { .nonce = HASH, .outcome = outcome },
                              .status = status } };
}

static void a_command_ran_or_says_why_not(void **state)
{
    struct msg rows[] = { ran("ran", 0), ran("missing", -1), ran("failed", 2),
                          ran("timeout", -1), ran("crash", -1) };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(result_check(&rows[i], NULL), 0);
    assert_refused(ran("correct", 0), "RAN.outcome is 'correct'");
    assert_refused(ran("garbage", 0), "RAN.outcome is 'garbage'");
    assert_refused(ran("ran", 3), "RAN has run with exit status 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_results_pass),
        cmocka_unit_test(only_what_is_wrong_may_have_any_error),
        cmocka_unit_test(lies_are_named),
        cmocka_unit_test(a_sample_that_no_launch_has_is_named),
        cmocka_unit_test(each_sample_was_a_checked_launch),
        cmocka_unit_test(a_command_ran_or_says_why_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
