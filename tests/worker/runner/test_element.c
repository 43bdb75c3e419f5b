/* test_element.c - conversions of fp16 and bf16, on their edges */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "worker/runner/wire/element.h"

static void fp16_of_known_values(void **state)
{
    static const struct {
        float value;
        uint16_t bits;
    } rows[] = {
        { 0.0f, 0x0000 },
        { -0.0f, 0x8000 },
        { 1.0f, 0x3c00 },
        { -2.0f, 0xc000 },
        { 0.1f, 0x2e66 },
        { 65504.0f, 0x7bff },
        { 65519.0f, 0x7bff },
        { 65520.0f, 0x7c00 }, /* half way to 65536, which is even */
        { -1e30f, 0xfc00 },
        { 0x1p-14f, 0x0400 },
        { 0x1p-24f, 0x0001 },
        { 0x1p-25f, 0x0000 }, /* half way to zero, which is even */
        { 0x1.000002p-25f, 0x0001 },
        { 0x1.8p-24f, 0x0002 }, /* half way, up to even */
        { 1.0f + 0x1p-11f, 0x3c00 },
        { 1.0f + 0x3p-11f, 0x3c02 },
        { 0x1.ff8p-15f, 0x03ff },
        { 0x1.ffcp-15f, 0x0400 }, /* rounds up into the normals */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_int_equal(element_to_fp16(rows[i].value), rows[i].bits);
}

static void every_fp16_survives_a_round_trip(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        float value = element_from_fp16((uint16_t)bits);

        if (isnan(value))
            assert_true((bits & 0x7fff) > 0x7c00);
        else
            assert_int_equal(element_to_fp16(value), bits);
    }
}

static void bf16_rounds_to_even_and_keeps_nan(void **state)
{
    (void)state;
    assert_int_equal(element_to_bf16(1.0f), 0x3f80);
    assert_int_equal(element_to_bf16(1.0f + 0x1p-8f), 0x3f80);
    assert_int_equal(element_to_bf16(1.0f + 0x3p-8f), 0x3f82);
    assert_int_equal(element_to_bf16(3.4e38f), 0x7f80);
    assert_true(isnan(element_from_bf16(element_to_bf16(NAN))));
    assert_true(element_from_bf16(0xc040) == -3.0f);
}

static void poison_is_nan_in_every_float_type(void **state)
{
    unsigned char bytes[8];

    (void)state;
    memset(bytes, ELEMENT_POISON, sizeof(bytes));
    for (int type = ELEMENT_FP16; type <= ELEMENT_FP64; type++)
        assert_true(isnan(element_load(bytes, (enum element_type)type, 0)));
}

static void stored_elements_are_loaded_again(void **state)
{
    int64_t room[4];

    (void)state;
    for (int i = 0; i < ELEMENT_TYPES; i++) {
        enum element_type type = (enum element_type)i;

        element_store(room, type, 2, -3.0);
        element_store(room, type, 1, 7.0);
        assert_true(element_load(room, type, 2) == -3.0);
        assert_true(element_load(room, type, 1) == 7.0);
    }
}

static void an_ulp_is_the_distance_to_the_next_number(void **state)
{
    (void)state;
    assert_true(element_ulp(ELEMENT_FP16, 1) == 0x1p-10);
    assert_true(element_ulp(ELEMENT_FP16, -65504) == 32);
    assert_true(element_ulp(ELEMENT_FP16, 0) == 0x1p-24);
    assert_true(element_ulp(ELEMENT_FP16, 0x1p-14) == 0x1p-24);
    assert_true(element_ulp(ELEMENT_BF16, 3) == 0x1p-6);
    assert_true(element_ulp(ELEMENT_FP32, 0.75) == 0x1p-24);
    assert_true(element_ulp(ELEMENT_FP32, 1e-45) == 0x1p-149);
    assert_true(element_ulp(ELEMENT_FP64, 1) == 0x1p-52);
    assert_true(element_ulp(ELEMENT_INT32, 1000) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp16_of_known_values),
        cmocka_unit_test(every_fp16_survives_a_round_trip),
        cmocka_unit_test(bf16_rounds_to_even_and_keeps_nan),
        cmocka_unit_test(poison_is_nan_in_every_float_type),
        cmocka_unit_test(an_ulp_is_the_distance_to_the_next_number),
        cmocka_unit_test(stored_elements_are_loaded_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
