/* Device facts: from the table, and from what a worker sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/spec/gpu_arch.h"

static void the_table_is_found_by_either_name(void **state)
{
    (void)state;
    assert_int_equal(gpu_arch_find("sm_89")->smem_per_block, 101376);
    assert_ptr_equal(gpu_arch_find("89"), gpu_arch_find("sm_89"));
    assert_int_equal(gpu_arch_find("sm_90")->smem_per_block, 232448);
    assert_int_equal(gpu_arch_find("120")->threads_per_sm, 1536);
    assert_int_equal(gpu_arch_find("sm_75")->smem_per_block, 65536);
    assert_int_equal(gpu_arch_find("sm_75")->threads_per_sm, 1024);
    assert_int_equal(gpu_arch_find("sm_75")->blocks_per_sm, 16);
    assert_int_equal(gpu_arch_find("sm_70")->smem_per_block, 98304);
    assert_int_equal(gpu_arch_find("sm_70")->threads_per_sm, 2048);
    assert_null(gpu_arch_find("sm_88"));
    assert_string_equal(gpu_arch_gpu_name(gpu_arch_find("sm_89")), "L4");
}

static void a_gpu_is_found_in_a_name(void **state)
{
    static const struct {
        const char *name, *arch;
    } rows[] = {
        { "L4", "sm_89" },
        { "l4-12", "sm_89" },
        { "me@gpu.l4.example", "sm_89" },
        { "rtx-a6000", "sm_86" },
        { "A100-80gb", "sm_80" },
        { "5090", "sm_120" },
        { "v100_1", "sm_70" },
        { "b200", "sm_100" },
        { "l40", NULL },
        { "l4s-1", NULL },
        { "rtx", NULL },
        { "16", NULL },
        { "l4-t4", NULL },
        { "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_ptr_equal(gpu_arch_find_gpu(rows[i].name),
                         rows[i].arch ? gpu_arch_find(rows[i].arch) : NULL);
}

/* Against the programming guide and the data sheets: what a V100 and a T4 are
 * sold with is the product of the facts. */
static void volta_and_turing_are_as_their_data_sheets_say(void **state)
{
    static const struct {
        const char *arch;
        int64_t threads, blocks, smem_kib, sms, l2_mib, gb_s, tensor_tflops;
    } sheets[] = {
        { "sm_70", 2048, 32, 96, 80, 6, 900, 125 },
        { "sm_75", 1024, 16, 64, 40, 4, 320, 65 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(sheets) / sizeof(sheets[0]); i++) {
        const struct gpu_arch_facts *facts = gpu_arch_find(sheets[i].arch);

        assert_int_equal(facts->threads_per_sm, sheets[i].threads);
        assert_int_equal(facts->blocks_per_sm, sheets[i].blocks);
        assert_int_equal(facts->regs_per_sm, 65536);
        assert_int_equal(facts->smem_per_sm, sheets[i].smem_kib * 1024);
        assert_int_equal(facts->smem_per_block, facts->smem_per_sm);
        assert_int_equal(facts->sm_count, sheets[i].sms);
        assert_int_equal(facts->l2_bytes, sheets[i].l2_mib * 1024 * 1024);
        assert_int_equal(facts->dram_bytes_per_s,
                         sheets[i].gb_s * INT64_C(1000000000));
        assert_int_equal(facts->mma_flops_per_clock_sm * facts->sm_count *
                             facts->sm_clock_hz / INT64_C(1000000000000),
                         sheets[i].tensor_tflops);
    }
}

static void an_unknown_architecture_comes_with_the_list(void **state)
{
    const struct gpu_arch_facts *facts;
    struct err err;

    (void)state;
    assert_int_equal(gpu_arch_find_named("sm_88", &facts, &err), ERR_INPUT);
    assert_string_equal(err.text,
                        "unknown architecture 'sm_88'; the known ones are "
                        "sm_70, sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, "
                        "sm_120");
}

static void facts_that_were_not_sent_are_unknown(void **state)
{
    static const char *const lines[] = {
        "device cuda",
        "arch 90",
        "gpu_name NVIDIA H200",
        "sm_count 132",
    };
    struct gpu_arch_facts facts;
    struct err err;

    (void)state;
    assert_int_equal(
        gpu_arch_facts_read(&(struct texts){ lines, 4 }, &facts, &err), 0);
    assert_int_equal(facts.arch, 90);
    assert_int_equal(facts.sm_count, 132);
    assert_int_equal(facts.l2_bytes, GPU_ARCH_UNKNOWN);
}

static void bad_lines_are_the_worker_s_fault(void **state)
{
    static const char *const bad[][1] = { { "arch x" },
                                          { "arch -1" },
                                          { "arch" },
                                          { "arch 99999999999999999999" },
                                          { "sm_count 4" } };
    struct gpu_arch_facts facts;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(
            gpu_arch_facts_read(&(struct texts){ bad[i], 1 }, &facts, &err),
            ERR_PROTO);
}

/* Also if the other facts are complete. */
static void a_fact_without_a_name_is_refused(void **state)
{
    static const char *const bad[] = { " 5", "" };
    static const char *const texts[] = {
        "fact ' 5' has no name; a fact is 'NAME VALUE'",
        "fact '' has no name; a fact is 'NAME VALUE'",
    };
    struct gpu_arch_facts facts;
    struct err err;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *const lines[] = { "arch 89", bad[i] };

        assert_int_equal(
            gpu_arch_facts_read(&(struct texts){ lines, 2 }, &facts, &err),
            ERR_PROTO);
        assert_string_equal(err.text, texts[i]);
    }
}

static void one_model_is_capability_sms_and_memory(void **state)
{
    struct gpu_arch_facts a = *gpu_arch_find("sm_89"), b = a;

    (void)state;
    b.mem_bytes = b.mem_bytes / 100 * 99;
    b.sm_clock_hz = 1;
    assert_true(gpu_arch_same_model(&a, &b));
    b.mem_bytes /= 2;
    assert_false(gpu_arch_same_model(&a, &b));
    b = a;
    b.sm_count++;
    assert_false(gpu_arch_same_model(&a, &b));
}

static void a_gpu_is_described_by_what_is_known(void **state)
{
    struct gpu_arch_facts facts = *gpu_arch_find("sm_89");
    char text[120];

    (void)state;
    facts.sm_count = 58;
    facts.mem_bytes = INT64_C(24) << 30;
    gpu_arch_describe("NVIDIA L4", &facts, text, sizeof(text));
    assert_string_equal(text, "NVIDIA L4 (sm_89, 58 SMs, 24 GiB)");
    facts.sm_count = facts.mem_bytes = GPU_ARCH_UNKNOWN;
    gpu_arch_describe("L4", &facts, text, sizeof(text));
    assert_string_equal(text, "L4 (sm_89)");
    facts.arch = 0; /* of a record */
    gpu_arch_describe("L4", &facts, text, sizeof(text));
    assert_string_equal(text, "L4");
    assert_true(gpu_arch_same_name("L4", "NVIDIA L4"));
    assert_false(gpu_arch_same_name("NVIDIA L4", "NVIDIA L40"));
}

static void facts_are_read_as_they_were_written(void **state)
{
    struct gpu_arch_facts facts = *gpu_arch_find("sm_89"), read;
    struct buf json;
    struct err err;

    (void)state;
    facts.l2_bytes = GPU_ARCH_UNKNOWN;
    buf_init(&json, 4096);
    gpu_arch_json(&facts, &json);
    assert_int_equal(gpu_arch_parse(buf_text(&json), &read, &err), 0);
    assert_memory_equal(&read, &facts, sizeof(read));
    assert_int_equal(gpu_arch_parse("[89]", &read, &err), ERR_STORE);
    assert_int_equal(gpu_arch_parse("{\"arch\": null}", &read, &err),
                     ERR_PROTO);
    buf_fini(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_found_by_either_name),
        cmocka_unit_test(a_gpu_is_found_in_a_name),
        cmocka_unit_test(volta_and_turing_are_as_their_data_sheets_say),
        cmocka_unit_test(an_unknown_architecture_comes_with_the_list),
        cmocka_unit_test(facts_that_were_not_sent_are_unknown),
        cmocka_unit_test(bad_lines_are_the_worker_s_fault),
        cmocka_unit_test(a_fact_without_a_name_is_refused),
        cmocka_unit_test(one_model_is_capability_sms_and_memory),
        cmocka_unit_test(a_gpu_is_described_by_what_is_known),
        cmocka_unit_test(facts_are_read_as_they_were_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
