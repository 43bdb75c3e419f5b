/* What identifies a sweep, and which rows of it are written again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/hash.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/notes/description.h"
#include "coordinator/plan/config_selection.h"
#include "coordinator/plan/plan_msg.h"
#include "coordinator/spec/spec.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static struct err err;

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static void sql(const char *text)
{
    if (sql_run(store_db(rig.sweep.mail.store), text, &err) < 0)
        fail_msg("%s", err.text);
}

/* The same kernel with 20 block sizes in place of 5: 120 units. */
static void open_wide(void)
{
    static const char few[] = "[64, 128, 256, 512, 1024]";
    struct spec *was;
    const char *at;
    char *text;

    rig_open_bare(&rig, 1);
    was = rig.sweep.work.spec;
    at = strstr(was->file.text, few);
    assert_non_null(at);
    text = mem_printf("%.*s[64, 96, 128, 160, 192, 224, 256, 288, 320, 352, "
                      "384, 416, 448, 480, 512, 544, 576, 608, 640, 1024]%s",
                      (int)(at - was->file.text), was->file.text,
                      at + sizeof(few) - 1);
    if (spec_parse(was->file.folder, was->file.name, text, strlen(text),
                   &rig.sweep.work.spec, &err) < 0)
        fail_msg("%s", err.text);
    spec_free(was);
    free(text);
    rig_begin(&rig);
}

static void a_sweep_is_described(void **state)
{
    (void)state;
    rig_open(&rig, 2);
    assert_int_equal(
        rig_rows(&rig, "sweep WHERE name = 'vector_add' AND device = 'cpu' AND "
                       "configurations = 40 AND passed = 30"),
        1);
    assert_int_equal(rig_rows(&rig, "gate"), 3);
    assert_int_equal(rig_rows(&rig, "gate WHERE kind = 'reject' AND position < "
                                    "2 AND rejected_first >= 0"),
                     2);
    assert_int_equal(
        rig_rows(&rig, "gate WHERE kind = 'warn' AND position = 2"), 1);
    assert_int_equal(rig_rows(&rig, "shape"), 1);
    assert_int_equal(rig_rows(&rig, "shape WHERE name = 'n5k' AND vars = "
                                    "'{\"N\": 5001}' AND floor_name = 'dram'"),
                     1);
    assert_int_equal(rig_rows(&rig, "config"), 30);
    assert_int_equal(rig_rows(&rig, "config WHERE baseline = 1"), 1);
    assert_int_equal(rig_rows(&rig, "request"), 0); /* start() puts it */
    assert_int_equal(description_put_request(&rig.sweep, &err), 0);
    assert_int_equal(
        rig_rows(&rig, "request WHERE file = 'sweep.json' AND device = 'cpu'"),
        1);
}

static void a_pass_over_what_is_asked_for_is_no_request(void **state)
{
    const struct sweep_tool ncu = { .limit_ms = 1000 };

    (void)state;
    rig_open(&rig, 2);
    rig.options.builds_only = true;
    assert_int_equal(description_put_request(&rig.sweep, &err), 0);
    rig.options.builds_only = false;
    rig.options.tool = &ncu;
    assert_int_equal(description_put_request(&rig.sweep, &err), 0);
    assert_int_equal(rig_rows(&rig, "request"), 0);
}

/* Of more than a few units, those that are there unchanged are left alone. */
static void what_changed_of_a_configuration_is_written_again(void **state)
{
    static const char *const changes[] = {
        "point = point + 1",
        "baseline = 1 - baseline",
        "source_key = 'another'",
        "warnings = '[\"another\"]'",
    };

    (void)state;
    open_wide();
    assert_int_equal(rig_rows(&rig, "config"), 120);
    sql("CREATE TABLE was AS SELECT * FROM config");
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        char text[160];

        snprintf(text, sizeof(text),
                 "UPDATE config SET %s WHERE key IN "
                 "(SELECT key FROM config ORDER BY key LIMIT 7)",
                 changes[i]);
        sql(text);
        assert_int_equal(
            rig_rows(&rig, "(SELECT * FROM config EXCEPT SELECT * FROM was)"),
            7);
        assert_int_equal(description_put_configs(&rig.sweep, 0, &err), 0);
        assert_int_equal(
            rig_rows(&rig, "(SELECT * FROM config EXCEPT SELECT * FROM was)"),
            0);
    }
    /* As text they are the same, so this is not looked at. */
    sql("UPDATE config SET params = '{}'");
    assert_int_equal(description_put_configs(&rig.sweep, 0, &err), 0);
    assert_int_equal(rig_rows(&rig, "config WHERE params = '{}'"), 120);
    /* Less than 64 are written without a look. */
    assert_int_equal(description_put_configs(&rig.sweep, 57, &err), 0);
    assert_int_equal(rig_rows(&rig, "config WHERE params = '{}'"), 57);
    sql("UPDATE config SET params = '{}'");
    assert_int_equal(description_put_configs(&rig.sweep, 56, &err), 0);
    assert_int_equal(rig_rows(&rig, "config WHERE params = '{}'"), 120);
    assert_int_equal(description_put_configs(&rig.sweep, 120, &err), 0);
    assert_int_equal(rig_rows(&rig, "config WHERE params = '{}'"), 120);
}

static void what_another_sweep_had_becomes_of_this_one(void **state)
{
    (void)state;
    open_wide();
    sql("CREATE TABLE copy AS SELECT * FROM sweep;"
        "UPDATE copy SET id = 99, key = 'another';"
        "INSERT INTO sweep SELECT * FROM copy;"
        "UPDATE config SET sweep = 99");
    assert_int_equal(rig_rows(&rig, "config WHERE sweep = 99"), 120);
    assert_int_equal(description_put_configs(&rig.sweep, 0, &err), 0);
    assert_int_equal(rig_rows(&rig, "config WHERE sweep = 99"), 0);
}

/* A later release must find the sweep again, so what the key is made of does
 * not change. */
static void key_on(const char *device, bool selected, char out[HASH_HEX])
{
    const struct sweep *sweep = &rig.sweep;
    struct plan *plan = sweep->work.plan;
    struct msg_bundle kernel = { 0 }, reference = { 0 };
    struct hash hash;

    assert_int_equal(plan_units(plan), 30);
    plan_bundle(plan, 0, &kernel);
    plan_bundle(plan, 30, &reference);
    hash_init(&hash);
    hash_field(&hash, sweep->work.spec->file.text, sweep->work.spec->file.len);
    hash_text(&hash, kernel.hash);
    hash_text(&hash, reference.hash);
    hash_text(&hash, device);
    hash_text(&hash, "cpu");
    for (int unit = 0; selected && unit < 30; unit++)
        hash_text(&hash, plan_unit(plan, unit)->key);
    if (selected)
        hash_text(&hash, plan_measure_key(plan, 0));
    hash_end(&hash, out);
}

static void key_of(bool selected, char out[HASH_HEX])
{
    key_on("cpu", selected, out);
}

static void assert_key(const char key[HASH_HEX])
{
    char where[80];

    snprintf(where, sizeof(where), "sweep WHERE key = '%s'", key);
    assert_int_equal(rig_rows(&rig, where), 1);
    assert_int_equal(rig_rows(&rig, "sweep"), 1);
}

static void a_sweep_is_its_file_its_sources_and_its_device(void **state)
{
    char key[HASH_HEX];

    (void)state;
    rig_open(&rig, 1);
    key_of(false, key);
    assert_key(key);
}

/* Keys of earlier releases have no facts in them. */
static void a_row_of_an_earlier_release_is_kept_on_the_same_gpu(void **state)
{
    char key[HASH_HEX], text[160];

    (void)state;
    rig_open(&rig, 1);
    key_on("cuda", false, key);
    snprintf(text, sizeof(text), "UPDATE sweep SET key = '%s'", key);
    sql(text);
    rig.options.device = "cuda";
    assert_int_equal(description_put_facts(&rig.sweep, &err), 0);
    assert_key(key);
    rig.sweep.work.facts.max_threads_per_block /= 2;
    assert_int_equal(description_put_facts(&rig.sweep, &err), 0);
    assert_int_equal(rig_rows(&rig, "sweep"), 2);
    rig.options.device = "cpu";
}

static void its_settings_and_its_facts_are_written_down(void **state)
{
    (void)state;
    rig_open_bare(&rig, 1);
    rig.options.search_settings = rig.sweep.work.spec->search;
    rig_begin(&rig);
    assert_int_equal(
        rig_rows(&rig, "sweep WHERE json_extract(facts, '$.arch') = 89"), 1);
    assert_int_equal(
        rig_rows(&rig, "sweep WHERE json_extract(settings, '$.attempts') = 2 "
                       "AND json_extract(settings, '$.method') = 'exhaustive' "
                       "AND json_extract(settings, '$.strategy') IS NOT NULL"),
        1);
}

/* So that a report shows only that. */
static void a_selection_is_a_sweep_of_its_own(void **state)
{
    static const struct config_selection all = { .all = true };
    struct plan_ask ask = { .choice = &all };
    char key[HASH_HEX];

    (void)state;
    rig_open_bare(&rig, 1);
    ask.shapes = spec_shapes(rig.sweep.work.spec, "cpu", &ask.n_shapes);
    rig.options.ask = &ask;
    rig_begin(&rig);
    key_of(true, key);
    assert_key(key);
    /* What was asked for is all that there is to do. */
    assert_int_equal(
        rig_rows(&rig, "sweep WHERE configurations = 30 AND passed = 30"), 1);
    assert_int_equal(description_put_request(&rig.sweep, &err), 0);
    assert_int_equal(rig_rows(&rig, "request"), 0);
}

#define CASE(test) cmocka_unit_test_teardown(test, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_sweep_is_described),
        CASE(a_pass_over_what_is_asked_for_is_no_request),
        CASE(what_changed_of_a_configuration_is_written_again),
        CASE(what_another_sweep_had_becomes_of_this_one),
        CASE(a_sweep_is_its_file_its_sources_and_its_device),
        CASE(a_row_of_an_earlier_release_is_kept_on_the_same_gpu),
        CASE(its_settings_and_its_facts_are_written_down),
        CASE(a_selection_is_a_sweep_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
