/* What is believed of GPUs before one is there, and what happens when it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/notes/description.h"
#include "coordinator/reactor/believed.h"
#include "coordinator/reactor/shutdown.h"
#include "coordinator/spec/gpu_arch.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static bool refuted;

/* ---- the decision */

static const struct gpu_arch_facts l4 = {
    .arch = 89, .sm_count = 58, .smem_per_block = 101376, .mem_bytes = 24000
};

static bool same(const char *text, struct gpu_arch_facts real, char why[128])
{
    why[0] = '\0';
    return believed_is_same(text, &l4, &real, why, 128);
}

static void only_facts_that_the_file_uses_count(void **state)
{
    struct gpu_arch_facts real = l4;
    char why[128];

    (void)state;
    assert_true(same("\"rule\": \"A > sm_count\"", real, why));
    real.sm_count = 60;
    assert_true(same("\"rule\": \"A > 2\"", real, why));
    assert_true(same("\"rule\": \"A > my_sm_count + sm_counts\"", real, why));
    assert_false(same("\"rule\": \"A > my_sm_count + sm_count\"", real, why));
    assert_string_equal(why, "sm_count is 60, not 58");
    real.sm_count = GPU_ARCH_UNKNOWN;
    assert_false(same("sm_count", real, why));
    assert_string_equal(why, "sm_count is -1, not 58");
}

static void another_architecture_always_counts(void **state)
{
    struct gpu_arch_facts real = l4;
    char why[128];

    (void)state;
    real.arch = 90;
    assert_false(same("", real, why));
    assert_string_equal(why, "arch is 90, not 89");
}

/* ---- a sweep */

/* Two rented hosts for a sweep on GPUs. */
static void begin(const struct gpu_arch_facts *believed)
{
    refuted = false;
    rig_open_bare(&rig, 2);
    rig.options.device = "cuda";
    rig.options.stay.rental.believed = believed;
    rig.options.stay.rental.refuted = &refuted;
    rig_begin(&rig);
}

static void comes_without_a_gpu(size_t host)
{
    assert_int_equal(rig_take(&rig, host, rig_hello(7)), 0);
    assert_int_equal(rig_take(&rig, host, rig_is_ready()), 0);
}

static void without_a_belief_there_is_no_plan(void **state)
{
    (void)state;
    begin(NULL);
    assert_null(rig.sweep.work.plan);
    comes_without_a_gpu(0);
    assert_int_equal(rig_dispatch(&rig), 0);
    rig_close(&rig);
}

/* Host b is there; host a tells the first facts of a GPU. */
static void who_was_ready_before_the_plan_gets_builds_with_it(void **state)
{
    (void)state;
    begin(NULL);
    comes_without_a_gpu(1);
    rig_come(&rig, 0, 8, NULL, 0);
    assert_int_equal(rig_dispatch(&rig), 4);
    assert_int_equal(
        rig_first(&rig, MSG_BUILD)->host + rig_last(&rig, MSG_BUILD)->host, 1);
    rig_close(&rig);
}

static void builds_begin_without_a_gpu(void **state)
{
    (void)state;
    begin(gpu_arch_find("sm_89"));
    assert_string_equal(rig.sweep.work.arch, "sm_89");
    comes_without_a_gpu(0);
    assert_int_equal(rig_dispatch(&rig), 2);
    assert_int_equal(rig_count(&rig, MSG_BUILD), 2);
    assert_true(rig.sweep.fleet.is_believed);
    assert_false(refuted);
    rig_close(&rig);
}

/* The first GPU is as it was believed: it gets work. */
static void a_gpu_that_is_as_believed_is_used(void **state)
{
    (void)state;
    begin(gpu_arch_find("sm_89"));
    rig_come(&rig, 0, 7, NULL, 0);
    assert_false(rig.sweep.fleet.is_believed);
    assert_false(refuted);
    assert_null(rig.sweep.reactor.ending);
    rig_build_two(&rig);
    assert_true(rig_dispatch(&rig) > 0);
    assert_true(rig_count(&rig, MSG_MEASURE) > 0);
    rig_close(&rig);
}

/* vector_add does not name it: reports have the real one. */
static void a_fact_that_nothing_uses_is_taken_over(void **state)
{
    struct gpu_arch_facts facts = *gpu_arch_find("sm_89");

    (void)state;
    facts.sm_count = 1;
    begin(&facts);
    rig_come(&rig, 0, 7, NULL, 0);
    assert_false(refuted);
    assert_int_equal(rig.sweep.work.facts.sm_count, 58);
    assert_int_equal(rig_rows(&rig, "sweep"), 1);
    assert_int_equal(
        rig_number(&rig, "SELECT json_extract(facts, '$.sm_count') FROM sweep"),
        58);
    rig_close(&rig);
}

/* A gate of vector_add uses it: that GPU gets nothing, and the run ends. */
static void a_fact_that_a_gate_uses_ends_the_run(void **state)
{
    struct gpu_arch_facts facts = *gpu_arch_find("sm_89");

    (void)state;
    facts.max_threads_per_block = 512;
    begin(&facts);
    comes_without_a_gpu(1);
    assert_int_equal(rig_dispatch(&rig), 2);
    rig_listen(&rig);
    rig_come(&rig, 0, 7, NULL, 0);
    assert_true(refuted);
    assert_string_equal(rig.sweep.reactor.ending, "partial");
    assert_int_equal(rig.sweep.reactor.exit_code, 0);
    assert_int_equal(rig_dispatch(&rig), 0); /* nothing is measured */
    assert_int_equal(rig_count(&rig, MSG_MEASURE), 0);
    assert_int_equal(rig_rows(&rig,
                              "event WHERE name = 'FACTS-DIFFER' AND text "
                              "LIKE '%max_threads_per_block is 1024, not "
                              "512; the gates are evaluated again%'"),
                     1);
    rig_close(&rig);
}

/* With its configurations, none of which waits for ever in reports. */
static void other_facts_that_a_gate_uses_make_another_sweep(void **state)
{
    struct err err = { "" };

    (void)state;
    begin(gpu_arch_find("sm_89"));
    assert_int_equal(rig_rows(&rig, "sweep"), 1);
    rig.sweep.work.facts.max_threads_per_block = 512;
    assert_int_equal(description_put_facts(&rig.sweep, &err), 0);
    assert_int_equal(rig_rows(&rig, "sweep"), 2);
    assert_int_equal(description_put_facts(&rig.sweep, &err), 0);
    assert_int_equal(rig_rows(&rig, "sweep"), 2);
    rig_close(&rig);
}

/* Hosts stay for the run that begins again, with their builds. */
static void hosts_stay_for_the_run_that_begins_again(void **state)
{
    struct err err = { "" };

    (void)state;
    begin(gpu_arch_find("sm_80"));
    rig_come(&rig, 0, 7, NULL, 0);
    assert_true(refuted);
    shutdown_dismiss(&rig.sweep);
    assert_string_equal(rig_last(&rig, MSG_STOP)->what, "next");
    shutdown_close_books(&rig.sweep, &err);
    assert_int_equal(rig.sweep.reactor.exit_code, 0);
    assert_int_equal(rig_rows(&rig, "run WHERE ending = 'partial'"), 1);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_facts_that_the_file_uses_count),
        cmocka_unit_test(another_architecture_always_counts),
        cmocka_unit_test(without_a_belief_there_is_no_plan),
        cmocka_unit_test(who_was_ready_before_the_plan_gets_builds_with_it),
        cmocka_unit_test(builds_begin_without_a_gpu),
        cmocka_unit_test(a_gpu_that_is_as_believed_is_used),
        cmocka_unit_test(a_fact_that_nothing_uses_is_taken_over),
        cmocka_unit_test(a_fact_that_a_gate_uses_ends_the_run),
        cmocka_unit_test(other_facts_that_a_gate_uses_make_another_sweep),
        cmocka_unit_test(hosts_stay_for_the_run_that_begins_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
