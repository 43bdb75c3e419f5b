/* JSON that people write: what is accepted, and what is refused, with its
 * place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/text/json.h"

static void values_keep_kind_and_place(void **state)
{
    static const char text[] = "// a comment\n"
                               "{ \"a\": [1, 0.5, true, null], /* x */\n"
                               "  \"b/c\": \"\\u00e9\\n//\" }\n";
    struct json_doc *doc;
    struct err err;
    const struct json *a, *b;

    (void)state;
    assert_int_equal(json_parse("f", text, strlen(text), &doc, &err), 0);
    a = json_find(json_root(doc), "a");
    assert_int_equal(a->kind, JSON_ARRAY);
    assert_int_equal(a->n, 4);
    assert_true(a->items[0].whole);
    assert_false(a->items[1].whole);
    assert_true(a->items[1].number == 0.5);
    assert_true(a->items[2].truth);
    assert_int_equal(a->items[3].kind, JSON_NULL);
    assert_memory_equal(text + a->items[1].at, "0.5", 3);
    assert_memory_equal(text + a->key_at, "\"a\"", 3);
    b = json_find(json_root(doc), "b/c");
    assert_string_equal(b->text, "\xc3\xa9\n//");
    assert_null(json_find(json_root(doc), "A"));
    json_free(doc);
}

static void a_byte_order_mark_and_crlf_are_fine(void **state)
{
    static const char text[] = "\xef\xbb\xbf{\r\n}\r\n";
    struct json_doc *doc;
    struct err err;

    (void)state;
    assert_int_equal(json_parse("f", text, strlen(text), &doc, &err), 0);
    json_free(doc);
}

/* Each row: a text, and the beginning of its error. */
static const struct {
    const char *text, *message;
} bad[] = {
    { "", "f:1:1: a value is missing\n  \n  ^\nthe file is empty" },
    { "[1, ",
      "f:1:5: a value is missing\n  [1, \n      ^\nthe file ends here" },
    { "{", "f:1:2: a key is missing\n  {\n   ^\nthe file ends here" },
    { "{\"a\": 1, ", "f:1:10: a key is missing\n  {\"a\": 1, \n           "
                     "^\nthe file ends here" },
    { "{\"a\" ", "f:1:6: ':' is missing\n  {\"a\" \n       ^\nthe file ends "
                 "here" },
    { "{} x", "f:1:4: something follows the value\n  {} x\n     ^\n" },
    { "[1,]", "f:1:4: a value is missing after ','\n  [1,]\n     ^\n" },
    { "{\"a\":1,}", "f:1:8: a value is missing after ','\n" },
    { "{a:1}", "f:1:2: a key is missing\n" },
    { "{\"a\" 1}", "f:1:6: ':' is missing\n" },
    { "[1 2]", "f:1:4: ',' or ']' is missing\n" },
    { "[1", "f:1:3: ',' or ']' is missing\n  [1\n    ^\nthe file ends here" },
    { "{\"a\":1 \"b\":2}", "f:1:8: ',' or '}' is missing\n" },
    { "007", "f:1:1: this is not a number in JSON\n" },
    { "-", "f:1:1: this is not a number" },
    { "+1", "f:1:1: this is not a number" },
    { ".5", "f:1:1: this is not a number" },
    { "1.", "f:1:1: this is not a number" },
    { "1e", "f:1:1: this is not a number" },
    { "0x10", "f:1:1: this is not a number" },
    { "1e999", "f:1:1: this number is too large\n" },
    { "9007199254740993", "f:1:1: this whole number is beyond 2^53\n" },
    { "-9007199254740993", "f:1:1: this whole number is beyond 2^53\n" },
    { "9007199254740993000", "f:1:1: this whole number is beyond 2^53\n" },
    { "NaN", "f:1:1: this is not a value\n" },
    { "True", "f:1:1: this is not a value\n" },
    { "nullx", "f:1:1: this is not a value\n" },
    { "'a'", "f:1:1: this is not a value\n" },
    { "\"a", "f:1:1: this text does not end\n" },
    { "\"a\nb\"", "f:1:1: this text does not end\n" },
    { "\"a\tb\"", "f:1:3: a control character in a text\n" },
    { "\"\\x\"", "f:1:2: unknown escape\n" },
    { "\"\\u00g0\"", "f:1:2: \\u needs four hex digits\n" },
    { "\"\\u0000\"", "f:1:2: a NUL in a text\n" },
    { "\"\\ud800x\"", "f:1:2: half of a surrogate pair\n" },
    { "\"\\udc00\"", "f:1:2: half of a surrogate pair\n" },
    { "\"\xff\"", "f:1:2: bytes that are not UTF-8\n" },
    { "\"\xc0\x80\"", "f:1:2: bytes that are not UTF-8\n" },
    { "/ 1", "f:1:1: a stray '/'\n" },
    { "1 /* x", "f:1:3: this comment does not end\n" },
    { "{\"a\": 1,\n \"b\": 2,\n \"a\": 3}", "f:3:2: 'a' is given twice\n"
                                            "   \"a\": 3}\n"
                                            "   ^\n"
                                            "the first one is on line 1" },
    { "{\"a\": 1, \"\\u0061\": 2}", "f:1:10: 'a' is given twice\n" },
};

static void an_error_names_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct json_doc *doc;
        struct err err = { "" };

        assert_int_equal(
            json_parse("f", bad[i].text, strlen(bad[i].text), &doc, &err),
            ERR_INPUT);
        assert_null(doc);
        if (strncmp(err.text, bad[i].message, strlen(bad[i].message)) != 0)
            fail_msg("%s\ngave: %s", bad[i].text, err.text);
    }
}

static void a_nul_byte_is_an_error(void **state)
{
    struct json_doc *doc;
    struct err err;

    (void)state;
    assert_int_equal(json_parse("f", "1\0x", 3, &doc, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "f:1:2: a NUL byte"));
}

static void a_database_is_called_one(void **state)
{
    struct json_doc *doc;
    struct err err;

    (void)state;
    assert_int_equal(json_parse("f", "SQLite format 3\0\20", 17, &doc, &err),
                     ERR_INPUT);
    assert_non_null(strstr(err.text, "f:1:1: this is a database"));
    assert_non_null(strstr(err.text, "takes it by --db"));
}

static void depth_and_size_have_ceilings(void **state)
{
    char deep[131];
    char *large = mem_new(JSON_BYTES_MAX + 1, 1);
    struct json_doc *doc;
    struct err err;

    (void)state;
    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    assert_int_equal(json_parse("f", deep, 130, &doc, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "f:1:65: too many levels"));
    assert_int_equal(json_parse("f", deep + 1, 128, &doc, &err), 0);
    json_free(doc);
    assert_int_equal(json_parse("f", large, JSON_BYTES_MAX + 1, &doc, &err),
                     ERR_INPUT);
    assert_string_equal(err.text,
                        "f: the file has 8388609 bytes, more than 8 MiB");
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_keep_kind_and_place),
        cmocka_unit_test(a_byte_order_mark_and_crlf_are_fine),
        cmocka_unit_test(an_error_names_its_place),
        cmocka_unit_test(a_nul_byte_is_an_error),
        cmocka_unit_test(a_database_is_called_one),
        cmocka_unit_test(depth_and_size_have_ceilings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
