#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/reactor/host_model.h"
#include "coordinator/spec/gpu_arch.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;

static void has(size_t host, const char *arch, const char *name)
{
    struct host_state *state = &rig.sweep.fleet.hosts[host];

    state->n_gpus = state->n_known = 1;
    state->gpus[0].facts = *gpu_arch_find(arch);
    snprintf(state->gpus[0].name, sizeof(state->gpus[0].name), "%s", name);
}

/* Two hosts of one label, in a sweep of an L4. */
static int two_hosts(void **state)
{
    (void)state;
    rig_open(&rig, 2);
    rig.options.device = "cuda";
    rig.sweep.work.facts = *gpu_arch_find("sm_89");
    snprintf(rig.sweep.work.gpu_name, sizeof(rig.sweep.work.gpu_name),
             "NVIDIA L4");
    for (size_t i = 0; i < 2; i++)
        snprintf(rig.list[i].model, sizeof(rig.list[i].model), "l4");
    has(0, "sm_80", "NVIDIA A100");
    has(1, "sm_89", "NVIDIA L4");
    return 0;
}

static int over(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static void another_model_than_the_other_host_has_is_refused(void **state)
{
    struct err err = { "" };

    (void)state;
    assert_int_equal(host_model_take(&rig.sweep, 0, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "model=l4: it has NVIDIA A100"));
    assert_non_null(strstr(err.text, ", and b has NVIDIA L4"));
    assert_int_equal(host_model_take(&rig.sweep, 1, &err), 0);
}

/* Memory after the last host is not read. */
static void alone_it_is_compared_with_an_earlier_run(void **state)
{
    struct err err = { "" };

    (void)state;
    rig.sweep.fleet.n = 1;
    assert_int_equal(host_model_take(&rig.sweep, 0, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, ", and an earlier run has NVIDIA L4"));
    rig.sweep.fleet.n = 2;
}

static void without_a_label_another_model_does_not_measure(void **state)
{
    struct err err = { "" };

    (void)state;
    rig.list[0].model[0] = '\0';
    assert_int_equal(host_model_take(&rig.sweep, 0, &err), 0);
    assert_int_equal(rig.sweep.fleet.hosts[0].n_gpus, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, two_hosts, over)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(another_model_than_the_other_host_has_is_refused),
        CASE(alone_it_is_compared_with_an_earlier_run),
        CASE(without_a_label_another_model_does_not_measure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
