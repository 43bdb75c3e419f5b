/* The figures are those of CUDA's own calculator, cuda_occupancy.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/space/occupancy.h"

static struct occupancy of(const char *arch, int threads, int registers,
                           int smem)
{
    return occupancy_of(&(struct occupancy_block){ .threads = threads,
                                                   .registers = registers,
                                                   .smem_bytes = smem },
                        gpu_arch_find(arch));
}

static void is(struct occupancy is, int blocks, int warps, const char *limiter)
{
    assert_int_equal(is.blocks_per_sm, blocks);
    assert_int_equal(is.warps_per_sm, warps);
    assert_string_equal(is.limiter, limiter);
}

static void each_resource_can_be_the_limit(void **state)
{
    (void)state;
    is(of("sm_89", 128, 168, 0), 3, 12, "registers");
    is(of("sm_89", 128, 32, 49152), 2, 8, "smem");
    is(of("sm_89", 1024, 32, 0), 1, 32, "threads");
    is(of("sm_89", 32, 16, 0), 24, 24, "blocks");
    is(of("sm_90", 128, 168, 49152), 3, 12, "registers");
    is(of("sm_90", 1024, 32, 0), 2, 64, "registers");
}

static void a_block_costs_1024_bytes_of_the_system(void **state)
{
    (void)state;
    /* two of 50,176 and the system's 1,024 are the 102,400 bytes of an SM */
    is(of("sm_89", 128, 32, 50176), 2, 8, "smem");
    is(of("sm_89", 128, 32, 50177), 1, 4, "smem");
}

/* Before sm_80 the system takes none, and the unit is 256 bytes. */
static void older_architectures_take_no_shared_memory_of_a_block(void **state)
{
    (void)state;
    is(of("sm_75", 128, 32, 32768), 2, 8, "smem");
    is(of("sm_75", 128, 32, 32769), 1, 4, "smem");
    is(of("sm_75", 128, 32, 65537), 0, 0, "smem");
    is(of("sm_75", 1024, 32, 0), 1, 32, "threads");
    is(of("sm_75", 32, 16, 0), 16, 16, "blocks");
    is(of("sm_70", 128, 32, 49152), 2, 8, "smem");
    is(of("sm_70", 32, 16, 0), 32, 32, "blocks");
    is(of("sm_70", 1024, 32, 0), 2, 64, "registers");
}

static void registers_come_in_units_from_four_parts(void **state)
{
    (void)state;
    /* 65 a thread cost 72; a part's 16,384 then hold 7 warps, not 7.1 */
    is(of("sm_89", 32, 65, 0), 24, 24, "blocks");
    is(of("sm_89", 256, 65, 0), 3, 24, "registers");
    is(of("sm_89", 256, 64, 0), 4, 32, "registers");
}

static void a_block_beyond_the_limits_does_not_launch(void **state)
{
    (void)state;
    is(of("sm_89", 512, 255, 0), 0, 0, "registers");
    is(of("sm_89", 128, 32, 101377), 0, 0, "smem");
    is(of("sm_89", 1056, 16, 0), 0, 0, "threads");
}

static void the_fraction_is_of_the_warps_an_sm_holds(void **state)
{
    (void)state;
    assert_true(of("sm_89", 128, 168, 0).fraction == 0.25);
    assert_true(of("sm_90", 128, 128, 0).fraction == 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_resource_can_be_the_limit),
        cmocka_unit_test(a_block_costs_1024_bytes_of_the_system),
        cmocka_unit_test(older_architectures_take_no_shared_memory_of_a_block),
        cmocka_unit_test(registers_come_in_units_from_four_parts),
        cmocka_unit_test(a_block_beyond_the_limits_does_not_launch),
        cmocka_unit_test(the_fraction_is_of_the_warps_an_sm_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
