#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/exchange/nvbench.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/text/json.h"
#include "tests/coordinator/exchange/land_fixture.h"

#define WRITTEN_NAME "nvbench_written.json"

static const struct json *summary_of(const struct json *state, const char *tag)
{
    const struct json *list = json_find(state, "summaries");

    for (size_t i = 0; i < list->n; i++)
        if (strcmp(json_find(&list->items[i], "tag")->text, tag) == 0)
            return &json_find(&list->items[i], "data")->items[0];
    fail_msg("no %s", tag);
    return NULL;
}

/* Read it as nvbench's own scripts do. */
static void states_have_axes_and_summaries(void **state)
{
    struct landscape *land = land_fixture();
    const struct json *bench, *first, *failed, *values;
    struct json_doc *doc;
    const char *text;
    struct err err;

    (void)state;
    land_fixture_save(land, nvbench_write, WRITTEN_NAME);
    text = land_fixture_text(WRITTEN_NAME);
    if (json_parse(WRITTEN_NAME, text, strlen(text), &doc, &err) < 0)
        fail_msg("%s", err.text);
    bench = &json_find(json_root(doc), "benchmarks")->items[0];
    assert_string_equal(json_find(bench, "name")->text, "k");
    assert_int_equal(json_find(bench, "axes")->n, 4);
    assert_int_equal(json_find(bench, "states")->n, 6);
    first = &json_find(bench, "states")->items[0];
    values = json_find(first, "axis_values");
    assert_string_equal(json_find(first, "name")->text,
                        "Device=0 BX=16 W=0.5 PAD=True MODE=a\"");
    assert_string_equal(json_find(&values->items[0], "type")->text, "int64");
    assert_string_equal(json_find(&values->items[0], "value")->text, "16");
    assert_string_equal(json_find(&values->items[1], "type")->text, "float64");
    assert_string_equal(json_find(&values->items[3], "type")->text, "string");
    assert_false(json_find(first, "is_skipped")->truth);
    assert_string_equal(
        json_find(summary_of(first, "nv/cold/sample_size"), "value")->text,
        "2");
    assert_string_equal(
        json_find(summary_of(first, "nv/cold/time/gpu/min"), "value")->text,
        "0.0001");
    assert_non_null(strstr(
        json_find(summary_of(first, "nv/cold/time/gpu/mean"), "value")->text,
        "0.00618254928588867"));
    assert_non_null(strstr(
        json_find(summary_of(first, "nv/cold/time/gpu/stdev/relative"), "value")
            ->text,
        "1.39133928"));
    failed = &json_find(bench, "states")->items[2];
    assert_true(json_find(failed, "is_skipped")->truth);
    assert_string_equal(json_find(failed, "skip_reason")->text, "timeout");
    assert_int_equal(json_find(failed, "summaries")->n, 0);
    json_free(doc);
    landscape_free(land);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_have_axes_and_summaries),
    };
    int failed = cmocka_run_group_tests_name("coordinator/exchange/nvbench",
                                             tests, NULL, NULL);

    unlink(WRITTEN_NAME);
    return failed;
}
