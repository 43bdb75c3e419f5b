#include "tests/coordinator/schedule/gpu_trust_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct gpu_trust *trust_three_then_one(void)
{
    struct gpu_trust_rules rules = { .every = 3,
                                     .line = CANARY_CALIBRATION_RULES,
                                     .rest_s = 5,
                                     .again_max = 8 };

    return gpu_trust_new(&rules, TRUST_JOBS);
}

struct gpu_trust_step trust_next(struct gpu_trust *trust, double now_s)
{
    struct gpu_trust_step step = { .gpu = -2 };

    assert_true(gpu_trust_next(trust, now_s, false, &step));
    return step;
}

void trust_expect(struct gpu_trust *trust, double now_s, enum gpu_trust_act act,
                  int gpu)
{
    struct gpu_trust_step step = trust_next(trust, now_s);

    assert_int_equal(step.act, act);
    assert_int_equal(step.gpu, gpu);
}

void trust_expect_text(struct gpu_trust *trust, enum gpu_trust_act act, int gpu,
                       const char *text)
{
    struct gpu_trust_step step = trust_next(trust, 0);

    assert_int_equal(step.act, act);
    assert_int_equal(step.gpu, gpu);
    assert_string_equal(step.text, text);
}

void trust_expect_nothing(struct gpu_trust *trust, double now_s, bool over)
{
    struct gpu_trust_step step;

    if (gpu_trust_next(trust, now_s, over, &step))
        fail_msg("act %d of GPU %d: %s", (int)step.act, step.gpu, step.text);
}

void trust_start(struct gpu_trust *trust, int gpu, double seconds)
{
    gpu_trust_gpu(trust, gpu, true);
    trust_expect(trust, 0, GPU_TRUST_CANARY, gpu);
    gpu_trust_canary(trust, gpu, 0, seconds);
}

void trust_batch(struct gpu_trust *trust, int gpu, int first, double at_s,
                 double canary_s)
{
    for (int i = 0; i < 3; i++) {
        trust_expect_nothing(trust, at_s, false);
        gpu_trust_measured(trust, gpu, first + i, at_s + i);
    }
    trust_expect(trust, at_s, GPU_TRUST_CANARY, gpu);
    trust_expect_nothing(trust, at_s, false); /* one at a time */
    gpu_trust_canary(trust, gpu, at_s + 9, canary_s);
}
