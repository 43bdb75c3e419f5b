/* test_launch_child.c - what a kernel keeps, forges, closes or ends is its
 * own */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/outcome.h"
#include "tests/worker/runner/box.h"

#define RUNNER FA_BINARY_DIR "/bin/fa-runner"

static struct box box;

static int set_up(void **state)
{
    (void)state;
    box_start(&box, RUNNER);
    return box_open(&box, "cpu") ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    (void)box_stop(&box); /* some of the kernels end it */
    return 0;
}

/* On a GPU they cheat by what they keep (test_cuda.c). */
static void nothing_is_kept_from_launch_to_launch(void **state)
{
    (void)state;
    box_assert_outcome(&box, "right_until_timed", OUTCOME_CORRECT, "");
    box_assert_outcome(&box, "idle_when_timed", OUTCOME_CORRECT, "");
    box_assert_outcome(&box, "two_places_alone", OUTCOME_CORRECT, "");
}

static void kernel_that_forges_a_reply_fails(void **state)
{
    (void)state;
    box_assert_outcome(&box, "forges", OUTCOME_RUNTIME,
                       "its process sent something that is not a reply");
    box_assert_outcome(&box, "right", OUTCOME_CORRECT, "");
}

static void kernel_that_closes_its_socket_fails(void **state)
{
    (void)state;
    box_assert_outcome(&box, "hangs_up", OUTCOME_RUNTIME,
                       "the kernel closed a descriptor of its process");
    box_assert_outcome(&box, "right", OUTCOME_CORRECT, "");
}

static void kernel_cannot_end_its_judge(void **state)
{
    (void)state;
    box_assert_outcome(&box, "kills_its_judge", OUTCOME_CORRECTNESS,
                       "first seed: ");
}

static void printing_kernel_does_not_reach_the_pipe(void **state)
{
    (void)state;
    box_assert_outcome(&box, "talks", OUTCOME_CORRECT, "");
    box_assert_outcome(&box, "right", OUTCOME_CORRECT, "");
}

static void exiting_kernel_ends_the_pipe_without_a_reply(void **state)
{
    struct wire_request request;

    (void)state;
    box_request(&request, "exits", "sum", 1001);
    assert_false(box_ask(&box, &request));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(nothing_is_kept_from_launch_to_launch),
        CASE(kernel_that_forges_a_reply_fails),
        CASE(kernel_that_closes_its_socket_fails),
        CASE(kernel_cannot_end_its_judge),
        CASE(printing_kernel_does_not_reach_the_pipe),
        CASE(exiting_kernel_ends_the_pipe_without_a_reply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
