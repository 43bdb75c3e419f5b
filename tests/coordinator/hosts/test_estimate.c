/* Seconds and dollars before a sweep: work over what the hosts file gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/hosts/estimate.h"
#include "coordinator/hosts/hosts.h"

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) < 1e-9))
        fail_msg("%g is not %g", a, b);
}

/* For 360 s of builds and 90 s of measurements. */
static struct estimate estimate_of(const char *text)
{
    struct hosts hosts;
    struct estimate out;
    struct err err = { "" };

    if (hosts_parse("hosts.txt", text, strlen(text), &hosts, &err) < 0)
        fail_msg("%s", err.text);
    estimate_make(&hosts, 360, 90, &out);
    hosts_fini(&hosts);
    assert_near(out.build_core_s, 360);
    assert_near(out.measure_gpu_s, 90);
    return out;
}

static void a_host_that_does_not_say_has_one_slot_and_one_gpu(void **state)
{
    struct estimate out = estimate_of("gpu1 rate=8\n");

    (void)state;
    assert_near(out.wall_s, 450);
    assert_near(out.usd, 1);
}

static void slots_and_gpus_of_all_hosts_count(void **state)
{
    struct estimate out = estimate_of("gpu1 rate=2 slots=4 gpus=0,1,2\n"
                                      "gpu2 rate=1 role=gpu\n"
                                      "cpu1 rate=1 role=builder slots=8\n");

    (void)state;
    assert_near(out.wall_s, 360.0 / 12 + 90.0 / 4);
    assert_near(out.usd_per_hour, 4);
    assert_near(out.usd, 4 * out.wall_s / 3600);
}

static void dollars_are_of_hosts_with_a_price(void **state)
{
    struct estimate out = estimate_of("gpu1\ngpu2 rate=8\n");

    (void)state;
    assert_int_equal(out.priced, 1);
    assert_near(out.usd, 0.5);
    out = estimate_of("gpu1\n");
    assert_int_equal(out.priced, 0);
    assert_true(isnan(out.usd));
    out = estimate_of("gpu1 rate=0\n");
    assert_int_equal(out.priced, 1);
    assert_near(out.usd, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_that_does_not_say_has_one_slot_and_one_gpu),
        cmocka_unit_test(slots_and_gpus_of_all_hosts_count),
        cmocka_unit_test(dollars_are_of_hosts_with_a_price),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
