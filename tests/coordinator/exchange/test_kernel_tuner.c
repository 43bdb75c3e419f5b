#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/exchange/kernel_tuner.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/search/domain.h"

#define READ_NAME "kernel_tuner_read.json"
#define WRITTEN_NAME "kernel_tuner_written.json"

static const char cache[] =
    "{\"device_name\": \"GPU\", \"kernel_name\": \"k\", \"tune_params\": {"
    "\"BX\": [16, 32], \"W\": [0.5, 1.0], \"PAD\": [true, false],"
    "\"MODE\": [\"a\\\"\", \"b\"]}, \"cache\": {"
    "\"1\": {\"BX\": 16, \"W\": 0.5, \"PAD\": true, \"MODE\": \"a\\\"\","
    " \"time\": 7.1, \"times\": [0.1, 12.265098571777344],"
    " \"compile_time\": 900.25, \"verification_time\": 3,"
    " \"benchmark_time\": 20},"
    "\"2\": {\"BX\": 32, \"W\": 1.0, \"PAD\": false, \"MODE\": \"b\","
    " \"time\": 0.3},"
    "\"3\": {\"BX\": 16, \"W\": 1.0, \"PAD\": false, \"MODE\": \"b\","
    " \"time\": \"timeout\"},"
    "\"4\": {\"BX\": 32, \"W\": 0.5, \"PAD\": false, \"MODE\": \"b\","
    " \"time\": \"CompilationFailedConfig\"},"
    "\"5\": {\"BX\": 32, \"W\": 0.5, \"PAD\": true, \"MODE\": \"b\","
    " \"time\": \"InvalidConfig\"},"
    "\"6\": {\"BX\": 16, \"W\": 0.5, \"PAD\": true, \"MODE\": \"b\","
    " \"time\": \"OtherConfig\"}}}";

static void load(const char *name, struct landscape **out)
{
    struct err err;

    if (landscape_load(name, out, &err) < 0)
        fail_msg("%s", err.text);
}

static void save(const struct landscape *land, const char *name)
{
    FILE *file = fopen(name, "w");

    kernel_tuner_write(land, file);
    fclose(file);
}

static struct landscape *land_of(const char *text)
{
    FILE *file = fopen(READ_NAME, "w");
    struct landscape *land;

    fputs(text, file);
    fclose(file);
    load(READ_NAME, &land);
    return land;
}

static char *text_of(const char *name)
{
    static char text[65536];
    FILE *file = fopen(name, "r");

    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void assert_same_config(const struct landscape *a,
                               const struct landscape *b, int i)
{
    const struct landscape_config *x = &a->configs[i], *y = &b->configs[i];

    assert_int_equal(x->outcome, y->outcome);
    assert_int_equal(x->samples_n, y->samples_n);
    assert_true(x->compile_s == y->compile_s && x->verify_s == y->verify_s);
    assert_true(x->bench_s == y->bench_s);
    for (int k = 0; k < x->samples_n; k++)
        assert_true(a->samples[x->sample_at + (size_t)k] ==
                    b->samples[y->sample_at + (size_t)k]);
    assert_int_equal(!x->reason, !y->reason);
    if (x->reason)
        assert_string_equal(x->reason, y->reason);
}

static void what_is_written_is_read_back_equal(void **state)
{
    struct landscape *a = land_of(cache), *b;

    (void)state;
    save(a, WRITTEN_NAME);
    load(WRITTEN_NAME, &b);
    assert_string_equal(a->device, b->device);
    assert_string_equal(a->kernel, b->kernel);
    assert_int_equal(domain_size(b->domain), 6);
    for (int t = 0; t < 4; t++) {
        assert_string_equal(a->tunables[t].name, b->tunables[t].name);
        assert_int_equal(a->tunables[t].n, b->tunables[t].n);
        for (int i = 0; i < a->tunables[t].n; i++)
            assert_string_equal(a->tunables[t].texts[i],
                                b->tunables[t].texts[i]);
    }
    for (int i = 0; i < 6; i++)
        assert_same_config(a, b, i);
    assert_true(b->configs[1].time_s == a->configs[1].time_s);
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
        "\"timestamp\": \"1970-01-01T00:00:00.000+00:00\"",
    };
    struct landscape *land = land_of(cache);
    char *text;

    (void)state;
    save(land, WRITTEN_NAME);
    text = text_of(WRITTEN_NAME);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!strstr(text, parts[i]))
            fail_msg("no %s in %s", parts[i], text);
    landscape_free(land);
}

static void the_baseline_stands_first(void **state)
{
    struct landscape *land = land_of(cache);

    (void)state;
    land->baseline = 1;
    save(land, WRITTEN_NAME);
    assert_true(strstr(text_of(WRITTEN_NAME), "\"32,1.0,False,b\": {") <
                strstr(text_of(WRITTEN_NAME), "\"16,0.5,True,a\\\"\": {"));
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

    unlink(READ_NAME);
    unlink(WRITTEN_NAME);
    return failed;
}
