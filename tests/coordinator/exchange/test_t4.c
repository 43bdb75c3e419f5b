#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "coordinator/exchange/t4.h"
#include "coordinator/replay/landscape.h"
#include "tests/coordinator/exchange/land_fixture.h"

#define WRITTEN_NAME "t4_written.json"

static void what_is_written_is_read_back_equal(void **state)
{
    struct landscape *a = land_fixture(), *b;

    (void)state;
    land_fixture_save(a, t4_write, WRITTEN_NAME);
    b = land_fixture_load(WRITTEN_NAME);
    land_fixture_equal(a, b);
    landscape_free(a);
    landscape_free(b);
}

static void members_are_those_of_the_schema(void **state)
{
    static const char *const parts[] = {
        "\"schema_version\": \"1.0.0\"",
        "\"timeunit\": \"milliseconds\"",
        "\"configuration\": {\n        \"BX\": 16,\n        \"W\": 0.5,\n",
        "\"compilation_time\": 900.25,\n        \"compilation\": 900.25",
        "\"validation\": 3.0",
        "\"runtimes\": [0.1, 12.265098571777344]",
        "\"invalidity\": \"correct\",\n      \"correctness\": 1",
        "\"value\": 6.182549285888672,",
        "\"invalidity\": \"timeout\",\n      \"correctness\": 0",
        "\"objectives\": [\n        \"time\"",
    };
    struct landscape *land = land_fixture();
    const char *text;

    (void)state;
    land_fixture_save(land, t4_write, WRITTEN_NAME);
    text = land_fixture_text(WRITTEN_NAME);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!strstr(text, parts[i]))
            fail_msg("no %s in %s", parts[i], text);
    landscape_free(land);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back_equal),
        cmocka_unit_test(members_are_those_of_the_schema),
    };
    int failed = cmocka_run_group_tests_name("coordinator/exchange/t4", tests,
                                             NULL, NULL);

    unlink(WRITTEN_NAME);
    return failed;
}
