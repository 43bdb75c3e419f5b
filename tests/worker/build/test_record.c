#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/outcome.h"
#include "worker/build/record_build.h"
#include "worker/runner/device/record.h"

#define FILE_NAME "record_test"
#define ARTIFACT "record_test_artifact"

static void put_record(const char *text)
{
    FILE *file = fopen(FILE_NAME, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void a_record_is_read(void **state)
{
    char why[RECORD_WHY_MAX];
    struct record record;

    (void)state;
    put_record("record 1\nconfig A=1\noutcome correct\nbuild_s 0.5\nsample "
               "0.25\nsample 1e-3\n");
    assert_int_equal(record_read(FILE_NAME, &record, why), 0);
    assert_int_equal(record.outcome, OUTCOME_CORRECT);
    assert_float_equal(record.build_s, 0.5, 0);
    assert_int_equal(record.n_samples, 2);
    assert_float_equal(record.samples[1], 1e-3, 0);
}

static void an_invalid_record_is_refused_with_its_line(void **state)
{
    static const char *const bad[] = {
        "ELF",
        "record 1\nsample 0\n",
        "record 1\nsample -1\n",
        "record 1\nsample nan\n",
        "record 1\noutcome lucky\n",
        "record 1\nbuild_s\n",
        "record 1\nwhatever 1\n",
    };
    char why[RECORD_WHY_MAX];
    struct record record;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        put_record(bad[i]);
        assert_int_equal(record_read(FILE_NAME, &record, why), -1);
        assert_non_null(strstr(why, i == 0 ? "line 1" : "line 2"));
    }
    put_record("record 1\nbuild_s 1\n");
    assert_int_equal(record_read(FILE_NAME, &record, why), -1);
    assert_string_equal(why, "the record has no sample");
}

static void a_build_returns_the_record(void **state)
{
    char why[RECORD_WHY_MAX];
    struct record record;
    double begin = now_s();

    (void)state;
    put_record("record 1\nbuild_s 20\nsample 1\n");
    assert_int_equal(record_build(FILE_NAME, ARTIFACT, "100"), 0);
    assert_true(now_s() - begin >= 0.2);
    assert_int_equal(record_read(ARTIFACT, &record, why), 0);
    unlink(ARTIFACT);
}

static void a_recorded_failure_leaves_no_artifact(void **state)
{
    (void)state;
    put_record("record 1\noutcome compile\nreason ptxas says no\n");
    assert_int_equal(record_build(FILE_NAME, ARTIFACT, "100"), 1);
    assert_int_equal(access(ARTIFACT, F_OK), -1);
    assert_int_equal(record_build(FILE_NAME, ARTIFACT, "fast"), 127);
    assert_int_equal(record_build("absent", ARTIFACT, "1"), 127);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_read),
        cmocka_unit_test(an_invalid_record_is_refused_with_its_line),
        cmocka_unit_test(a_build_returns_the_record),
        cmocka_unit_test(a_recorded_failure_leaves_no_artifact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
