#include "tests/kernels/flash_limits.h"

#include <string.h>

#include "kernels/flash_attention/limits.h"

const char *const flash_limit_macros[FLASH_LIMIT_MACROS] = {
    "BLOCK_M",    "BLOCK_N",    "NUM_WARPS", "K_STAGES",
    "V_STAGES",   "BLOCK_K",    "SLICE_N",   "PIPELINE",
    "LAYOUT",     "COPY_BYTES", "Q_HOME",    "STAGED_OUTPUT",
    "PERSISTENT", "MIN_BLOCKS", "HEAD_DIM",  "SMEM_BYTES",
};

const char *const flash_limit_rules[FLASH_LIMIT_RULES] = {
    "threads",  "warp_tile", "alignment", "block_k",       "slice",
    "pipeline", "stages",    "grid",      "smem_overflow",
};

static bool (*const rules[FLASH_LIMIT_RULES])(const flash::config &) = {
    flash::threads_fit,  flash::warp_tile_fits, flash::alignment_fits,
    flash::block_k_fits, flash::slice_fits,     flash::pipeline_fits,
    flash::stages_fit,   flash::grid_fits,      flash::smem_fits,
};

static flash::config config(const int *values)
{
    static_assert(sizeof(flash::config) == FLASH_LIMIT_MACROS * sizeof(int),
                  "a name for each member");
    flash::config c;

    memcpy(&c, values, sizeof(c));
    return c;
}

unsigned flash_limits_refuse(const int *values)
{
    const flash::config c = config(values);
    unsigned refused = 0;

    for (int r = 0; r < FLASH_LIMIT_RULES; r++)
        refused |= unsigned(!rules[r](c)) << r;
    return refused;
}

int flash_limits_least_smem(const int *values)
{
    return flash::least_smem_bytes(config(values));
}
