#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "coordinator/model_sweeps/model_alike.h"

static struct model_alike gpu(const char *host, const char *name,
                              int64_t sm_count)
{
    struct model_alike gpu = { .is_known = true };

    snprintf(gpu.host, sizeof(gpu.host), "%s", host);
    snprintf(gpu.name, sizeof(gpu.name), "%s", name);
    gpu.facts.arch = 89;
    gpu.facts.sm_count = sm_count;
    gpu.facts.mem_bytes = INT64_C(24) << 30;
    return gpu;
}

static bool warns(struct model_alike a, struct model_alike b, char out[700])
{
    return model_alike_warn("l4", &a, "ada", &b, out, 700);
}

static void two_labels_of_one_model_are_named_with_their_hosts(void **state)
{
    char text[700];

    (void)state;
    assert_true(
        warns(gpu("box1", "NVIDIA L4", 58), gpu("box2", "L4", 58), text));
    assert_string_equal(
        text, "warning: model=l4 (box1) and model=ada (box2) are the same "
              "model, NVIDIA L4 (sm_89, 58 SMs, 24 GiB): each has a sweep, "
              "which measures every configuration; with one label their hosts "
              "share one");
}

static void others_are_no_reason_to_warn(void **state)
{
    struct model_alike unknown = gpu("box2", "NVIDIA L4", 58);
    char text[700];

    (void)state;
    unknown.is_known = false;
    assert_false(warns(gpu("box1", "NVIDIA L4", 58),
                       gpu("box2", "NVIDIA L40", 142), text));
    assert_false(warns(gpu("box1", "NVIDIA L4", 58),
                       gpu("box2", "NVIDIA L4 PCIe", 58), text));
    assert_false(warns(gpu("box1", "NVIDIA L4", 58), unknown, text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_labels_of_one_model_are_named_with_their_hosts),
        cmocka_unit_test(others_are_no_reason_to_warn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
