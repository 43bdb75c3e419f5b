/* What remains of a sweep that runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "coordinator/estimate/estimate.h"
#include "coordinator/estimate/estimate_course.h"

/* One piece each two seconds, from 100 s on. */
static struct estimate_course steady(int done)
{
    struct estimate_course course;

    estimate_course_begin(&course, 100, 7);
    for (int i = 1; i <= done; i++)
        estimate_course_add(&course, 100 + 2.0 * i, 7 + i);
    return course;
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-3 * fabs(b)))
        fail_msg("%g is not %g", a, b);
}

static void nothing_is_known_before_the_first_result(void **state)
{
    struct estimate_course course = { .n = 0 };
    const struct estimate_moment moment = { 104, 9, 0, 20 };

    (void)state;
    assert_true(isnan(estimate_course_left(&course, &moment).likely));
    course = steady(0);
    assert_true(isnan(estimate_course_left(&course,
                                           &(struct estimate_moment){
                                               .s = 104, .done = 7, .all = 20 })
                          .high));
}

static void nothing_is_left_at_the_end(void **state)
{
    struct estimate_course course = steady(13);

    (void)state;
    assert_true(isnan(estimate_course_left(
                          &course, &(struct estimate_moment){ 126, 20, 0, 20 })
                          .likely));
}

/* The range is that of a few, then that of many. */
static void a_steady_course_gets_one_number(void **state)
{
    struct estimate_course few = steady(2), many = steady(1000);
    struct estimate_range range = estimate_course_left(
        &few, &(struct estimate_moment){ 104, 9, 0, 2007 });

    (void)state;
    near(range.likely, 2 * 1998);
    assert_false(estimate_is_narrow(&range));
    assert_true(range.high > 1.5 * range.likely);
    range = estimate_course_left(
        &many, &(struct estimate_moment){ 2100, 1007, 0, 2007 });
    near(range.likely, 2000);
    assert_true(estimate_is_narrow(&range));
    assert_true(range.low < 2000 && range.high > 2000);
}

/* Parts of a course that took one and three seconds a piece. */
static void parts_that_differ_make_it_wide(void **state)
{
    struct estimate_course course;
    struct estimate_range even, uneven;
    double s = 0;

    (void)state;
    estimate_course_begin(&course, 0, 0);
    for (int i = 1; i <= 1000; i++) {
        s += i / 100 % 2 ? 3 : 1;
        estimate_course_add(&course, s, i);
    }
    uneven = estimate_course_left(
        &course, &(struct estimate_moment){ s, 1000, 0, 2000 });
    course = steady(1000);
    even = estimate_course_left(
        &course, &(struct estimate_moment){ 2100, 1007, 0, 2007 });
    assert_true(uneven.high - uneven.low > 3 * (even.high - even.low));
}

/* 64 builds of 6 s on 64 slots: after the first few, the others are about to
 * end. */
static void what_is_out_counts_by_half(void **state)
{
    struct estimate_course course;
    struct estimate_range range;

    (void)state;
    estimate_course_begin(&course, 0, 0);
    for (int i = 1; i <= 8; i++)
        estimate_course_add(&course, 6, i);
    range = estimate_course_left(&course,
                                 &(struct estimate_moment){ 6, 8, 64, 640 });
    near(range.likely, 632 * 6 / 40.0);
    assert_true(range.low < 54 && range.high > 60);
}

/* The step between marks doubles when there is no room for more. */
static void marks_are_thinned_out(void **state)
{
    struct estimate_course course = steady(24);

    (void)state;
    assert_int_equal(course.n, 25);
    near(course.step, 1);
    estimate_course_add(&course, 150, 32);
    assert_int_equal(course.n, 13);
    near(course.step, 2);
    near(course.marks[12].done, 31);
    estimate_course_add(&course, 152, 33);
    assert_int_equal(course.n, 14);
    near(course.marks[13].done, 33);
    near(course.marks[13].s, 152);
    /* as it began */
    near(course.marks[0].done, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_before_the_first_result),
        cmocka_unit_test(nothing_is_left_at_the_end),
        cmocka_unit_test(a_steady_course_gets_one_number),
        cmocka_unit_test(parts_that_differ_make_it_wide),
        cmocka_unit_test(what_is_out_counts_by_half),
        cmocka_unit_test(marks_are_thinned_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
