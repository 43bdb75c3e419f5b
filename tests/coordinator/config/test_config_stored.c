/* The key of a stored configuration is that of its values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/mem.h"
#include "coordinator/config/config.h"
#include "coordinator/config/config_stored.h"
#include "tests/coordinator/spec/spec_fixture.h"

static struct spec *all_kinds(void)
{
    return spec_fixture(&(struct spec_parts){
        .tunables = "\"N_B\": [64], \"A\": [true, false], \"X\": [0.5, 1],"
                    "\"AB\": [-3], \"MODE\": [\"fast\", \"a-b\"]",
        .baseline = "\"N_B\": 64, \"A\": true, \"X\": 0.1, \"AB\": -3,"
                    " \"MODE\": \"fast\"" });
}

static void it_is_the_key_of_the_values(void **state)
{
    struct spec *spec = all_kinds();
    char key[HASH_HEX], stored[HASH_HEX];
    struct buf params;

    (void)state;
    buf_init(&params, 4096);
    config_key(spec, spec->baseline.values, key);
    config_json(spec, spec->baseline.values, &params);
    assert_true(config_stored_key(buf_text(&params), stored));
    assert_string_equal(stored, key);
    buf_fini(&params);
    spec_free(spec);
}

static void every_flipped_bit_of_a_name_or_value_changes_it(void **state)
{
    struct spec *spec = all_kinds();
    char key[HASH_HEX], stored[HASH_HEX];
    struct buf params;
    char *text;

    (void)state;
    buf_init(&params, 4096);
    config_key(spec, spec->baseline.values, key);
    config_json(spec, spec->baseline.values, &params);
    text = mem_strdup(buf_text(&params));
    for (size_t i = 0; text[i]; i++)
        for (int bit = 0; bit < 8 && text[i] != ' '; bit++) {
            text[i] = (char)(text[i] ^ 1 << bit);
            if (config_stored_key(text, stored))
                assert_string_not_equal(stored, key);
            text[i] = (char)(text[i] ^ 1 << bit);
        }
    free(text);
    buf_fini(&params);
    spec_free(spec);
}

static void what_no_configuration_looks_like_has_no_key(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "{}",
        "[1]",
        "{\"A\": 1",
        "{\"A\" 1}",
        "{\"A\": }",
        "{\"A\": 1}}",
        "{\"A\": 1,}",
        "{A: 1}",
        "{\"A: 1}",
        "{\"A\": \"x\\n\"}",
        "{\"A\": \"x}",
        "{\"A\": 1, \"A\": 1}",
        "{\"A\": 1 \"B\": 2}",
    };
    char key[HASH_HEX];

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (config_stored_key(texts[i], key))
            fail_msg("'%s' has a key", texts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_key_of_the_values),
        cmocka_unit_test(every_flipped_bit_of_a_name_or_value_changes_it),
        cmocka_unit_test(what_no_configuration_looks_like_has_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
