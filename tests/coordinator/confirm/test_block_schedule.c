#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "coordinator/confirm/block_schedule.h"

static const struct block_schedule_design design = {
    .candidates = 4, .shapes = 2, .blocks = 6, .gpu_blocks = 2, .seed = 7
};

static void finish(struct block_schedule *c,
                   const struct block_schedule_block *block)
{
    int number = block->number;

    for (int i = block->n - 1; i > 0; i--)
        assert_false(block_schedule_measured(c, number, i));
    assert_true(block_schedule_measured(c, number, 0));
}

static void a_block_has_every_candidate_once_at_each_shape(void **state)
{
    struct block_schedule *c = block_schedule_new(&design);
    struct block_schedule_block block;
    int seen[2][4] = { { 0 } };

    (void)state;
    assert_false(block_schedule_next(c, &block)); /* no GPU */
    block_schedule_gpu(c, 0, true);
    assert_true(block_schedule_next(c, &block));
    assert_int_equal(block.number, 1);
    assert_int_equal(block.n, 8);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(block.steps[i].shape, i / 4); /* shape by shape */
        seen[block.steps[i].shape][block.steps[i].candidate]++;
    }
    for (int i = 0; i < 8; i++)
        assert_int_equal(seen[i / 4][i % 4], 1);
    assert_false(block_schedule_next(c, &block)); /* one at a time on a GPU */
    block_schedule_free(c);
}

/* Each of 4 candidates is first in about a quarter of the blocks, and the same
 * seed and number give the same order. */
static void the_order_is_drawn_by_seed_and_number(void **state)
{
    struct block_schedule_design many = design;
    int first[4] = { 0 };

    (void)state;
    for (many.seed = 1; many.seed <= 400; many.seed++) {
        struct block_schedule *a = block_schedule_new(&many),
                              *b = block_schedule_new(&many);
        struct block_schedule_block x, y;

        block_schedule_gpu(a, 0, true);
        block_schedule_gpu(b, 5, true);
        assert_true(block_schedule_next(a, &x) && block_schedule_next(b, &y));
        assert_memory_equal(x.steps, y.steps, 8 * sizeof(*x.steps));
        first[x.steps[0].candidate]++;
        block_schedule_free(a);
        block_schedule_free(b);
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(first[i], 70, 130);
}

static void two_gpus_get_as_many_blocks(void **state)
{
    struct block_schedule *c = block_schedule_new(&design);
    struct block_schedule_block block;
    int on[2] = { 0 };

    (void)state;
    block_schedule_gpu(c, 0, true);
    block_schedule_gpu(c, 1, true);
    while (block_schedule_next(c, &block)) {
        struct block_schedule_block other;

        on[block.gpu]++;
        if (block_schedule_next(c, &other)) {
            assert_int_not_equal(other.gpu, block.gpu);
            on[other.gpu]++;
            finish(c, &other);
        }
        finish(c, &block);
    }
    assert_true(block_schedule_done(c));
    assert_int_equal(on[0], 3);
    assert_int_equal(on[1], 3);
    block_schedule_free(c);
}

static void a_late_gpu_gets_its_minimum(void **state)
{
    struct block_schedule *c = block_schedule_new(&design);
    struct block_schedule_block block;

    (void)state;
    block_schedule_gpu(c, 0, true);
    while (block_schedule_next(c, &block))
        finish(c, &block);
    assert_true(block_schedule_done(c));
    block_schedule_gpu(c, 3, true);
    assert_false(block_schedule_done(c));
    for (int i = 0; i < 2; i++) {
        assert_true(block_schedule_next(c, &block));
        assert_int_equal(block.gpu, 3);
        finish(c, &block);
    }
    assert_true(block_schedule_done(c));
    assert_int_equal(block_schedule_complete(c), 8);
    block_schedule_free(c);
}

static void a_gpu_that_goes_leaves_its_share_to_the_other(void **state)
{
    struct block_schedule *c = block_schedule_new(&design);
    struct block_schedule_block block, lost;

    (void)state;
    block_schedule_gpu(c, 0, true);
    block_schedule_gpu(c, 1, true);
    assert_true(block_schedule_next(c, &block) &&
                block_schedule_next(c, &lost));
    finish(c, &block);
    block_schedule_broken(c, lost.number);
    block_schedule_gpu(c, lost.gpu, false);
    for (int i = 0; i < 5; i++) {
        assert_true(block_schedule_next(c, &block));
        assert_int_not_equal(block.gpu, lost.gpu);
        finish(c, &block);
    }
    assert_true(block_schedule_done(c));
    block_schedule_free(c);
}

static void a_broken_block_is_dropped_and_another_made(void **state)
{
    struct block_schedule *c = block_schedule_new(&design);
    struct block_schedule_block block;

    (void)state;
    block_schedule_gpu(c, 0, true);
    assert_true(block_schedule_next(c, &block));
    assert_false(block_schedule_measured(c, block.number, 0));
    block_schedule_broken(c, 1);
    assert_false(block_schedule_measured(c, 1, 1)); /* too late: the block is
                                                     * gone */
    assert_true(block_schedule_next(c, &block));
    assert_int_equal(block.number, 2);
    assert_int_equal(block_schedule_broke(c), 1);
    assert_int_equal(block_schedule_complete(c), 0);
    block_schedule_free(c);
}

static void too_many_broken_blocks_end_the_pass(void **state)
{
    struct block_schedule *c = block_schedule_new(&design);
    struct block_schedule_block block;
    int n = 0;

    (void)state;
    block_schedule_gpu(c, 0, true);
    for (; block_schedule_next(c, &block); n++)
        block_schedule_broken(c, block.number);
    assert_int_equal(n, 17);
    assert_true(block_schedule_failed(c));
    assert_false(block_schedule_done(c));
    block_schedule_free(c);
}

static void one_that_is_wrong_is_out_and_the_others_go_on(void **state)
{
    struct block_schedule *c = block_schedule_new(&design);
    struct block_schedule_block block;

    (void)state;
    block_schedule_gpu(c, 0, true);
    assert_true(block_schedule_next(c, &block));
    block_schedule_out(c, 2);
    finish(c, &block);
    assert_true(block_schedule_next(c, &block));
    assert_int_equal(block.n, 6);
    for (int i = 0; i < 6; i++)
        assert_int_not_equal(block.steps[i].candidate, 2);
    assert_false(block_schedule_failed(c));
    block_schedule_out(c, 0); /* nothing left to compare with */
    assert_true(block_schedule_failed(c));
    block_schedule_free(c);
}

static void one_that_dies_three_times_is_out(void **state)
{
    struct block_schedule *c = block_schedule_new(&design);
    struct block_schedule_block block;

    (void)state;
    block_schedule_gpu(c, 0, true);
    for (int i = 1; i <= BLOCK_SCHEDULE_CRASHES; i++) {
        assert_true(block_schedule_next(c, &block));
        assert_int_equal(block_schedule_crashed(c, block.number, 3),
                         i == BLOCK_SCHEDULE_CRASHES);
    }
    assert_true(block_schedule_is_out(c, 3));
    assert_true(block_schedule_next(c, &block));
    assert_int_equal(block.n, 6);
    block_schedule_free(c);
}

static void blocks_of_an_earlier_run_count(void **state)
{
    struct block_schedule *c = block_schedule_new(&design);
    struct block_schedule_block block;

    (void)state;
    for (int i = 1; i <= 5; i++)
        block_schedule_had(c, i, 0, i != 3);
    block_schedule_gpu(c, 0, true);
    assert_int_equal(block_schedule_complete(c), 4);
    for (int i = 6; i <= 7; i++) {
        assert_true(block_schedule_next(c, &block));
        assert_int_equal(block.number, i);
        finish(c, &block);
    }
    assert_true(block_schedule_done(c));
    block_schedule_free(c);
}

static void fewer_blocks_may_break_no_sooner(void **state)
{
    struct block_schedule *c = block_schedule_new(&design);
    struct block_schedule_block block;
    int n = 0;

    (void)state;
    block_schedule_gpu(c, 0, true);
    block_schedule_want(c, 1);
    for (; block_schedule_next(c, &block); n++)
        block_schedule_broken(c, block.number);
    assert_int_equal(n, 17); /* 6 and 10 may */
    block_schedule_free(c);
}

/* As for the looks of a pass: a few blocks, and then some more. */
static void more_blocks_may_be_wanted(void **state)
{
    struct block_schedule *c = block_schedule_new(&design);
    struct block_schedule_block block;

    (void)state;
    block_schedule_gpu(c, 0, true);
    block_schedule_want(c, 3);
    while (block_schedule_next(c, &block))
        finish(c, &block);
    assert_true(block_schedule_done(c));
    assert_int_equal(block_schedule_complete(c), 3);
    block_schedule_want(c, 5);
    assert_false(block_schedule_done(c));
    while (block_schedule_next(c, &block))
        finish(c, &block);
    assert_int_equal(block.number, 5);
    assert_true(block_schedule_done(c));
    block_schedule_free(c);
}

static void one_that_rests_is_left_out_and_may_return(void **state)
{
    struct block_schedule *c = block_schedule_new(&design);
    struct block_schedule_block block;

    (void)state;
    block_schedule_gpu(c, 0, true);
    block_schedule_rest(c, 2, true);
    assert_true(block_schedule_next(c, &block));
    assert_int_equal(block.n, 6);
    for (int i = 0; i < 6; i++)
        assert_int_not_equal(block.steps[i].candidate, 2);
    assert_false(block_schedule_is_out(c, 2));
    finish(c, &block);
    block_schedule_rest(c, 2, false);
    assert_true(block_schedule_next(c, &block));
    assert_int_equal(block.n, 8);
    block_schedule_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_has_every_candidate_once_at_each_shape),
        cmocka_unit_test(the_order_is_drawn_by_seed_and_number),
        cmocka_unit_test(two_gpus_get_as_many_blocks),
        cmocka_unit_test(a_late_gpu_gets_its_minimum),
        cmocka_unit_test(a_gpu_that_goes_leaves_its_share_to_the_other),
        cmocka_unit_test(a_broken_block_is_dropped_and_another_made),
        cmocka_unit_test(too_many_broken_blocks_end_the_pass),
        cmocka_unit_test(one_that_is_wrong_is_out_and_the_others_go_on),
        cmocka_unit_test(one_that_dies_three_times_is_out),
        cmocka_unit_test(blocks_of_an_earlier_run_count),
        cmocka_unit_test(more_blocks_may_be_wanted),
        cmocka_unit_test(fewer_blocks_may_break_no_sooner),
        cmocka_unit_test(one_that_rests_is_left_out_and_may_return),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
