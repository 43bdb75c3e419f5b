/* test_problem.c - what a launch gets, and what a problem needs */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "worker/runner/problem.h"

enum {
    COUNT = 8
};

static struct device_buffer *array(const char *name)
{
    struct device_err err = { .poisoned = false };
    struct device_buffer *buffer = NULL;

    assert_int_equal(
        device_alloc(NULL, name, ELEMENT_FP32, COUNT, &buffer, &err), 0);
    return buffer;
}

/* What lies beside them is changed before a check, so they are needed. */
static void arguments_say_which_buffer_each_is_the_address_of(void **state)
{
    static struct problem problem;
    struct trial trial = { .number = 0 };
    struct problem_args args;
    struct device_buffer *outputs[WIRE_ARGS_MAX] = { NULL };

    (void)state;
    problem.n_args = 4;
    problem.args[0] = (struct wire_arg){ .buffer = true, .role = WIRE_IN };
    problem.args[1] = (struct wire_arg){ .buffer = true, .role = WIRE_OUT };
    problem.args[2] =
        (struct wire_arg){ .buffer = true, .role = WIRE_WORKSPACE };
    problem.args[3] = (struct wire_arg){ .type = ELEMENT_INT32, .integer = 8 };
    trial.inputs[0] = array("in");
    outputs[1] = array("out");
    problem.outputs[2] = array("workspace");
    problem_args(&problem, &trial, outputs, &args);
    assert_ptr_equal(args.buffers[0], trial.inputs[0]);
    assert_ptr_equal(args.buffers[1], outputs[1]);
    assert_ptr_equal(args.buffers[2], problem.outputs[2]);
    assert_null(args.buffers[3]);
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(args.values[i].address,
                         device_address(args.buffers[i]));
        device_free(NULL, args.buffers[i]);
    }
    assert_int_equal(args.values[3].i32, 8);
}

static struct check checked(double out, double ref)
{
    const struct check_how how = { .infinities = false };
    struct device_err err = { .poisoned = false };
    struct device_buffer *buffers[2];
    struct check check;

    for (int i = 0; i < 2; i++) {
        const double values[2] = { i == 0 ? out : ref, i == 0 ? out : ref };

        assert_int_equal(
            device_alloc(NULL, "x", ELEMENT_FP64, 2, &buffers[i], &err), 0);
        device_write(NULL, buffers[i], values, &err);
    }
    device_check(NULL, buffers[0], buffers[1], &how, &check, NULL, &err);
    for (int i = 0; i < 2; i++)
        device_free(NULL, buffers[i]);
    return check;
}

/* Squares of both references are beyond what fp64 holds. */
static void an_error_of_half_is_one_at_any_magnitude(void **state)
{
    static const double refs[] = { 1, 1e300, 1e-300, -1e200 };

    (void)state;
    for (int i = 0; i < 4; i++) {
        const struct check check = checked(1.5 * refs[i], refs[i]);

        assert_true(fabs(check.relative_l2 - 0.5) < 1e-9);
        assert_true(fabs(check.max_error - 0.25) < 1e-9);
        assert_true(checked(0, refs[i]).relative_l2 == 1);
    }
}

/* While its reference is judged, the nudged one is there as well. */
static void extreme_values_need_room_for_one_trial_more(void **state)
{
    static struct wire_measure want;
    size_t of_two, of_extreme;

    (void)state;
    want.n_args = 1;
    want.args[0] = (struct wire_arg){
        .buffer = true, .role = WIRE_IN, .type = ELEMENT_FP32, .count = COUNT
    };
    want.trials = (struct trials){ .seeds = 2,
                                   .edges = { 1u << EDGE_LARGE },
                                   .n_edges = 1 };
    of_two = problem_bytes(true, &want);
    want.trials.edges[0] = 1u << EDGE_EXTREME;
    of_extreme = problem_bytes(true, &want);
    assert_int_equal(of_two, 3 * COUNT * 4);
    assert_int_equal(of_extreme, 4 * COUNT * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_say_which_buffer_each_is_the_address_of),
        cmocka_unit_test(an_error_of_half_is_one_at_any_magnitude),
        cmocka_unit_test(extreme_values_need_room_for_one_trial_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
