#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "coordinator/exchange/kernel_tuner.h"
#include "coordinator/replay/landscape.h"
#include "tests/coordinator/exchange/land_fixture.h"

#define WRITTEN_NAME "kernel_tuner_written.json"

static void what_is_written_is_read_back_equal(void **state)
{
    struct landscape *a = land_fixture(), *b;

    (void)state;
    land_fixture_save(a, kernel_tuner_write, WRITTEN_NAME);
    b = land_fixture_load(WRITTEN_NAME);
    land_fixture_equal(a, b);
    landscape_free(a);
    landscape_free(b);
}

static void members_are_those_that_kernel_tuner_reads(void **state)
{
    static const char *const parts[] = {
        "\"schema_version\": \"1.1.0\"",
        "\"problem_size\": []",
        "\"tune_params_keys\": [\n    \"BX\", \"W\", \"PAD\", \"MODE\"",
        "\"W\": [0.5, 1.0]",
        "\"PAD\": [true, false]",
        "\"objective\": \"time\"",
        "\"16,0.5,True,a\\\"\": {",
        "\"time\": 6.182549285888672,",
        "\"times\": [0.1, 12.265098571777344],",
        "\"time\": \"RuntimeFailedConfig\",\n      \"fa_outcome\": \"timeout\"",
        "\"time\": \"CompilationFailedConfig\"",
        "\"timestamp\": \"1970-01-01T00:00:00.000000+00:00\"",
    };
    struct landscape *land = land_fixture();
    const char *text;

    (void)state;
    land_fixture_save(land, kernel_tuner_write, WRITTEN_NAME);
    text = land_fixture_text(WRITTEN_NAME);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!strstr(text, parts[i]))
            fail_msg("no %s in %s", parts[i], text);
    landscape_free(land);
}

static void the_baseline_stands_first(void **state)
{
    struct landscape *land = land_fixture();

    (void)state;
    land->baseline = 1;
    land_fixture_save(land, kernel_tuner_write, WRITTEN_NAME);
    assert_true(
        strstr(land_fixture_text(WRITTEN_NAME), "\"32,1.0,False,b\": {") <
        strstr(land_fixture_text(WRITTEN_NAME), "\"16,0.5,True,a\\\"\": {"));
    landscape_free(land);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back_equal),
        cmocka_unit_test(members_are_those_that_kernel_tuner_reads),
        cmocka_unit_test(the_baseline_stands_first),
    };
    int failed = cmocka_run_group_tests_name(
        "coordinator/exchange/kernel_tuner", tests, NULL, NULL);

    unlink(WRITTEN_NAME);
    return failed;
}
