/* The verdict of a finding, its output, and the exit code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/result/fuzz.h"

static void outcomes_are_right_wrong_or_skipped(void **state)
{
    static const struct {
        const char *outcome;
        enum fuzz_verdict verdict;
    } rows[] = {
        { "correct", FUZZ_RIGHT },   { "correctness", FUZZ_WRONG },
        { "runtime", FUZZ_WRONG },   { "timeout", FUZZ_WRONG },
        { "compile", FUZZ_WRONG },   { "constraints", FUZZ_SKIPPED },
        { "lost", FUZZ_SKIPPED },    { "crash", FUZZ_SKIPPED },
        { "pending", FUZZ_SKIPPED }, { NULL, FUZZ_SKIPPED },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(fuzz_verdict(rows[i].outcome), rows[i].verdict);
}

static void wrong_beats_skipped_and_skipped_beats_right(void **state)
{
    static const struct {
        struct fuzz fuzz;
        int code;
    } rows[] = {
        { { .counts = { 5, 0, 0 } }, 0 },
        { { .counts = { 5, 0, 1 } }, 2 },
        { { .counts = { 5, 1, 1 } }, 1 },
        { { .counts = { 0, 0, 1 } }, 2 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(fuzz_exit_code(&rows[i].fuzz), rows[i].code);
}

static struct fuzz_finding findings[] = {
    { .verdict = FUZZ_WRONG,
      .key = "0123456789abcdef0123456789abcdef",
      .config = (char[]){ "A=1" },
      .params = (char[]){ "{\"A\": 1}" },
      .shape = (char[]){ "n-65" },
      .outcome = (char[]){ "correctness" },
      .reason = (char[]){ "'out'[64] is 0, should be 1" },
      .relative_l2 = 0.125,
      .max_error = 1 },
    { .verdict = FUZZ_SKIPPED,
      .config = (char[]){ "A=2" },
      .params = (char[]){ "{\"A\": 2}" },
      .shape = (char[]){ "n-1" },
      .outcome = (char[]){ "lost" },
      .reason = (char[]){ "the host is gone" },
      .relative_l2 = NAN,
      .max_error = NAN },
};
static const struct fuzz some = { .configs = 1,
                                  .shapes = 3,
                                  .counts = { 1, 1, 1 },
                                  .findings = findings,
                                  .n_findings = 2 };

static void the_table_ends_with_the_sum(void **state)
{
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    (void)state;
    fuzz_print(&some, to);
    fclose(to);
    assert_string_equal(
        text,
        "configuration  shape  outcome      relative L2  largest error  what\n"
        "A=1            n-65   correctness        0.125              1  "
        "'out'[64] is 0, should be 1\n"
        "A=2            n-1    lost                   -              -  "
        "the host is gone\n"
        "\n"
        "1 configuration x 3 shapes: 1 right, 1 wrong, 1 skipped\n");
    free(text);
}

static void programs_get_the_findings_with_null_for_no_error(void **state)
{
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    (void)state;
    fuzz_json(&some, to);
    fclose(to);
    assert_non_null(strstr(text, "\"wrong\": 1"));
    assert_non_null(strstr(text, "\"params\": {\"A\": 1}"));
    assert_non_null(strstr(text, "\"relative_l2\": 0.125"));
    assert_non_null(strstr(text, "\"max_error\": null"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes_are_right_wrong_or_skipped),
        cmocka_unit_test(wrong_beats_skipped_and_skipped_beats_right),
        cmocka_unit_test(the_table_ends_with_the_sum),
        cmocka_unit_test(programs_get_the_findings_with_null_for_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
