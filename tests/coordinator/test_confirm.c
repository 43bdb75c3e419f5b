#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "coordinator/confirm.h"

static const struct confirm_design design = {
    .contestants = 4, .shapes = 2, .blocks = 6, .gpu_blocks = 2, .seed = 7
};

static void finish(struct confirm *c, const struct confirm_block *block)
{
    int number = block->number;

    for (int i = block->n - 1; i > 0; i--)
        assert_false(confirm_measured(c, number, i));
    assert_true(confirm_measured(c, number, 0));
}

static void a_block_is_everybody_once_at_each_shape(void **state)
{
    struct confirm *c = confirm_new(&design);
    struct confirm_block block;
    int seen[2][4] = { { 0 } };

    (void)state;
    assert_false(confirm_next(c, &block)); /* no GPU */
    confirm_gpu(c, 0, true);
    assert_true(confirm_next(c, &block));
    assert_int_equal(block.number, 1);
    assert_int_equal(block.n, 8);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(block.steps[i].shape, i / 4); /* shape by shape */
        seen[block.steps[i].shape][block.steps[i].contestant]++;
    }
    for (int i = 0; i < 8; i++)
        assert_int_equal(seen[i / 4][i % 4], 1);
    assert_false(confirm_next(c, &block)); /* one at a time on a GPU */
    confirm_free(c);
}

/* Each of 4 contestants is first in about a quarter of the blocks, and the
 * same seed and number give the same order. */
static void the_order_is_drawn_by_seed_and_number(void **state)
{
    struct confirm_design many = design;
    int first[4] = { 0 };

    (void)state;
    for (many.seed = 1; many.seed <= 400; many.seed++) {
        struct confirm *a = confirm_new(&many), *b = confirm_new(&many);
        struct confirm_block x, y;

        confirm_gpu(a, 0, true);
        confirm_gpu(b, 5, true);
        assert_true(confirm_next(a, &x) && confirm_next(b, &y));
        assert_memory_equal(x.steps, y.steps, 8 * sizeof(*x.steps));
        first[x.steps[0].contestant]++;
        confirm_free(a);
        confirm_free(b);
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(first[i], 70, 130);
}

static void two_gpus_get_as_many_blocks(void **state)
{
    struct confirm *c = confirm_new(&design);
    struct confirm_block block;
    int on[2] = { 0 };

    (void)state;
    confirm_gpu(c, 0, true);
    confirm_gpu(c, 1, true);
    while (confirm_next(c, &block)) {
        struct confirm_block other;

        on[block.gpu]++;
        if (confirm_next(c, &other)) {
            assert_int_not_equal(other.gpu, block.gpu);
            on[other.gpu]++;
            finish(c, &other);
        }
        finish(c, &block);
    }
    assert_true(confirm_done(c));
    assert_int_equal(on[0], 3);
    assert_int_equal(on[1], 3);
    confirm_free(c);
}

static void a_gpu_that_comes_late_gets_its_least(void **state)
{
    struct confirm *c = confirm_new(&design);
    struct confirm_block block;

    (void)state;
    confirm_gpu(c, 0, true);
    while (confirm_next(c, &block))
        finish(c, &block);
    assert_true(confirm_done(c));
    confirm_gpu(c, 3, true);
    assert_false(confirm_done(c));
    for (int i = 0; i < 2; i++) {
        assert_true(confirm_next(c, &block));
        assert_int_equal(block.gpu, 3);
        finish(c, &block);
    }
    assert_true(confirm_done(c));
    assert_int_equal(confirm_complete(c), 8);
    confirm_free(c);
}

static void a_gpu_that_goes_leaves_its_share_to_the_other(void **state)
{
    struct confirm *c = confirm_new(&design);
    struct confirm_block block, lost;

    (void)state;
    confirm_gpu(c, 0, true);
    confirm_gpu(c, 1, true);
    assert_true(confirm_next(c, &block) && confirm_next(c, &lost));
    finish(c, &block);
    confirm_broken(c, lost.number);
    confirm_gpu(c, lost.gpu, false);
    for (int i = 0; i < 5; i++) {
        assert_true(confirm_next(c, &block));
        assert_int_not_equal(block.gpu, lost.gpu);
        finish(c, &block);
    }
    assert_true(confirm_done(c));
    confirm_free(c);
}

static void a_broken_block_is_dropped_and_another_made(void **state)
{
    struct confirm *c = confirm_new(&design);
    struct confirm_block block;

    (void)state;
    confirm_gpu(c, 0, true);
    assert_true(confirm_next(c, &block));
    assert_false(confirm_measured(c, block.number, 0));
    confirm_broken(c, 1);
    assert_false(confirm_measured(c, 1, 1)); /* late: of no block */
    assert_true(confirm_next(c, &block));
    assert_int_equal(block.number, 2);
    assert_int_equal(confirm_broke(c), 1);
    assert_int_equal(confirm_complete(c), 0);
    confirm_free(c);
}

static void blocks_that_break_for_ever_end_it(void **state)
{
    struct confirm *c = confirm_new(&design);
    struct confirm_block block;
    int n = 0;

    (void)state;
    confirm_gpu(c, 0, true);
    for (; confirm_next(c, &block); n++)
        confirm_broken(c, block.number);
    assert_int_equal(n, 17);
    assert_true(confirm_failed(c));
    assert_false(confirm_done(c));
    confirm_free(c);
}

static void one_that_is_wrong_is_out_and_the_others_go_on(void **state)
{
    struct confirm *c = confirm_new(&design);
    struct confirm_block block;

    (void)state;
    confirm_gpu(c, 0, true);
    assert_true(confirm_next(c, &block));
    confirm_out(c, 2);
    finish(c, &block);
    assert_true(confirm_next(c, &block));
    assert_int_equal(block.n, 6);
    for (int i = 0; i < 6; i++)
        assert_int_not_equal(block.steps[i].contestant, 2);
    assert_false(confirm_failed(c));
    confirm_out(c, 0); /* nothing to compare with */
    assert_true(confirm_failed(c));
    confirm_free(c);
}

static void one_that_dies_three_times_is_out(void **state)
{
    struct confirm *c = confirm_new(&design);
    struct confirm_block block;

    (void)state;
    confirm_gpu(c, 0, true);
    for (int i = 1; i <= CONFIRM_CRASHES; i++) {
        assert_true(confirm_next(c, &block));
        assert_int_equal(confirm_crashed(c, block.number, 3),
                         i == CONFIRM_CRASHES);
    }
    assert_true(confirm_is_out(c, 3));
    assert_true(confirm_next(c, &block));
    assert_int_equal(block.n, 6);
    confirm_free(c);
}

static void what_an_earlier_run_left_counts(void **state)
{
    struct confirm *c = confirm_new(&design);
    struct confirm_block block;

    (void)state;
    for (int i = 1; i <= 5; i++)
        confirm_had(c, i, 0, i != 3);
    confirm_gpu(c, 0, true);
    assert_int_equal(confirm_complete(c), 4);
    for (int i = 6; i <= 7; i++) {
        assert_true(confirm_next(c, &block));
        assert_int_equal(block.number, i);
        finish(c, &block);
    }
    assert_true(confirm_done(c));
    confirm_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_everybody_once_at_each_shape),
        cmocka_unit_test(the_order_is_drawn_by_seed_and_number),
        cmocka_unit_test(two_gpus_get_as_many_blocks),
        cmocka_unit_test(a_gpu_that_comes_late_gets_its_least),
        cmocka_unit_test(a_gpu_that_goes_leaves_its_share_to_the_other),
        cmocka_unit_test(a_broken_block_is_dropped_and_another_made),
        cmocka_unit_test(blocks_that_break_for_ever_end_it),
        cmocka_unit_test(one_that_is_wrong_is_out_and_the_others_go_on),
        cmocka_unit_test(one_that_dies_three_times_is_out),
        cmocka_unit_test(what_an_earlier_run_left_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
