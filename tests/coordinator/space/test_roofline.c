#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/space/roofline.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/gpu_arch.h"
#include "tests/coordinator/spec/spec_fixture.h"

static void the_largest_floor_binds(void **state)
{
    const double seconds[] = { 14e-6, 28e-6, NAN, 17e-6 };

    (void)state;
    assert_int_equal(roofline_binding(seconds, 4), 1);
    assert_int_equal(roofline_binding(seconds, 1), 0);
    assert_int_equal(roofline_binding(seconds + 2, 1), ROOFLINE_NONE);
    assert_int_equal(roofline_binding(NULL, 0), ROOFLINE_NONE);
}

static void a_share_is_the_floor_over_the_time(void **state)
{
    double seconds[] = { 28e-6, NAN };
    const struct roofline roofline = { .seconds = seconds, .n = 2 };

    (void)state;
    assert_true(fabs(roofline_share(&roofline, 0, 56e-6) - 0.5) < 1e-12);
    assert_true(fabs(roofline_share(&roofline, 0, 14e-6) - 2) < 1e-12);
    assert_true(isnan(roofline_share(&roofline, 1, 56e-6)));
    assert_true(isnan(roofline_share(&roofline, 0, NAN)));
    assert_true(isnan(roofline_share(&roofline, 0, 0)));
}

static void
floors_are_evaluated_for_a_shape_in_the_order_of_the_file(void **state)
{
    struct spec *spec = spec_fixture(&(struct spec_parts){
        .more = ", \"floors\": { \"dram\": \"N * 3e9 / dram_bytes_per_s\", "
                "\"tensor\": \"0.25\", \"none\": \"N / 0\" }" });
    struct space *space;
    struct roofline roofline;
    struct err err = { "" };

    (void)state;
    if (space_open(spec, gpu_arch_find("sm_89"), "cuda", NULL, &space, &err) <
        0)
        fail_msg("%s", err.text);
    assert_int_equal(
        roofline_of(space, spec, &spec->shapes.list[0], &roofline, &err), 0);
    assert_int_equal(roofline.n, 3);
    assert_string_equal(roofline.names[1], "tensor");
    assert_true(fabs(roofline.seconds[0] - 1) < 1e-12);
    assert_true(fabs(roofline.seconds[1] - 0.25) < 1e-12);
    assert_true(isnan(roofline.seconds[2]));
    assert_int_equal(roofline.binds, 0);
    roofline_fini(&roofline);
    space_close(space);
    spec_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_floor_binds),
        cmocka_unit_test(a_share_is_the_floor_over_the_time),
        cmocka_unit_test(
            floors_are_evaluated_for_a_shape_in_the_order_of_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
