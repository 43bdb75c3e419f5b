/* Flags: parsing, and the errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/options/options.h"

#define ARGS_MAX 8

static struct {
    bool json, csv;
    const char *arch, *plain[1];
    int64_t top;
    double hours;
    struct option_list shapes;
} got;

static const struct option list[] = {
    { "json", OPTION_FLAG, &got.json, NULL, "for programs", "csv" },
    { "csv", OPTION_FLAG, &got.csv, NULL, "a table", NULL },
    { "arch", OPTION_TEXT, &got.arch, "sm_89", "what for", NULL },
    { "top", OPTION_INT, &got.top, "N", "how many", NULL },
    { "max-hours", OPTION_REAL, &got.hours, "H", "how long", NULL },
    { "shape", OPTION_LIST, &got.shapes, "NAME", "where", NULL },
};

static const struct options options = {
    .command = "space",
    .arguments = "[SWEEP]",
    .what = "A test.",
    .list = list,
    .n = sizeof(list) / sizeof(list[0]),
    .arguments_max = 1,
    .plain = got.plain,
};

/* 'line' is split at its blanks. */
static int parse_with(const struct options *with, const char *line,
                      struct err *err)
{
    static char copy[200];
    char *argv[ARGS_MAX + 2] = { (char *)(uintptr_t) "space" }, *rest = copy;
    int argc = 1;

    memset(&got, 0, sizeof(got));
    err->text[0] = '\0';
    assert_true(strlen(line) < sizeof(copy));
    memcpy(copy, line, strlen(line) + 1);
    while (rest && *rest && argc <= ARGS_MAX)
        argv[argc++] = strsep(&rest, " ");
    return options_parse(with, argc, argv, err);
}

static int parse(const char *line, struct err *err)
{
    return parse_with(&options, line, err);
}

static void both_forms_of_a_value_are_taken(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(parse("--arch=sm_90 --top 7 x.json --json", &err), 0);
    assert_string_equal(got.arch, "sm_90");
    assert_int_equal(got.top, 7);
    assert_string_equal(got.plain[0], "x.json");
    assert_true(got.json);
    assert_false(got.csv);
    assert_int_equal(parse("--max-hours 0.5 -- --json", &err), 0);
    assert_true(got.hours == 0.5);
    assert_string_equal(got.plain[0], "--json");
}

static void missing_flags_keep_their_value(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(parse("", &err), 0);
    assert_null(got.plain[0]);
    assert_null(got.arch);
}

static void each_mistake_has_its_message(void **state)
{
    static const struct {
        const char *line, *text;
    } rows[] = {
        { "--jsn", "space: unknown flag '--jsn'; did you mean '--json'?" },
        { "--zzzzzzzz",
          "space: unknown flag '--zzzzzzzz'; see 'fa-coord space --help'" },
        { "-j", "space: unknown flag '-j'; flags begin with --, 'fa-coord "
                "space --help' lists them" },
        { "--json --csv", "space: --json and --csv cannot be combined" },
        { "--csv --csv", "space: --csv is given twice" },
        { "--json=1", "space: --json takes no value" },
        { "--arch", "space: --arch needs a value: sm_89" },
        { "--arch=", "space: --arch needs a value: sm_89" },
        { "--arch --json", "space: --arch needs a value: sm_89" },
        { "--top -1", "space: --top: '-1' is less than 0" },
        { "--top 1.5", "space: --top: '1.5' is not a whole number" },
        { "--top x", "space: --top: 'x' is not a whole number" },
        { "--top 9007199254740994",
          "space: --top: '9007199254740994' is too large: whole numbers end at "
          "2^53 = 9007199254740992" },
        { "--top 9007199254740993", /* 2^53 as a double */
          "space: --top: '9007199254740993' is too large: whole numbers end at "
          "2^53 = 9007199254740992" },
        { "--top 4503599627370496.5",
          "space: --top: '4503599627370496.5' is not a whole number" },
        { "--max-hours nan", "space: --max-hours: 'nan' is not a number" },
        { "--max-hours 0x10", "space: --max-hours: '0x10' is not a number" },
        { "--max-hours 1h", "space: --max-hours: '1h' is not a number" },
        { "--max-hours -0.5", "space: --max-hours: '-0.5' is less than 0" },
        { "--max-hours 1e999", "space: --max-hours: '1e999' is too large" },
        { "--max-hours -1e999", "space: --max-hours: '-1e999' is less than 0" },
        { "--max-hours 1,5", "space: --max-hours: '1,5' is not a number" },
        { "--max-hours=", "space: --max-hours needs a value: H" },
        { "a b", "space: unexpected argument 'b'; the arguments are [SWEEP]" },
    };
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(parse(rows[i].line, &err), ERR_INPUT);
        assert_string_equal(err.text, rows[i].text);
    }
}

static void a_list_may_be_given_again_and_again(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(parse("--shape a --json --shape=b", &err), 0);
    assert_int_equal(got.shapes.n, 2);
    assert_string_equal(got.shapes.items[0], "a");
    assert_string_equal(got.shapes.items[1], "b");
    assert_int_equal(parse("--shape", &err), ERR_INPUT);
    assert_string_equal(err.text, "space: --shape needs a value: NAME");
}

/* Also with the value that it has when it is not given. */
static void what_needs_another_flag_is_refused_without_it(void **state)
{
    struct options with = options;
    struct err err;

    (void)state;
    with.needing = "arch top";
    with.needed = "json";
    assert_int_equal(parse_with(&with, "--csv --shape a", &err), 0);
    assert_int_equal(parse_with(&with, "--arch sm_90 --top 0 --json", &err), 0);
    assert_int_equal(parse_with(&with, "--csv --arch sm_90", &err), ERR_INPUT);
    assert_string_equal(err.text, "space: --arch works only with --json");
    assert_int_equal(parse_with(&with, "--top 0", &err), ERR_INPUT);
    assert_string_equal(err.text, "space: --top works only with --json");
}

static void a_flag_may_stand_for_the_first_argument(void **state)
{
    const struct option_default fallback = { NULL, "arch", "y.db", "config:3" };
    struct options with = options;
    struct err err;

    (void)state;
    with.first_flag = "arch";
    assert_int_equal(parse_with(&with, "--arch x.db", &err), 0);
    assert_string_equal(got.arch, "x.db");
    assert_int_equal(parse_with(&with, "--arch x.db z.db", &err), ERR_INPUT);
    assert_string_equal(err.text, "space: give 'z.db' or --arch, not both");
    options_set_defaults(&fallback, 1);
    assert_int_equal(parse_with(&with, "z.db", &err), 0);
    assert_null(got.arch);
    assert_int_equal(parse_with(&with, "--json", &err), 0);
    assert_string_equal(got.arch, "y.db");
    options_set_defaults(NULL, 0);
}

static void one_of_two_arguments_may_be_left_to_a_flag(void **state)
{
    const char *plain[2];
    struct options with = options;
    struct err err;

    (void)state;
    with.first_flag = "arch";
    with.plain = plain;
    with.arguments_max = 2;
    assert_int_equal(parse_with(&with, "--arch x.db M=1", &err), 0);
    assert_string_equal(plain[0], "M=1");
    assert_int_equal(parse_with(&with, "--arch x.db z.db", &err), ERR_INPUT);
    assert_int_equal(parse_with(&with, "--arch x.db z M=1", &err), ERR_INPUT);
}

/* As "$DB" is where DB is not set: it would name another database. */
static void an_empty_argument_is_refused(void **state)
{
    struct options with = options;
    char *argv[] = { (char *)(uintptr_t) "space", (char *)(uintptr_t) "" };
    struct err err;

    (void)state;
    assert_int_equal(options_parse(&with, 2, argv, &err), ERR_INPUT);
    assert_string_equal(err.text,
                        "space: an argument is empty; is a variable of your "
                        "shell not set? The arguments are [SWEEP]");
    with.arguments = "";
    with.arguments_max = 0;
    assert_int_equal(options_parse(&with, 2, argv, &err), ERR_INPUT);
    assert_string_equal(err.text,
                        "space: an argument is empty; is a variable of your "
                        "shell not set? The arguments are none");
}

static void help_names_every_flag(void **state)
{
    char text[2000] = "";
    FILE *to = fmemopen(text, sizeof(text), "w");

    (void)state;
    options_help(&options, to);
    fclose(to);
    assert_non_null(strstr(text, "usage: fa-coord space [SWEEP] [FLAGS]\n"));
    assert_non_null(strstr(text, "  --max-hours H             how long\n"));
    assert_non_null(
        strstr(text, "  --help                    this text, like -h\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_of_a_value_are_taken),
        cmocka_unit_test(missing_flags_keep_their_value),
        cmocka_unit_test(each_mistake_has_its_message),
        cmocka_unit_test(a_list_may_be_given_again_and_again),
        cmocka_unit_test(what_needs_another_flag_is_refused_without_it),
        cmocka_unit_test(a_flag_may_stand_for_the_first_argument),
        cmocka_unit_test(one_of_two_arguments_may_be_left_to_a_flag),
        cmocka_unit_test(an_empty_argument_is_refused),
        cmocka_unit_test(help_names_every_flag),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
