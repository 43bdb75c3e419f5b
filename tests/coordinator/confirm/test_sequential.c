#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "coordinator/confirm/sequential.h"
#include "coordinator/confirm/speedup.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/noise_results.h"

#define MOST_CANDIDATES 11

static const bool nobody[MOST_CANDIDATES] = { false };
static const struct noise calm = { .sd = 0.01 };

static struct sequential_design design_of(size_t candidates, int most)
{
    return (struct sequential_design){ .candidates = candidates,
                                       .shapes = 1,
                                       .group = 2,
                                       .most = most,
                                       .samples = 5,
                                       .rules = VERDICT_RULES };
}

/* One simulated pass of as many blocks as there can be. */
struct simulated {
    struct sequential_design design;
    struct noise_results results;
};

static struct simulated simulate(const struct noise *noise, const double *logs,
                                 size_t candidates, uint64_t seed)
{
    struct simulated s = { .design = design_of(candidates, 70) };
    const struct noise_pass pass = { candidates, 140, 5, 1, logs };
    struct noise_stream stream = noise_stream(seed);

    noise_results_measure(noise, &pass, &stream, &s.results);
    return s;
}

static struct sequential *replay(const struct simulated *s)
{
    return sequential_replay(&s->design, s->results.items, s->results.n,
                             nobody);
}

static void a_clear_winner_ends_it_at_the_first_look(void **state)
{
    static const double logs[] = { 0, -0.2 };
    struct simulated s = simulate(&calm, logs, 2, 1);
    struct sequential *found = replay(&s);

    (void)state;
    assert_int_equal(found->end, SEQUENTIAL_CLEAR);
    assert_int_equal(found->looks, 1);
    assert_int_equal(found->used, sequential_first(&s.design));
    assert_in_range(found->used, 8, 12);
    assert_true(found->tied[1]);
    assert_true(sequential_counts(found, 1, found->used));
    assert_false(sequential_counts(found, 1, found->used + 1));
    sequential_free(found);
    noise_results_fini(&s.results);
}

/* ---- over an external baseline, the last candidate */

static struct simulated simulate_external(const double *logs, uint64_t seed)
{
    struct simulated s = simulate(&calm, logs, 4, seed);

    s.design.over = 3;
    return s;
}

/* Of finalist 1 alone it is known that it beats the external baseline. */
static void the_speedups_may_be_over_an_external_baseline(void **state)
{
    static const double logs[] = { -0.3, -0.2, 0.02, 0 };
    struct simulated s = simulate_external(logs, 1);
    struct sequential *found = replay(&s);

    (void)state;
    assert_int_equal(found->end, SEQUENTIAL_CLEAR);
    assert_int_equal(found->used, sequential_first(&s.design));
    assert_true(found->tied[1]);
    assert_false(found->tied[0] || found->tied[2] || found->tied[3]);
    assert_near(found->candidates[1].level, found->candidates[0].level, 1e-12);
    sequential_free(found);
    noise_results_fini(&s.results);
}

/* Both finalists beat the baseline, and neither beats the external one. */
static void nothing_beats_the_external_baseline_is_an_answer(void **state)
{
    static const double logs[] = { 0.5, 0.02, 0.03, 0 };
    struct simulated s = simulate_external(logs, 2);
    struct sequential *found = replay(&s);

    (void)state;
    assert_int_equal(found->end, SEQUENTIAL_CLEAR);
    assert_false(found->candidates[0].dropped || found->candidates[3].dropped);
    sequential_free(found);
    noise_results_fini(&s.results);
}

/* It ran in every second block, or in none. */
static void an_external_baseline_may_be_missing_from_blocks(void **state)
{
    static const double logs[] = { 0, -0.2, 0.02, -0.05 };
    struct simulated s = simulate_external(logs, 3);
    struct sequential *found;

    (void)state;
    for (int every = 2; every <= 1000; every += 998) {
        size_t n = 0;

        for (size_t i = 0; i < s.results.n; i++)
            if (s.results.items[i].candidate != 3 ||
                s.results.items[i].block % every == 0)
                s.results.items[n++] = s.results.items[i];
        s.results.n = n;
        found = replay(&s);
        assert_int_equal(found->end, SEQUENTIAL_CLEAR);
        assert_in_range(found->used, sequential_first(&s.design), 30);
        assert_true(found->blocks[0].complete && found->tied[1]);
        sequential_free(found);
    }
    noise_results_fini(&s.results);
}

/* ---- over the baseline */

static void nothing_beats_the_baseline_is_an_answer(void **state)
{
    static const double logs[] = { 0, 0.02, 0.03 };
    struct simulated s = simulate(&calm, logs, 3, 2);
    struct sequential *found = replay(&s);

    (void)state;
    assert_int_equal(found->end, SEQUENTIAL_CLEAR);
    assert_in_range(found->used, 8, 20);
    sequential_free(found);
    noise_results_fini(&s.results);
}

/* At the very border of the floor, and so calm that it is known to be there. */
static void a_border_is_found_precisely(void **state)
{
    static const struct noise quiet = { .sd = 0.001 };
    const double logs[] = { 0, -log(1.005) };
    struct simulated s = simulate(&quiet, logs, 2, 3);
    struct sequential *found = replay(&s);

    (void)state;
    assert_int_equal(found->end, SEQUENTIAL_PRECISE);
    assert_in_range(found->used, 8, 12);
    sequential_free(found);
    noise_results_fini(&s.results);
}

static void noise_goes_on_to_the_cap(void **state)
{
    static const struct noise loud = { .sd = 0.1 };
    static const double logs[] = { 0, -0.02 };
    struct simulated s = simulate(&loud, logs, 2, 4);
    struct sequential *found = replay(&s);

    (void)state;
    assert_int_equal(found->end, SEQUENTIAL_CAP);
    assert_int_equal(found->used, 70);
    assert_int_equal(found->most, 70);
    sequential_free(found);
    noise_results_fini(&s.results);
}

/* As many blocks as a cap left time for: before the first look, at a look, and
 * between two. */
static void a_pass_that_is_closed_has_its_last_look_at_what_it_has(void **state)
{
    static const struct noise loud = { .sd = 0.1 };
    static const double logs[] = { 0, -0.02 };
    static const struct {
        int blocks, looks, used;
        bool last;
    } rows[] = {
        { 1, 1, 1, true },
        { 7, 1, 7, true },
        { 10, 1, 10, false },
        { 11, 2, 11, true },
    };
    struct simulated s = simulate(&loud, logs, 2, 1);

    (void)state;
    s.design.closed = true;
    assert_int_equal(sequential_first(&s.design), 10);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sequential *found;

        s.results.n = 2 * (size_t)rows[i].blocks;
        found = replay(&s);
        assert_int_equal(found->end, SEQUENTIAL_BUDGET);
        assert_int_equal(found->looks, rows[i].looks);
        assert_int_equal(found->used, rows[i].used);
        assert_int_equal(found->next, rows[i].used);
        assert_int_equal(found->most, 70);
        assert_int_equal(found->last, rows[i].last);
        assert_true(sequential_counts(found, 1, rows[i].used));
        sequential_free(found);
    }
    noise_results_fini(&s.results);
}

/* Six blocks are too few for a look that others follow. */
static void the_last_look_may_answer_the_question(void **state)
{
    static const double logs[] = { 0, -0.2 };
    struct simulated s = simulate(&calm, logs, 2, 1);
    struct sequential *found;

    (void)state;
    s.design.closed = true;
    s.results.n = 2 * 6;
    found = replay(&s);
    assert_int_equal(found->end, SEQUENTIAL_CLEAR);
    assert_near(found->candidates[1].level, 0.05, 1e-9);
    sequential_free(found);
    s.results.n = 0;
    found = replay(&s);
    assert_int_equal(found->end, SEQUENTIAL_OPEN); /* there is nothing */
    sequential_free(found);
    noise_results_fini(&s.results);
}

/* What the first look plans, later ones do not change. */
static void processes_that_differ_change_the_plan(void **state)
{
    static const struct noise uneven = { .sd = 0.001, .process_sd = 0.1 };
    static const double logs[] = { 0, -0.02, 0 };
    struct simulated s = simulate(&uneven, logs, 3, 5);
    size_t first = (size_t)sequential_first(&s.design);

    (void)state;
    for (size_t blocks = first; blocks <= 140; blocks += 140 - first) {
        struct sequential *found;

        s.results.n = 3 * blocks;
        found = replay(&s);
        assert_true(found->noise.noticed);
        assert_int_equal(found->most, PROCESS_PLAN_MOST * 70);
        assert_int_equal(found->samples, 1);
        assert_int_equal(found->end, SEQUENTIAL_OPEN);
        sequential_free(found);
    }
    noise_results_fini(&s.results);
}

static void the_plan_stays_if_processes_agree(void **state)
{
    static const double logs[] = { 0, -0.01, 0 };
    struct simulated s = simulate(&calm, logs, 3, 5);
    struct sequential *found = replay(&s);

    (void)state;
    assert_false(found->noise.noticed);
    assert_int_equal(found->most, 70);
    assert_int_equal(found->samples, 5);
    sequential_free(found);
    noise_results_fini(&s.results);
}

/* Each process has a level of its own, and five samples of it say the same. */
static void uneven_processes_get_more_processes(void **state)
{
    static const struct noise uneven = { .sd = 0.002, .process_sd = 0.02 };
    static const double logs[] = { 0, -0.01 };
    struct sequential_design design = design_of(2, 70);
    const struct noise_pass pass = { 2, 70, 5, 1, logs };
    struct noise_stream stream = noise_stream(21);
    int answered = 0;

    (void)state;
    for (int i = 0; i < 10; i++) {
        struct noise_results results;
        struct sequential *found =
            noise_results_pass(&uneven, &pass, &design, &stream, &results);

        assert_int_equal(results.items[results.n - 1].n, 1);
        answered += found->end == SEQUENTIAL_CLEAR;
        sequential_free(found);
        noise_results_fini(&results);
    }
    print_message("answered in %d of 10\n", answered);
    assert_in_range(answered, 8, 10);
}

/* Six that are 5 % slower are dropped, and what they did later changes
 * nothing. */
static void the_slow_are_dropped_and_their_blocks_are_shorter(void **state)
{
    const double logs[] = { 0, -0.01, 0.04, 0.04, 0.04, 0.04, 0.04, 0.04 };
    struct simulated s = simulate(&calm, logs, 8, 6);
    struct sequential *found = replay(&s), *again;
    size_t n = 0;

    (void)state;
    assert_int_equal(found->end, SEQUENTIAL_CLEAR);
    for (size_t c = 2; c < 8; c++) {
        assert_true(found->candidates[c].dropped && !found->tied[c]);
        assert_true(found->candidates[c].last < found->used);
    }
    for (size_t i = 0; i < s.results.n; i++)
        if (sequential_counts(found, s.results.items[i].candidate,
                              s.results.items[i].block))
            s.results.items[n++] = s.results.items[i];
    s.results.n = n;
    again = replay(&s);
    assert_int_equal(again->end, found->end);
    assert_int_equal(again->used, found->used);
    assert_memory_equal(again->candidates, found->candidates,
                        8 * sizeof(*again->candidates));
    sequential_free(again);
    sequential_free(found);
    noise_results_fini(&s.results);
}

/* Cut short anywhere, the pass continues to the same looks. */
static void a_part_of_a_pass_wants_what_the_whole_had(void **state)
{
    const double logs[] = { 0, -0.01, -0.004, 0.04 };
    struct simulated s = simulate(&calm, logs, 4, 7);
    struct sequential *whole = replay(&s);
    size_t n = s.results.n;

    (void)state;
    assert_in_range(whole->looks, 3, 30);
    for (int blocks = 0; blocks < whole->used; blocks++) {
        struct sequential *part;

        s.results.n = 4 * (size_t)blocks;
        part = replay(&s);
        assert_int_equal(part->end, SEQUENTIAL_OPEN);
        assert_true(part->next > blocks && part->next <= whole->used);
        assert_true(part->looks < whole->looks);
        sequential_free(part);
    }
    s.results.n = n;
    sequential_free(whole);
    noise_results_fini(&s.results);
}

static void a_block_that_lacks_one_does_not_count(void **state)
{
    static const double logs[] = { 0, -0.2 };
    struct simulated s = simulate(&calm, logs, 2, 1);
    struct sequential *found;

    (void)state;
    memmove(&s.results.items[4], &s.results.items[5],
            (s.results.n - 5) * sizeof(*s.results.items));
    s.results.n--;
    found = replay(&s);
    assert_false(found->blocks[2].complete);
    assert_false(sequential_counts(found, 0, 3) ||
                 sequential_counts(found, 1, 3));
    assert_int_equal(found->candidates[1].last, found->used + 1);
    sequential_free(found);
    noise_results_fini(&s.results);
}

/* ---- a pass that goes on ---- */

static void expect_same_candidates(const struct sequential *a,
                                   const struct sequential *b, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        const struct sequential_candidate *x = &a->candidates[c];
        const struct sequential_candidate *y = &b->candidates[c];

        assert_int_equal(x->dropped, y->dropped);
        assert_int_equal(x->last, y->last);
        assert_int_equal(x->looks, y->looks);
        assert_true(x->level == y->level);
        assert_int_equal(a->tied[c], b->tied[c]);
    }
}

static void expect_same(const struct sequential *a, const struct sequential *b,
                        size_t candidates)
{
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->looks, b->looks);
    for (int i = 0; i < a->looks; i++)
        assert_int_equal(a->looked[i], b->looked[i]);
    assert_int_equal(a->complete, b->complete);
    assert_int_equal(a->used, b->used);
    assert_int_equal(a->next, b->next);
    assert_int_equal(a->most, b->most);
    assert_int_equal(a->samples, b->samples);
    assert_true(a->tie_level == b->tie_level);
    assert_int_equal(a->noise.noticed, b->noise.noticed);
    assert_true(a->looks == 0 || a->noise.ratio == b->noise.ratio);
    assert_int_equal(a->n_blocks, b->n_blocks);
    assert_true(a->n_blocks == 0 || a->blocks[a->n_blocks - 1].number ==
                                        b->blocks[b->n_blocks - 1].number);
    expect_same_candidates(a, b, candidates);
}

/* It must find what a replay of all results finds. */
static void go_on(struct sequential_course *course, const struct simulated *s,
                  size_t n, const bool *out)
{
    struct sequential *all =
        sequential_replay(&s->design, s->results.items, n, out);

    expect_same(sequential_course_go_on(course, s->results.items, n, out), all,
                s->design.candidates);
    sequential_free(all);
}

/* Five of a block are all of them: four blocks, then a look or two, and so
 * on. */
static void a_pass_that_goes_on_finds_what_a_replay_finds(void **state)
{
    static const double logs[] = { 0, -0.012, -0.01, 0, 0.01 };

    (void)state;
    for (size_t i = 0; i < n_noises; i++) {
        struct simulated s = simulate(&noises[i], logs, 5, 40 + i);
        struct sequential_course *course = sequential_course_new(&s.design);

        for (size_t n = 0; n <= s.results.n; n += 5 * 4)
            go_on(course, &s, n, nobody);
        sequential_course_free(course);
        noise_results_fini(&s.results);
    }
}

static void looks_are_made_again_if_what_they_saw_changed(void **state)
{
    static const double logs[] = { 0, -0.012, -0.01, 0, 0.01 };
    static const bool second[] = { false, false, true, false, false };
    struct simulated s = simulate(&calm, logs, 5, 9);
    struct sequential_course *course = sequential_course_new(&s.design);

    (void)state;
    go_on(course, &s, 5 * 20, nobody);
    go_on(course, &s, 5 * 30, second);
    s.results.seconds[7] *= 1.5;
    go_on(course, &s, 5 * 30, second);
    go_on(course, &s, 5 * 10, second);     /* fewer than before */
    go_on(course, &s, 5 * 10 + 2, second); /* a part of a block */
    go_on(course, &s, 5 * 11, second);     /* and the rest of it */
    sequential_course_free(course);
    noise_results_fini(&s.results);
}

/* Candidate 1 drops the others, and is then found wrong. */
static void those_that_a_wrong_one_dropped_return(void **state)
{
    static const double logs[] = { 0, -0.2, -0.1, -0.05 };
    struct simulated s = simulate(&calm, logs, 4, 8);
    bool out[4] = { false, true, false, false };
    struct sequential *found =
        sequential_replay(&s.design, s.results.items, s.results.n, out);

    (void)state;
    assert_int_equal(found->end, SEQUENTIAL_CLEAR);
    assert_true(found->tied[2] && !found->tied[1]);
    assert_false(found->candidates[2].dropped);
    assert_false(sequential_counts(found, 1, 1));
    sequential_free(found);
    noise_results_fini(&s.results);
}

/* 0 is the plan of a bench and of passes that were made before there were
 * looks. */
static void without_a_group_all_complete_blocks_count(void **state)
{
    static const double logs[] = { 0, -0.2, 0 };
    struct simulated s = simulate(&calm, logs, 3, 1);
    struct sequential *found;

    (void)state;
    s.design.group = 0;
    s.results.n = 3 * 20 + 1; /* the last one is not complete */
    found = replay(&s);
    assert_int_equal(found->end, SEQUENTIAL_OPEN);
    assert_int_equal(found->looks, 0);
    assert_int_equal(found->n_blocks, 21);
    assert_true(sequential_counts(found, 2, 20));
    assert_false(sequential_counts(found, 2, 21));
    assert_near(found->candidates[1].level, 0.025, 1e-12);
    sequential_free(found);
    noise_results_fini(&s.results);
}

static void a_look_waits_for_blocks_of_every_gpu(void **state)
{
    static const double logs[] = { 0, -0.2 };
    struct sequential_design design = design_of(2, 80);
    const struct noise_pass pass = { 2, 20, 5, 4, logs };
    struct noise_stream stream = noise_stream(9);
    struct noise_results results;
    struct sequential *found;

    (void)state;
    noise_results_measure(&calm, &pass, &stream, &results);
    found = sequential_replay(&design, results.items, results.n, nobody);
    assert_int_equal(found->end, SEQUENTIAL_CLEAR);
    assert_in_range(found->used, 20, 23);
    sequential_free(found);
    noise_results_fini(&results);
}

/* ---- the geometric mean of two shapes ---- */

/* The results of two passes, by shape, of the same blocks; free only this. */
static struct sequential_result *two_shapes(const struct simulated shapes[2],
                                            size_t candidates)
{
    size_t n = shapes[0].results.n;
    struct sequential_result *all = mem_new(2 * n, sizeof(*all)), *to = all;

    for (size_t i = 0; i < n; i += candidates)
        for (size_t shape = 0; shape < 2; shape++)
            for (size_t c = 0; c < candidates; c++, to++) {
                *to = shapes[shape].results.items[i + c];
                to->shape = shape;
            }
    return all;
}

/* The third finalist is second at each shape, but the best over both.  What is
 * not asked about the mean drops it. */
static void the_best_over_all_shapes_stays(void **state)
{
    static const double first[] = { 0, -0.2, 0.2, -0.13 };
    static const double second[] = { 0, 0.2, -0.2, -0.13 };
    struct simulated s[2] = { simulate(&calm, first, 4, 11),
                              simulate(&calm, second, 4, 12) };
    struct sequential_result *all = two_shapes(s, 4);
    struct sequential_design design = s[0].design;
    struct sequential *apart, *over;

    (void)state;
    design.shapes = 2;
    apart = sequential_replay(&design, all, 2 * s[0].results.n, nobody);
    design.over_all = true;
    over = sequential_replay(&design, all, 2 * s[0].results.n, nobody);
    assert_int_equal(apart->end, SEQUENTIAL_CLEAR);
    assert_false(apart->tied[3] || apart->tied[4 + 3]);
    assert_int_equal(over->end, SEQUENTIAL_CLEAR);
    assert_false(over->candidates[3].dropped);
    assert_true(over->tied[1] && !over->tied[3]);
    assert_true(over->tied[4 + 2] && !over->tied[4 + 3]);
    assert_true(over->tied[8 + 3]);
    assert_false(over->tied[8 + 1] || over->tied[8 + 2]);
    sequential_free(over);
    sequential_free(apart);
    free(all);
    noise_results_fini(&s[0].results);
    noise_results_fini(&s[1].results);
}

/* At each shape one is far above the target; over both, the best is as near to
 * it as can be. */
static void a_mean_that_is_open_keeps_the_pass_open(void **state)
{
    static const struct noise loud = { .sd = 0.03 };
    static const double first[] = { 0, -0.3, 0.2 };
    static const double second[] = { 0, 0.11, -0.25 };
    struct simulated s[2] = { simulate(&loud, first, 3, 13),
                              simulate(&loud, second, 3, 14) };
    struct sequential_result *all = two_shapes(s, 3);
    struct sequential_design design = s[0].design;
    struct sequential *apart, *over;

    (void)state;
    design.shapes = 2;
    apart = sequential_replay(&design, all, 2 * s[0].results.n, nobody);
    design.over_all = true;
    over = sequential_replay(&design, all, 2 * s[0].results.n, nobody);
    assert_int_equal(apart->end, SEQUENTIAL_CLEAR);
    assert_int_equal(apart->looks, 1);
    assert_true(over->used > apart->used);
    assert_true(over->tied[6 + 1]);
    sequential_free(over);
    sequential_free(apart);
    free(all);
    noise_results_fini(&s[0].results);
    noise_results_fini(&s[1].results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clear_winner_ends_it_at_the_first_look),
        cmocka_unit_test(the_speedups_may_be_over_an_external_baseline),
        cmocka_unit_test(nothing_beats_the_external_baseline_is_an_answer),
        cmocka_unit_test(an_external_baseline_may_be_missing_from_blocks),
        cmocka_unit_test(nothing_beats_the_baseline_is_an_answer),
        cmocka_unit_test(a_border_is_found_precisely),
        cmocka_unit_test(noise_goes_on_to_the_cap),
        cmocka_unit_test(
            a_pass_that_is_closed_has_its_last_look_at_what_it_has),
        cmocka_unit_test(the_last_look_may_answer_the_question),
        cmocka_unit_test(processes_that_differ_change_the_plan),
        cmocka_unit_test(the_plan_stays_if_processes_agree),
        cmocka_unit_test(uneven_processes_get_more_processes),
        cmocka_unit_test(the_slow_are_dropped_and_their_blocks_are_shorter),
        cmocka_unit_test(a_part_of_a_pass_wants_what_the_whole_had),
        cmocka_unit_test(a_block_that_lacks_one_does_not_count),
        cmocka_unit_test(those_that_a_wrong_one_dropped_return),
        cmocka_unit_test(a_pass_that_goes_on_finds_what_a_replay_finds),
        cmocka_unit_test(looks_are_made_again_if_what_they_saw_changed),
        cmocka_unit_test(without_a_group_all_complete_blocks_count),
        cmocka_unit_test(a_look_waits_for_blocks_of_every_gpu),
        cmocka_unit_test(the_best_over_all_shapes_stays),
        cmocka_unit_test(a_mean_that_is_open_keeps_the_pass_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
