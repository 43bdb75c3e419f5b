#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/source/type_name.h"

static void a_name_is_found_in_its_languages_only(void **state)
{
    static const struct {
        const char *name;
        unsigned languages;
        const char *type; /* NULL: none */
        int elements;
    } rows[] = {
        { "float16", TYPE_NAME_NUMPY, "fp16", 1 },
        { "float16", TYPE_NAME_T1, "fp32", 16 },
        { "float16", TYPE_NAME_C, NULL, 0 },
        { "float16", TYPE_NAME_C | TYPE_NAME_NUMPY, "fp16", 1 },
        { "__half", TYPE_NAME_C, "fp16", 1 },
        { "__half", TYPE_NAME_T1, NULL, 0 },
        { "half", TYPE_NAME_T1, "fp16", 1 },
        { "__nv_bfloat16", TYPE_NAME_C, "bf16", 1 },
        { "bfloat16", TYPE_NAME_NUMPY, "bf16", 1 },
        { "long long", TYPE_NAME_C, "int64", 1 },
        { "unsigned", TYPE_NAME_C, "int32", 1 },
        { "float4", TYPE_NAME_C, "fp32", 4 },
        { "half8", TYPE_NAME_T1, "fp16", 8 },
        { "half8", TYPE_NAME_C, NULL, 0 },
        { "int8", TYPE_NAME_T1, "int8", 1 },
        { "int8", TYPE_NAME_C | TYPE_NAME_NUMPY, NULL, 0 }, /* our own */
        { "fp16", TYPE_NAME_C | TYPE_NAME_NUMPY | TYPE_NAME_T1, NULL, 0 },
        { "Float", TYPE_NAME_C, NULL, 0 },
        { "floa", TYPE_NAME_C, NULL, 0 },
        { "", TYPE_NAME_C, NULL, 0 },
        { "float", 0, NULL, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct type_name *row =
            type_name_find(rows[i].name, rows[i].languages);

        assert_int_equal(row != NULL, rows[i].type != NULL);
        if (row) {
            assert_string_equal(row->type, rows[i].type);
            assert_int_equal(row->elements, rows[i].elements);
        }
    }
}

static size_t place_of(const char *name)
{
    size_t i = 0;

    while (strcmp(type_name_at(i)->name, name) != 0)
        i++;
    return i;
}

/* "unsigned long int", "unsigned char" */
static void a_word_that_says_less_comes_later(void **state)
{
    (void)state;
    assert_true(place_of("long") < place_of("int"));
    assert_true(place_of("long") < place_of("unsigned"));
    assert_true(place_of("char") < place_of("unsigned"));
}

static void each_type_has_a_name_in_c(void **state)
{
    (void)state;
    assert_string_equal(type_name_in_c("fp16"), "__half");
    assert_string_equal(type_name_in_c("bf16"), "__nv_bfloat16");
    assert_string_equal(type_name_in_c("fp32"), "float");
    assert_string_equal(type_name_in_c("fp64"), "double");
    assert_string_equal(type_name_in_c("int8"), "int8_t");
    assert_string_equal(type_name_in_c("int32"), "int");
    assert_string_equal(type_name_in_c("int64"), "int64_t");
    assert_null(type_name_in_c("fp8"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_found_in_its_languages_only),
        cmocka_unit_test(a_word_that_says_less_comes_later),
        cmocka_unit_test(each_type_has_a_name_in_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
