#include "tests/coordinator/exchange/land_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/model/domain.h"

#define READ_NAME "land_fixture_%d.json"

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

struct landscape *land_fixture_load(const char *name)
{
    struct landscape *land = NULL;
    struct err err;

    if (landscape_load(name, &land, &err) < 0)
        fail_msg("%s", err.text);
    return land;
}

void land_fixture_save(const struct landscape *land,
                       void (*write)(const struct landscape *land, FILE *to),
                       const char *name)
{
    FILE *file = fopen(name, "w");

    write(land, file);
    fclose(file);
}

struct landscape *land_fixture(void)
{
    struct landscape *land;
    char name[64];
    FILE *file;

    snprintf(name, sizeof(name), READ_NAME, (int)getpid());
    file = fopen(name, "w");
    fputs(cache, file);
    fclose(file);
    land = land_fixture_load(name);
    unlink(name);
    return land;
}

const char *land_fixture_text(const char *name)
{
    static char text[65536];
    FILE *file = fopen(name, "r");

    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void equal_tunable(const struct landscape_tunable *a,
                          const struct landscape_tunable *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->n, b->n);
    for (int i = 0; i < a->n; i++)
        assert_string_equal(a->texts[i], b->texts[i]);
}

static void equal_config(const struct landscape *a, const struct landscape *b,
                         int i)
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

void land_fixture_equal(const struct landscape *a, const struct landscape *b)
{
    assert_string_equal(a->device, b->device);
    assert_string_equal(a->kernel, b->kernel);
    assert_int_equal(domain_size(a->domain), domain_size(b->domain));
    assert_int_equal(a->tunables_n, b->tunables_n);
    for (int t = 0; t < a->tunables_n; t++)
        equal_tunable(&a->tunables[t], &b->tunables[t]);
    for (int i = 0; i < domain_size(a->domain); i++) {
        equal_config(a, b, i);
        if (a->configs[i].samples_n == 0)
            assert_true(a->configs[i].time_s == b->configs[i].time_s);
    }
}
