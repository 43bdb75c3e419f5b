#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/stats/gpu_agreement.h"
#include "tests/coordinator/near.h"

/* Ten configurations on three cards, the last one 3 % slow; times differ a
 * little from card to card. */
static size_t three_cards(struct witness *out)
{
    size_t n = 0;

    for (int config = 0; config < 10; config++)
        for (int gpu = 0; gpu < 3; gpu++)
            out[n++] = (struct witness){
                config, gpu,
                (1 + config) * (gpu == 2 ? 1.03 : 1) *
                    (1 + 1e-3 * ((config * 3 + gpu * 5) % 7 - 3))
            };
    return n;
}

static void the_odd_one_out_of_three_is_named(void **state)
{
    struct witness witnesses[30];
    struct gpu_agreement out[3];
    size_t n = three_cards(witnesses);

    (void)state;
    assert_int_equal(gpu_agreement(witnesses, n, 0.01, 0.99, out), 3);
    assert_true(!out[0].disagrees && !out[1].disagrees && out[2].disagrees);
    assert_int_equal(out[2].n_shared, 10);
    assert_near(out[2].offset, 0.03, 0.005);
    assert_true(out[2].lo > 0.01 && out[2].hi < 0.04);
}

static void of_two_both_disagree_by_half(void **state)
{
    struct witness witnesses[20];
    struct gpu_agreement out[2];

    (void)state;
    for (int i = 0; i < 20; i++)
        witnesses[i] = (struct witness){ i / 2, 4 + i % 2, i % 2 ? 1.04 : 1 };
    assert_int_equal(gpu_agreement(witnesses, 20, 0.01, 0.99, out), 2);
    assert_true(out[0].gpu == 4 && out[0].disagrees && out[1].disagrees);
    assert_near(out[1].offset, 0.02, 0.001);
}

static void without_witnesses_nothing_is_said(void **state)
{
    static const struct witness witnesses[] = {
        { 1, 0, 1.0 }, { 2, 1, 2.0 }, { 3, 0, 1.0 }, { 3, 1, 1.5 }
    };
    struct gpu_agreement out[2];

    (void)state;
    assert_int_equal(gpu_agreement(NULL, 0, 0.01, 0.99, out), 0);
    assert_int_equal(gpu_agreement(witnesses, 4, 0.01, 0.99, out), 2);
    assert_int_equal(out[0].n_shared, 1);
    assert_true(!out[0].disagrees && out[0].lo == -1 && isinf(out[0].hi));
}

static void repeated_measurements_are_one_witness(void **state)
{
    static const struct witness witnesses[] = {
        { 1, 0, 1.0 }, { 1, 0, 9.0 }, { 1, 0, 1.0 }, { 1, 1, 1.0 }
    };
    struct gpu_agreement out[2];

    (void)state;
    assert_int_equal(gpu_agreement(witnesses, 4, 0.01, 0.99, out), 2);
    assert_true(out[0].n_shared == 1 && out[0].offset == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_odd_one_out_of_three_is_named),
        cmocka_unit_test(of_two_both_disagree_by_half),
        cmocka_unit_test(without_witnesses_nothing_is_said),
        cmocka_unit_test(repeated_measurements_are_one_witness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
