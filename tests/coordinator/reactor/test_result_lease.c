#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/msg.h"
#include "coordinator/reactor/result_lease.h"
#include "coordinator/spec/spec.h"

static const double samples[] = { 1e-3, 1e-3, 1e-3, 1e-3, 1e-3 };

static char gpu[HASH_HEX];
static struct result_lease lease;
static struct msg msg;

static int set_up(void **state)
{
    (void)state;
    hash_of("GPU-7", 5, gpu);
    lease = (struct result_lease){ .gpu = gpu,
                                   .wall_s = 2,
                                   .samples_most = 5,
                                   .relative_l2 = 1e-2,
                                   .max_error = 0.5 };
    msg = (struct msg){ .type = MSG_MEASURED,
                        .measured = { .result.outcome = "correct",
                                      .gpu = "GPU-7",
                                      .samples = { samples, 5 },
                                      .relative_l2 = 1e-2,
                                      .max_error = 0.5,
                                      .held_s = 2.1 } };
    return 0;
}

static void refused(const char *text)
{
    struct err err = { "" };

    assert_int_equal(result_lease_check(&msg, &lease, &err), ERR_PROTO);
    assert_string_equal(err.text, text);
    set_up(NULL);
}

static void what_the_lease_allows_passes(void **state)
{
    struct err err = { "" };

    (void)state;
    assert_int_equal(result_lease_check(&msg, &lease, &err), 0);
    msg.measured.result.outcome = "correctness"; /* any error */
    msg.measured.relative_l2 = INFINITY;
    msg.measured.max_error = NAN;
    assert_int_equal(result_lease_check(&msg, &lease, &err), 0);
}

static void what_it_does_not_allow_is_named(void **state)
{
    (void)state;
    msg.measured.gpu = "GPU-8";
    refused("it ran on another GPU, GPU-8");
    lease.samples_most = 4;
    refused("MEASURED has 5 samples, and was asked for 4");
    msg.measured.held_s = 2.2;
    refused("MEASURED held its GPU for 2.2 s within 2 s");
    msg.measured.relative_l2 = 1.1e-2;
    refused("MEASURED is correct with a relative_l2 of 0.011, above the "
            "tolerance of 0.01");
    msg.measured.max_error = 0.6;
    refused("MEASURED is correct with a max_error of 0.6, above the "
            "tolerance of 0.5");
}

static void a_command_has_a_gpu_too(void **state)
{
    struct err err = { "" };

    (void)state;
    msg = (struct msg){ .type = MSG_RAN, .ran = { .gpu = "GPU-7" } };
    assert_int_equal(result_lease_check(&msg, &lease, &err), 0);
    msg.ran.gpu = "";
    refused("it ran on another GPU, ");
}

static void a_record_has_its_own_times(void **state)
{
    struct err err = { "" };

    (void)state;
    lease.wall_s = INFINITY;
    msg.measured.held_s = 1e6;
    assert_int_equal(result_lease_check(&msg, &lease, &err), 0);
}

/* The worst of several outputs is reported, so the loosest one counts. */
static void the_loosest_output_counts(void **state)
{
    struct spec_argument arguments[] = {
        { .output = false, .tolerance = { .relative_l2 = 9, .max_error = 9 } },
        { .output = true,
          .tolerance = { .relative_l2 = 1e-3, .max_error = INFINITY } },
        { .output = true,
          .tolerance = { .relative_l2 = 1e-2, .max_error = 1e-1 } },
        { .output = true, .tolerance = { .exact = true } },
    };
    struct spec spec = { .arguments = arguments, .n_arguments = 2 };

    (void)state;
    result_lease_tolerance(&spec, &lease);
    assert_true(lease.relative_l2 == 1e-3);
    assert_true(isinf(lease.max_error));
    spec.n_arguments = 3;
    result_lease_tolerance(&spec, &lease);
    assert_true(lease.relative_l2 == 1e-2);
    spec.n_arguments = 4;
    result_lease_tolerance(&spec, &lease);
    assert_true(isinf(lease.relative_l2));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, set_up)
    const struct CMUnitTest tests[] = {
        CASE(what_the_lease_allows_passes),
        CASE(what_it_does_not_allow_is_named),
        CASE(a_command_has_a_gpu_too),
        CASE(a_record_has_its_own_times),
        CASE(the_loosest_output_counts),
    };
    struct err err;

    if (hash_setup(&err) < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
