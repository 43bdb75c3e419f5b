#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/stored/stored_params_internal.h"

/* "name:type:number:text " of each, type as its letter. */
static const char *describe(const struct stored_params *params)
{
    static char out[600];
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < params->n; i++) {
        const struct stored_param *p = &params->items[i];

        assert_ptr_equal(stored_params_find(params, p->name), p);
        n += (size_t)snprintf(out + n, sizeof(out) - n, "%s:%c:%g:%s ", p->name,
                              "irbt"[p->type], p -> number, p -> text);
    }
    return out;
}

static const char *parse(const char *json)
{
    struct stored_params params;
    struct err err;
    const char *out;

    if (stored_params_parse(json, &params, &err) < 0)
        return err.text[0] ? "error" : "";
    out = describe(&params);
    stored_params_fini(&params);
    return out;
}

/* The same without cJSON. */
static const char *read_plain(const char *json)
{
    struct stored_params params;
    const char *out =
        stored_params_read_plain(json, &params) ? describe(&params) : "no";

    stored_params_fini(&params);
    return out;
}

static void what_is_flat_and_plain_is_read_without_a_tree(void **state)
{
    static const struct {
        const char *json, *read;
    } rows[] = {
        { "{}", "" },
        { "{ }", "" },
        { "{\"a\":1}", "a:i:1:1 " },
        { " \t\n\r{ \t\n\r\"a\" \t\n\r: \t\n\r1 \t\n\r, \t\n\r\"b\":2 "
          "\t\n\r}",
          "a:i:1:1 b:i:2:2 " },
        { "{\"a b\":\"c d\",\"\":\"\"}", "a b:t:0:c d :t:0: " },
        { "{\"a\":true,\"b\":false}", "a:b:1:true b:b:0:false " },
        { "{\"a\":0.5,\"b\":-7,\"c\":0,\"d\":-0.25}",
          "a:r:0.5:0.5 b:i:-7:-7 c:i:0:0 d:r:-0.25:-0.25 " },
        { "{\"a\":012,\"b\":1e2}", "a:i:12:12 b:r:100:100 " },
        { "{\"a\":123456789012345}", "a:i:1.23457e+14:123456789012345 " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(read_plain(rows[i].json), rows[i].read);
}

static void what_is_not_plain_is_left_alone(void **state)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{\"a\\n\":1}",
        "{\"a\":\"\\u0041\"}",
        "{\"a\nb\":1}",
        "{\"a\":[1]}",
        "{\"a\":{}}",
        "{\"a\":null}",
        "{\"a\" 1}",
        "{\"a\":1",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1,}",
        "{\"a\":1e300}", /* longer in print */
        "{\"a\":inf}",
        "{\"a\":1x}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_string_equal(read_plain(texts[i]), "no");
}

static void one_is_found_at_its_place_or_elsewhere(void **state)
{
    struct stored_params params;
    struct err err;

    (void)state;
    assert_int_equal(
        stored_params_parse("{\"a\":1,\"b\":2,\"c\":3}", &params, &err), 0);
    for (size_t place = 0; place < 5; place++) {
        assert_ptr_equal(stored_params_find_at(&params, place, "b"),
                         &params.items[1]);
        assert_null(stored_params_find_at(&params, place, "d"));
    }
    stored_params_fini(&params);
}

static void parameters_come_in_order_as_they_are_printed(void **state)
{
    (void)state;
    assert_string_equal(
        parse("{\"BLOCK\": 128, \"R\": 0.5, \"FAST\": true,"
              " \"NO\":false, \"T\": \"a b\", \"N\": -7}"),
        "BLOCK:i:128:128 R:r:0.5:0.5 FAST:b:1:true NO:b:0:false T:t:0:a b "
        "N:i:-7:-7 ");
    assert_string_equal(parse("{}"), "");
    assert_string_equal(parse(" {\n} "), "");
}

static void numbers_are_printed_alike_however_they_are_written(void **state)
{
    (void)state;
    assert_string_equal(parse("{\"a\":1e2,\"b\":64.0,\"c\":5E-1,\"d\":-0}"),
                        "a:r:100:100 b:r:64:64 c:r:0.5:0.5 d:i:-0:-0 ");
    assert_string_equal(parse("{\"a\":9007199254740993,\"b\":1e300}"),
                        "a:i:9.0072e+15:9007199254740992 b:r:1e+300:1e+300 ");
    assert_string_equal(parse("{\"a\":0.1000000000000000055}"), "a:r:0.1:0.1 ");
    assert_string_equal(parse("{\"a\":007,\"b\":0}"), "a:i:7:7 b:i:0:0 ");
}

static void what_is_escaped_or_nested_is_read_too(void **state)
{
    (void)state;
    assert_string_equal(parse("{\"a\\n\": 1, \"b\": \"\\u0041\\\"\"}"),
                        "a\n:i:1:1 b:t:0:A\" ");
    assert_string_equal(parse("{\"a\\n\": true, \"b\": false}"),
                        "a\n:b:1:true b:b:0:false ");
    assert_string_equal(parse("{\"a\": {\"x\": 1}, \"b\": [2], \"c\": null}"),
                        "a:t:0:null b:t:0:null c:t:0:null ");
}

static void what_is_no_object_is_refused(void **state)
{
    static const char *const texts[] = {
        "",           "1",          "[1]",        "{",
        "{\"a\"}",    "{\"a\":1,}", "{a: 1}",     "{\"a\":}",
        "{\"a\" 1}",  "{\"a\":1",   "{\"a\":x}",  "{\"a\":-}",
        "{\"a\":+1}", "{\"a\":.5}", "{\"a\":/1}", "{\"a\":inf}"
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_string_equal(parse(texts[i]), "error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_flat_and_plain_is_read_without_a_tree),
        cmocka_unit_test(what_is_not_plain_is_left_alone),
        cmocka_unit_test(one_is_found_at_its_place_or_elsewhere),
        cmocka_unit_test(parameters_come_in_order_as_they_are_printed),
        cmocka_unit_test(numbers_are_printed_alike_however_they_are_written),
        cmocka_unit_test(what_is_escaped_or_nested_is_read_too),
        cmocka_unit_test(what_is_no_object_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
