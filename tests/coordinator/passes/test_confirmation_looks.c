#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/confirm/look_plan.h"
#include "coordinator/passes/confirmation_internal.h"
#include "coordinator/passes/confirmation_looks.h"
#include "tests/coordinator/noise_results.h"

#define CANDIDATES 3
#define SAMPLES 5

static const double logs[CANDIDATES] = { 0, -0.01, 0 };
static const bool nobody[CANDIDATES] = { false };

/* A pass of one GPU that has made the blocks before its first look. */
struct scene {
    struct confirmation is;
    struct confirmation_pass c;
};

static void scene_begin(struct scene *s)
{
    *s = (struct scene){ .is = { .n_running = CANDIDATES,
                                 .n_shapes = 1,
                                 .blocks = 20,
                                 .samples = SAMPLES,
                                 .rules = VERDICT_RULES } };
    look_plan_set(&s->is, &(struct confirmation_looks){ 2, 70, false });
    s->c = (struct confirmation_pass){ .is = &s->is, .samples = SAMPLES };
    s->c.confirm = block_schedule_new(
        &(struct block_schedule_design){ .candidates = CANDIDATES,
                                         .shapes = 1,
                                         .blocks = s->is.blocks,
                                         .gpu_blocks = 5 });
}

/* What is asked of a worker after a look at such noise. */
static int samples_after(struct scene *s, const struct noise *noise)
{
    struct pass pass = { .state = &s->c };
    const struct sched_lease lease = { .purpose = SCHED_CONFIRM };
    struct noise_stream stream = noise_stream(5);
    struct sequential_design design;
    struct noise_results results;
    struct sequential *found;
    struct noise_pass noisy = { CANDIDATES, 0, SAMPLES, 1, logs };

    look_plan_design(&s->is, CANDIDATES, &design);
    noisy.n_blocks = (size_t)look_plan_first(&s->is);
    noise_results_measure(noise, &noisy, &stream, &results);
    found = sequential_replay(&design, results.items, results.n, nobody);
    assert_int_equal(found->looks, 1);
    confirmation_looks_apply(&s->c, found);
    sequential_free(found);
    noise_results_fini(&results);
    return confirmation_pass.amounts.samples(NULL, &pass, &lease);
}

static void later_blocks_have_the_samples_that_the_look_wants(void **state)
{
    static const struct noise calm = { .sd = 0.01 };
    static const struct noise uneven = { .sd = 0.001, .process_sd = 0.02 };
    struct scene s;

    (void)state;
    scene_begin(&s);
    assert_int_equal(samples_after(&s, &calm), SAMPLES);
    assert_int_equal(samples_after(&s, &uneven), 1);
    block_schedule_free(s.c.confirm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_blocks_have_the_samples_that_the_look_wants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
