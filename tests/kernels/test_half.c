/* The emulator's fp16 conversions against those of the runner (element.h),
 * which were written apart from them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "worker/runner/element.h"

float fa_emu_f32_f16(uint16_t bits);
uint16_t fa_emu_f16_f32(float f);

static void every_half_becomes_its_float(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const float want = element_from_fp16((uint16_t)bits);
        const float got = fa_emu_f32_f16((uint16_t)bits);

        if (isnan(want) ? !isnan(got) : !(got == want))
            fail_msg("0x%04x: %g, not %g", bits, (double)got, (double)want);
    }
}

/* All signs and exponents, mantissas at and around every rounding point. */
static void every_kind_of_float_rounds_to_even(void **state)
{
    (void)state;
    for (uint32_t high = 0; high < 1 << 20; high++)
        for (uint32_t low = 0; low < 3; low++) {
            const float x = element_bits_float(high << 12 | (0xfff * low) >> 1);

            if (isnan(x))
                continue;
            if (fa_emu_f16_f32(x) != element_to_fp16(x))
                fail_msg("%a: 0x%04x, not 0x%04x", (double)x, fa_emu_f16_f32(x),
                         element_to_fp16(x));
        }
}

static void nan_stays_one(void **state)
{
    (void)state;
    assert_int_equal(fa_emu_f16_f32(NAN), 0x7fff);
    assert_true(isnan(fa_emu_f32_f16(0x7c01)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_becomes_its_float),
        cmocka_unit_test(every_kind_of_float_rounds_to_even),
        cmocka_unit_test(nan_stays_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
