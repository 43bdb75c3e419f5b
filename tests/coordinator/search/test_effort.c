#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/search/effort.h"

static void words_are_read(void **state)
{
    enum effort effort = EFFORT_NORMAL;
    struct err err;

    (void)state;
    assert_int_equal(effort_read("quick", &effort, &err), 0);
    assert_int_equal(effort, EFFORT_QUICK);
    assert_int_equal(effort_read("full", &effort, &err), 0);
    assert_int_equal(effort, EFFORT_FULL);
    assert_int_equal(effort_read("normal", &effort, &err), 0);
    assert_int_equal(effort, EFFORT_NORMAL);
    assert_int_equal(effort_read("quikc", &effort, &err), ERR_INPUT);
    assert_string_equal(err.text,
                        "--effort=quikc: choose quick, normal or full; did "
                        "you mean 'quick'?");
    assert_int_equal(effort_read("9", &effort, &err), ERR_INPUT);
    assert_string_equal(err.text, "--effort=9: choose quick, normal or full");
}

static void stored_words_are_recalled(void **state)
{
    (void)state;
    for (int i = 0; i < EFFORTS; i++)
        assert_int_equal(effort_recall(effort_name((enum effort)i)), i);
    assert_int_equal(effort_recall(NULL), EFFORT_NORMAL);
    assert_int_equal(effort_recall("thorough"), EFFORT_NORMAL);
}

static struct effort_limits limited(enum effort effort, int64_t finalists,
                                    int64_t blocks, int64_t fuzz_shapes)
{
    struct effort_limits limits = { finalists, blocks, fuzz_shapes };

    effort_limit(effort, &limits);
    return limits;
}

static void quick_lowers_limits_and_raises_none(void **state)
{
    struct effort_limits limits = limited(EFFORT_QUICK, 32, 70, 57);

    (void)state;
    assert_int_equal(limits.finalists, 4);
    assert_int_equal(limits.blocks, 24);
    assert_int_equal(limits.fuzz_shapes, 8);
    limits = limited(EFFORT_QUICK, 2, 10, 3);
    assert_int_equal(limits.finalists, 2);
    assert_int_equal(limits.blocks, 10);
    assert_int_equal(limits.fuzz_shapes, 3);
}

static void normal_is_the_sweep_file(void **state)
{
    struct effort_limits limits = limited(EFFORT_NORMAL, 32, 70, 57);

    (void)state;
    assert_int_equal(limits.finalists, 32);
    assert_int_equal(limits.blocks, 70);
    assert_int_equal(limits.fuzz_shapes, 57);
}

static void full_raises_limits_to_what_is_allowed(void **state)
{
    struct effort_limits limits = limited(EFFORT_FULL, 32, 70, 57);

    (void)state;
    assert_int_equal(limits.finalists, 1000);
    assert_int_equal(limits.blocks, 280);
    assert_int_equal(limits.fuzz_shapes, 57);
    assert_int_equal(limited(EFFORT_FULL, 1, 1001, 1).blocks, 4000);
}

static void of_each_part_of_the_list_the_smallest_is_kept(void **state)
{
    static const double sizes[7] = { 4, 2, 9, 9, 5, 5, 1 };
    bool kept[7];

    (void)state;
    effort_thin(sizes, 7, 3, kept); /* 2, 2 and 3 of them */
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(kept[i], i == 1 || i == 2 || i == 6);
    effort_thin(sizes, 7, 1, kept);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(kept[i], i == 6);
    effort_thin(sizes, 7, 8, kept);
    for (size_t i = 0; i < 7; i++)
        assert_true(kept[i]);
    effort_thin(sizes, 0, 8, kept);
}

static void as_many_are_kept_as_may_be(void **state)
{
    static const double sizes[100] = { 0 };
    bool kept[100];

    (void)state;
    for (size_t n = 8; n <= 100; n++) {
        size_t sum = 0;

        effort_thin(sizes, n, 8, kept);
        for (size_t i = 0; i < n; i++)
            sum += kept[i];
        assert_int_equal(sum, 8);
        assert_true(kept[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_read),
        cmocka_unit_test(stored_words_are_recalled),
        cmocka_unit_test(quick_lowers_limits_and_raises_none),
        cmocka_unit_test(normal_is_the_sweep_file),
        cmocka_unit_test(full_raises_limits_to_what_is_allowed),
        cmocka_unit_test(of_each_part_of_the_list_the_smallest_is_kept),
        cmocka_unit_test(as_many_are_kept_as_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
