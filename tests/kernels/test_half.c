/* The emulator's fp16 conversions against those of the runner (element.h),
 * which are a separate implementation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/kernels/fixture.h"

#define SOURCE "tests/fixtures/kernels/conversions.cu"

enum {
    HALVES = 65536,
    FLOATS = 3 << 16
};

static void launch(const char *entry, int n, struct device_buffer *in,
                   struct device_buffer *out)
{
    struct device_kernel *kernel = fixture_load(entry, SOURCE, entry, "");
    void *addresses[2] = { device_address(in), device_address(out) };
    void *args[2] = { &addresses[0], &addresses[1] };
    const struct device_launch l = { .kernel = kernel,
                                     .grid = { (unsigned)n / 256, 1, 1 },
                                     .block = { 256, 1, 1 },
                                     .args = args,
                                     .n_args = 2 };
    struct device_err err;

    if (device_run(NULL, &l, 30, &err) < 0)
        fail_msg("%s", err.text);
    device_unload(NULL, kernel);
}

static void every_half_becomes_its_float(void **state)
{
    struct device_buffer *in = fixture_buffer("in", ELEMENT_FP16, HALVES);
    struct device_buffer *out = fixture_buffer("out", ELEMENT_FP32, HALVES);
    const float *got = device_address(out);

    (void)state;
    for (int i = 0; i < HALVES; i++)
        ((uint16_t *)device_address(in))[i] = (uint16_t)i;
    launch("widen", HALVES, in, out);
    for (int i = 0; i < HALVES; i++) {
        const float want = element_from_fp16((uint16_t)i);

        if (isnan(want) ? !isnan(got[i]) : !(got[i] == want))
            fail_msg("0x%04x: %g, not %g", (unsigned)i, (double)got[i],
                     (double)want);
    }
    device_free(NULL, in);
    device_free(NULL, out);
}

/* The upper 16 bits count; the lower ones lie at and beside halfway, for the
 * 13 bits that rounding drops and for what it drops of subnormal results. */
static float sample(int i)
{
    static const uint32_t low[3] = { 0x0000, 0x1000, 0x1001 };

    return element_bits_float((uint32_t)(i / 3) << 16 | low[i % 3]);
}

static void floats_round_to_the_even_half(void **state)
{
    struct device_buffer *in = fixture_buffer("in", ELEMENT_FP32, FLOATS);
    struct device_buffer *out = fixture_buffer("out", ELEMENT_FP16, FLOATS);
    const uint16_t *got = device_address(out);

    (void)state;
    for (int i = 0; i < FLOATS; i++)
        ((float *)device_address(in))[i] = sample(i);
    launch("narrow", FLOATS, in, out);
    for (int i = 0; i < FLOATS; i++) {
        const float x = sample(i);
        const uint16_t want = isnan(x) ? 0x7fff : element_to_fp16(x);

        if (got[i] != want)
            fail_msg("%a: 0x%04x, not 0x%04x", (double)x, got[i], want);
    }
    device_free(NULL, in);
    device_free(NULL, out);
}

static void fixture_builds_for_a_gpu_as_well(void **state)
{
    (void)state;
    assert_true(fixture_builds_for_gpu("conversions", SOURCE, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_becomes_its_float),
        cmocka_unit_test(floats_round_to_the_even_half),
        cmocka_unit_test(fixture_builds_for_a_gpu_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
