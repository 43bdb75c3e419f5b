/* Configurations of kernels/flash_attention build for sm_89: one of each tile
 * shape, or with the argument 'all' every one that passes its gates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/kernels/fixture.h"

#define FOLDER "kernels/flash_attention/"

static void build(int block_m, int block_n, int warps, int stages, int swizzle)
{
    char params[400];

    snprintf(params, sizeof(params),
             "#define BLOCK_M %d\n#define BLOCK_N %d\n#define NUM_WARPS %d\n"
             "#define STAGES %d\n#define SWIZZLE %d\n"
             "#define HEAD_DIM 64\n#define SMEM_BYTES %d\n",
             block_m, block_n, warps, stages, swizzle,
             2 * stages * block_n * 128);
    assert_true(
        fixture_builds_for_gpu("flash", FOLDER "flash_attention.cu", params));
}

static void one_of_each_tile_shape_builds(void **state)
{
    (void)state;
    build(64, 64, 4, 2, 1);
    build(128, 64, 4, 3, 1);
    build(128, 128, 8, 2, 0);
    assert_true(
        fixture_builds_for_gpu("flash_reference", FOLDER "reference.cu", ""));
}

static void every_configuration_builds(void **state)
{
    (void)state;
    for (int stages = 2; stages <= 3; stages++)
        for (int swizzle = 0; swizzle <= 1; swizzle++)
            for (int block_n = 64; block_n <= 128; block_n += 64) {
                build(64, block_n, 4, stages, swizzle);
                build(128, block_n, 4, stages, swizzle);
                build(128, block_n, 8, stages, swizzle);
            }
}

int main(int argc, char *argv[])
{
    const struct CMUnitTest few[] = {
        cmocka_unit_test(one_of_each_tile_shape_builds),
    };
    const struct CMUnitTest all[] = {
        cmocka_unit_test(every_configuration_builds),
    };

    if (argc > 1 && strcmp(argv[1], "all") == 0)
        return cmocka_run_group_tests(all, NULL, NULL);
    return cmocka_run_group_tests(few, NULL, NULL);
}
