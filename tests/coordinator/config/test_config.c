/* The names of a configuration, and the header that a build sees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/config/config.h"
#include "tests/coordinator/spec/spec_fixture.h"

static struct spec *all_kinds(void)
{
    return spec_fixture(&(struct spec_parts){
        .tunables = "\"N_B\": [64], \"A\": [true, false], \"X\": [0.5, 1],"
                    "\"MODE\": [\"fast\", \"a-b\"]",
        .derived = "\"T\": \"N_B * 2\"",
        .shapes = "{ \"name\": \"s\", \"M\": 1 }",
        .arguments = "{ \"name\": \"o\", \"type\": \"fp32\", \"shape\": [1], "
                     "\"output\": true }",
        .baseline = "\"N_B\": 64, \"A\": true, \"X\": 2, \"MODE\": \"fast\"" });
}

static void a_key_does_not_depend_on_the_order_of_tunables(void **state)
{
    struct spec *ab = spec_fixture(&(struct spec_parts){
        .tunables = "\"A\": [1], \"B\": [2]", .baseline = "\"A\":1,\"B\":2" });
    struct spec *ba = spec_fixture(
        &(struct spec_parts){ .tunables = "\"B\": [9, 2], \"A\": [1]",
                              .baseline = "\"A\":1,\"B\":2" });
    char a[HASH_HEX], b[HASH_HEX];

    (void)state;
    config_key(ab, ab->baseline.values, a);
    config_key(ba, ba->baseline.values, b);
    assert_string_equal(a, b);
    assert_true(hash_is_hex(a));
    spec_free(ab);
    spec_free(ba);
}

static void every_form_is_as_documented(void **state)
{
    const struct value derived = { .kind = VALUE_INT, .integer = 128 };
    struct spec *spec = all_kinds();
    struct buf out;

    (void)state;
    buf_init(&out, 4096);
    config_text(spec, spec->baseline.values, &out);
    assert_string_equal(buf_text(&out), "N_B=64 A=true X=2.0 MODE=fast");
    buf_clear(&out);
    config_json(spec, spec->baseline.values, &out);
    assert_string_equal(buf_text(&out), "{\"N_B\": 64, \"A\": true, \"X\": "
                                        "2.0, \"MODE\": \"fast\"}");
    buf_clear(&out);
    config_canonical(spec, spec->baseline.values, &out);
    assert_string_equal(buf_text(&out),
                        "A=true\nMODE=\"fast\"\nN_B=64\nX=2.0\n");
    buf_clear(&out);
    config_header(spec, spec->baseline.values, &derived, &out);
    assert_string_equal(
        buf_text(&out),
        "#define N_B 64\n#define A 1\n#define X 2.0\n#define MODE \"fast\"\n"
        "#define MODE_fast 1\n#define T 128\n");
    buf_fini(&out);
    spec_free(spec);
}

static void a_text_that_is_no_identifier_has_no_second_macro(void **state)
{
    const struct value derived = { .kind = VALUE_REAL, .real = 0.1 };
    struct spec *spec = all_kinds();
    struct value values[4];
    struct buf out;

    (void)state;
    memcpy(values, spec->baseline.values, sizeof(values));
    values[3].text = "a-b";
    buf_init(&out, 4096);
    config_header(spec, values, &derived, &out);
    assert_non_null(strstr(buf_text(&out), "#define MODE \"a-b\"\n#define T "
                                           "0.10000000000000001\n"));
    buf_fini(&out);
    spec_free(spec);
}

static void what_a_user_types_is_read_back(void **state)
{
    struct spec *spec = all_kinds();
    struct value values[4];
    struct err err;
    struct buf texts, out;

    (void)state;
    buf_init(&texts, 4096);
    buf_init(&out, 4096);
    assert_int_equal(
        config_parse(spec, "MODE=slow,X=0.25, A=0 N_B=7", values, &texts, &err),
        0);
    config_text(spec, values, &out);
    assert_string_equal(buf_text(&out), "N_B=7 A=false X=0.25 MODE=slow");
    buf_clear(&out);
    assert_int_equal(
        config_parse(spec, "MODE=slow,X=0.25,A=0", values, &texts, &err), 0);
    config_text(spec, values, &out); /* N_B has one value */
    assert_string_equal(buf_text(&out), "N_B=64 A=false X=0.25 MODE=slow");
    buf_fini(&out);
    buf_fini(&texts);
    spec_free(spec);
}

static void each_error_has_its_message(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        { "N_B=7",
          "'N_B=7' has no value for A; a configuration names all 4 tunables" },
        { "MODES=x", "there is no tunable 'MODES'; did you mean 'MODE'?" },
        { "BLOCK=x",
          "there is no tunable 'BLOCK'; the sweep has N_B, A, X, MODE" },
        { "N_B=x", "N_B: 'x' is not a whole number" },
        { "N_B=1.5", "N_B: '1.5' is not a whole number" },
        { "A=yes", "A: 'yes' is not true or false" },
        { "X=nan", "X: 'nan' is not a number" },
        { "MODE=$x", "MODE: '$x' is not a text" },
        { "N_B=1,N_B=1", "'N_B' is given twice" },
        { "xyz", "'xyz' is neither NAME=VALUE nor the first digits of a key" },
    };
    struct spec *spec = all_kinds();
    struct value values[4];
    struct err err;
    struct buf texts;

    (void)state;
    buf_init(&texts, 4096);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(config_parse(spec, rows[i].text, values, &texts, &err),
                         ERR_INPUT);
        assert_string_equal(err.text, rows[i].message);
    }
    buf_fini(&texts);
    spec_free(spec);
}

static void four_digits_are_enough_of_a_key(void **state)
{
    (void)state;
    assert_true(config_is_key_prefix("b5ed"));
    assert_false(config_is_key_prefix("b5e"));
    assert_false(config_is_key_prefix("B5ED"));
    assert_false(config_is_key_prefix("b5edb5edb5edb5edb5edb5edb5edb5ed0"));
}

static void a_value_that_no_other_has_is_remarked(void **state)
{
    static const struct {
        const char *typed, *remark;
    } cases[] = {
        { "MODE=fast", "" },
        { "X=2", "" }, /* the baseline's */
        { "MODE=fsat", "the sweep has no MODE=fsat; did you mean 'fast'?" },
        { "MODE=other", "the sweep has no MODE=other; it has fast, a-b" },
        { "X=0.75", "the sweep has no X=0.75; it has 0.5, 1.0" },
    };
    struct spec *spec = all_kinds();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct value values[4];
        struct buf texts;
        struct err err, remark;

        buf_init(&texts, 4096);
        memcpy(values, spec->baseline.values, sizeof(values));
        assert_int_equal(
            config_parse_over(spec, cases[i].typed, values, &texts, &err), 0);
        config_remark(spec, values, &remark);
        assert_string_equal(remark.text, cases[i].remark);
        buf_fini(&texts);
    }
    spec_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_does_not_depend_on_the_order_of_tunables),
        cmocka_unit_test(every_form_is_as_documented),
        cmocka_unit_test(a_text_that_is_no_identifier_has_no_second_macro),
        cmocka_unit_test(what_a_user_types_is_read_back),
        cmocka_unit_test(each_error_has_its_message),
        cmocka_unit_test(four_digits_are_enough_of_a_key),
        cmocka_unit_test(a_value_that_no_other_has_is_remarked),
    };
    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
