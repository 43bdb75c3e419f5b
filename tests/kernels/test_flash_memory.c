/* The gate oom_risk of kernels/flash_attention rejects exactly the shapes of
 * which the runner would allocate more, for sm_89. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/plan/config_selection.h"
#include "coordinator/plan/plan.h"
#include "coordinator/plan/plan_msg.h"
#include "tests/kernels/flash_space.h"
#include "worker/gpu/request.h"
#include "worker/runner/problem.h"

#define SHARE 0.9 /* of the memory; the rest is for what is not counted */

static struct flash_space file;

/* The headline with other values of these variables. */
static struct spec_shape shape_of(int64_t *vars, int64_t b, int64_t hkv)
{
    const struct spec_shapes *shapes = &file.spec->shapes;
    struct spec_shape shape = shapes->list[0];

    for (size_t i = 0; i < shapes->n_vars; i++) {
        vars[i] = shape.vars[i];
        if (strcmp(shapes->vars[i], "B") == 0)
            vars[i] = b;
        if (strcmp(shapes->vars[i], "HKV") == 0)
            vars[i] = hkv;
    }
    shape.vars = vars;
    return shape;
}

/* The baseline at this shape. */
static struct plan *plan_at(const struct config_selection *baseline,
                            const struct spec_shape *shape)
{
    const struct plan_ask ask = { .choice = baseline,
                                  .shapes = shape,
                                  .n_shapes = 1 };
    struct plan *plan;
    struct err err;

    if (plan_make(file.spec, file.space, &ask, "cuda", "sm_89", &plan, &err) <
        0)
        fail_msg("%s", err.text);
    return plan;
}

static bool gate_rejects(const struct plan *plan)
{
    const int gate = plan_gate(plan, 0, 0);

    if (gate >= 0)
        assert_string_equal(file.spec->space.gates[gate].name, "oom_risk");
    return gate >= 0;
}

/* Of a measurement on a GPU, whose launches share a process. */
static double allocated_bytes(struct plan *plan)
{
    const struct plan_sampling sampling = plan_sampling(plan, 0);
    const struct request_paths paths = { "a", "b", NULL };
    struct wire_request *request = calloc(1, sizeof(*request));
    const char *text;
    struct err err;
    double bytes;

    assert_non_null(request);
    if (plan_measure(plan, 0, 0, &sampling, &text, &err) < 0 ||
        request_read(text, &paths, request, &err) < 0)
        fail_msg("%s", err.text);
    bytes = (double)problem_bytes(false, &request->measure) +
            (double)DEVICE_FLUSH_BYTES(gpu_arch_find("sm_89")->l2_bytes);
    free(request);
    return bytes;
}

/* Returns whether both are of one mind at this batch, and which. */
static bool is_too_much(const struct config_selection *baseline, int64_t b,
                        int64_t hkv)
{
    int64_t vars[SPEC_AXES_MAX];
    const struct spec_shape shape = shape_of(vars, b, hkv);
    struct plan *plan = plan_at(baseline, &shape);
    const double bytes = allocated_bytes(plan);
    const double most = SHARE * (double)gpu_arch_find("sm_89")->mem_bytes;
    const bool rejected = gate_rejects(plan);

    if (rejected != (bytes > most))
        fail_msg("B = %lld, HKV = %lld: the gate %s it, the runner allocates "
                 "%.0f bytes of %.0f",
                 (long long)b, (long long)hkv, rejected ? "rejects" : "allows",
                 bytes, most);
    plan_free(plan);
    return rejected;
}

/* At all batches around the largest that fits. */
static void agree(const char *name)
{
    static const int64_t heads[] = { 8, 2, 1 };
    struct config_selection baseline = { .n = 0 };

    flash_space_open(&file, name);
    config_selection_baseline(&baseline, file.spec);
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        int64_t fits = 1, too_much = 8000;

        assert_false(is_too_much(&baseline, fits, heads[i]));
        assert_true(is_too_much(&baseline, too_much, heads[i]));
        while (too_much - fits > 1) {
            const int64_t b = (fits + too_much) / 2;

            *(is_too_much(&baseline, b, heads[i]) ? &too_much : &fits) = b;
        }
    }
    config_selection_fini(&baseline);
    flash_space_close(&file);
}

static void gate_of_the_sweep_file_is_what_is_allocated(void **state)
{
    (void)state;
    agree("sweep.json");
}

static void gate_of_the_wide_file_is_what_is_allocated(void **state)
{
    (void)state;
    agree("wide.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gate_of_the_sweep_file_is_what_is_allocated),
        cmocka_unit_test(gate_of_the_wide_file_is_what_is_allocated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
