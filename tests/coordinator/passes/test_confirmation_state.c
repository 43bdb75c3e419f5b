#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/passes/confirmation_internal.h"

#define CANDIDATES 3
#define BLOCKS 4

static char wrong[] = "correctness in the confirmation, at n5k: 3 are wrong";
static char fine[] = "";

struct scene {
    struct candidate candidates[CANDIDATES];
    struct confirmation is;
    struct confirmation_pass c;
};

static void scene_begin(struct scene *s, enum confirmation_kind kind)
{
    *s = (struct scene){ .is = { .kind = kind,
                                 .n_running = CANDIDATES,
                                 .n = CANDIDATES,
                                 .blocks = BLOCKS } };
    for (size_t i = 0; i < CANDIDATES; i++)
        s->candidates[i].reason = fine;
    s->is.candidates = s->candidates;
    s->c.is = &s->is;
    s->c.confirm = block_schedule_new(
        &(struct block_schedule_design){ .candidates = CANDIDATES,
                                         .shapes = 1,
                                         .blocks = BLOCKS,
                                         .gpu_blocks = 1 });
    block_schedule_gpu(s->c.confirm, 0, true);
}

/* What it says, once it has failed; the remedy comes last. */
static void assert_says(struct scene *s, const char *why, const char *remedy)
{
    struct err err = { "" };
    size_t len;

    assert_true(block_schedule_failed(s->c.confirm));
    assert_int_equal(confirmation_state_failure(&s->c, "a.db", &err),
                     ERR_DEVICE);
    if (!strstr(err.text, why))
        fail_msg("%s", err.text);
    len = strlen(err.text);
    assert_true(len > strlen(remedy));
    assert_string_equal(err.text + len - strlen(remedy), remedy);
    block_schedule_free(s->c.confirm);
}

static void a_baseline_that_is_out_is_to_be_mended(void **state)
{
    struct scene s;

    (void)state;
    scene_begin(&s, CONFIRMATION_CONFIRM);
    s.candidates[0].reason = wrong;
    block_schedule_out(s.c.confirm, 0);
    assert_says(&s, "the baseline is out: correctness in the confirmation",
                "; mend it or choose another baseline, and run 'fa-coord "
                "sweep' again");
}

static void without_others_the_kernel_is_to_be_mended(void **state)
{
    struct scene s;

    (void)state;
    scene_begin(&s, CONFIRMATION_CONFIRM);
    block_schedule_out(s.c.confirm, 1);
    block_schedule_out(s.c.confirm, 2);
    assert_says(
        &s, "the confirmation has no answer: all but the baseline",
        "'fa-coord sweep' again, or try again unchanged: fa-coord confirm "
        "a.db");
}

static void lost_blocks_are_made_again_by_the_same_command(void **state)
{
    static const struct {
        enum confirmation_kind kind;
        const char *why, *remedy;
    } rows[] = {
        { CONFIRMATION_CONFIRM,
          "the confirmation has no answer: 15 blocks lost a measurement, and "
          "0 of 4 are complete",
          "begin it again: fa-coord confirm a.db" },
        { CONFIRMATION_BENCH, "the bench has no answer: 15 blocks",
          "begin it again: fa-coord bench --db a.db" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct block_schedule_block block;
        struct scene s;

        scene_begin(&s, rows[i].kind);
        while (block_schedule_next(s.c.confirm, &block))
            block_schedule_broken(s.c.confirm, block.number);
        assert_says(&s, rows[i].why, rows[i].remedy);
    }
}

/* A bench goes on in its next run, and without a block there is no verdict. */
static void a_cap_ends_a_confirmation_with_the_blocks_it_has(void **state)
{
    static const struct {
        enum confirmation_kind kind;
        bool has_block, closes;
    } rows[] = {
        { CONFIRMATION_CONFIRM, true, true },
        { CONFIRMATION_CONFIRM, false, false },
        { CONFIRMATION_BENCH, true, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct scene s;
        struct pass pass = { .state = &s.c };

        scene_begin(&s, rows[i].kind);
        block_schedule_had(s.c.confirm, 1, 0, rows[i].has_block);
        assert_false(confirmation_pass.is_over(NULL, &pass));
        assert_int_equal(confirmation_pass.end.close(NULL, &pass),
                         rows[i].closes);
        assert_int_equal(confirmation_pass.is_over(NULL, &pass),
                         rows[i].closes);
        block_schedule_free(s.c.confirm);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_baseline_that_is_out_is_to_be_mended),
        cmocka_unit_test(without_others_the_kernel_is_to_be_mended),
        cmocka_unit_test(lost_blocks_are_made_again_by_the_same_command),
        cmocka_unit_test(a_cap_ends_a_confirmation_with_the_blocks_it_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
