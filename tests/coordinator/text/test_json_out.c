#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "coordinator/text/json_out.h"

static void members_and_elements_are_parted_by_commas(void **state)
{
    struct json_out out;
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    (void)state;
    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    json_out_int(&out, "n", -3);
    json_out_open(&out, "empty", '[');
    json_out_close(&out);
    json_out_open(&out, "s", '[');
    json_out_real(&out, NULL, 0.5);
    json_out_real(&out, NULL, (double)INFINITY);
    json_out_close(&out);
    json_out_utc(&out, "at", INT64_C(1700000000000000000));
    json_out_utc(&out, "never", 0);
    json_out_close(&out);
    fclose(to);
    assert_string_equal(text, "{\n"
                              "  \"n\": -3,\n"
                              "  \"empty\": [],\n"
                              "  \"s\": [\n"
                              "    0.5, null\n"
                              "  ],\n"
                              "  \"at\": \"2023-11-14T22:13:20.000Z\",\n"
                              "  \"never\": null\n"
                              "}\n");
    free(text);
}

static void an_interval_has_both_ends_or_is_null(void **state)
{
    struct json_out out;
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    (void)state;
    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    json_out_interval(&out, "known", 0.5, 1.5);
    json_out_interval(&out, "above", 0.5, (double)INFINITY);
    json_out_interval(&out, "below", -(double)INFINITY, 1.5);
    json_out_interval(&out, "none", (double)NAN, 1.5);
    json_out_close(&out);
    fclose(to);
    assert_string_equal(text, "{\n"
                              "  \"known\": [\n"
                              "    0.5, 1.5\n"
                              "  ],\n"
                              "  \"above\": null,\n"
                              "  \"below\": null,\n"
                              "  \"none\": null\n"
                              "}\n");
    free(text);
}

static void text_is_escaped_and_always_utf8(void **state)
{
    static const struct {
        const char *text, *json;
    } rows[] = {
        { "a\"b\\c", "\"a\\\"b\\\\c\"\n" },
        { "\033[1m\n\x7f", "\"\\u001b[1m\\n\\u007f\"\n" },
        { "caf\xc3\xa9", "\"caf\xc3\xa9\"\n" },
        { "\xff|\xc3", "\"\\ufffd|\\ufffd\"\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct json_out out;
        char *text;
        size_t len;
        FILE *to = open_memstream(&text, &len);

        json_out_init(&out, to);
        json_out_text(&out, NULL, rows[i].text);
        fputc('\n', to);
        fclose(to);
        assert_string_equal(text, rows[i].json);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_elements_are_parted_by_commas),
        cmocka_unit_test(an_interval_has_both_ends_or_is_null),
        cmocka_unit_test(text_is_escaped_and_always_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
