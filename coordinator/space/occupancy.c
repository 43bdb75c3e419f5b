#include "coordinator/space/occupancy.h"

#include <stddef.h>

enum {
    WARP = 32,
    REGISTER_UNIT = 256, /* registers are allocated in this unit, by warp */
    SM_PARTS = 4,        /* each has its share of the registers */
    SMEM_UNIT = 128,     /* bytes */
    SMEM_SYSTEM = 1024,  /* bytes a block */
    SYSTEM_SINCE = 80,   /* the first architecture that takes them */
    SMEM_UNIT_BEFORE = 256
};

static int64_t round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static int64_t by_registers(const struct occupancy_block *block, int64_t warps,
                            const struct gpu_arch_facts *facts)
{
    int64_t a_warp = round_up(block->registers * WARP, REGISTER_UNIT);

    if (a_warp == 0)
        return facts->blocks_per_sm;
    if (a_warp * warps > facts->regs_per_block)
        return 0;
    return facts->regs_per_sm / SM_PARTS / a_warp * SM_PARTS / warps;
}

static int64_t by_smem(const struct occupancy_block *block,
                       const struct gpu_arch_facts *facts)
{
    /* one unit at least, which limits no more than the number of blocks */
    int64_t older =
        round_up(block->smem_bytes + !block->smem_bytes, SMEM_UNIT_BEFORE);

    if (block->smem_bytes > facts->smem_per_block)
        return 0;
    if (facts->arch != GPU_ARCH_UNKNOWN && facts->arch < SYSTEM_SINCE)
        return facts->smem_per_sm / older;
    return facts->smem_per_sm /
           (round_up(block->smem_bytes, SMEM_UNIT) + SMEM_SYSTEM);
}

static int64_t by_threads(const struct occupancy_block *block, int64_t warps,
                          const struct gpu_arch_facts *facts)
{
    if (block->threads > facts->max_threads_per_block)
        return 0;
    return facts->threads_per_sm / WARP / warps;
}

struct occupancy occupancy_of(const struct occupancy_block *block,
                              const struct gpu_arch_facts *facts)
{
    int64_t warps = round_up(block->threads, WARP) / WARP;
    const struct {
        const char *name;
        int64_t blocks;
    } limits[] = {
        { "registers", by_registers(block, warps, facts) },
        { "smem", by_smem(block, facts) },
        { "threads", by_threads(block, warps, facts) },
        { "blocks", facts->blocks_per_sm },
    };
    struct occupancy out = { .blocks_per_sm = limits[0].blocks,
                             .limiter = limits[0].name };

    for (size_t i = 1; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (limits[i].blocks < out.blocks_per_sm) {
            out.blocks_per_sm = limits[i].blocks;
            out.limiter = limits[i].name;
        }
    out.warps_per_sm = out.blocks_per_sm * warps;
    out.fraction = (double)(out.warps_per_sm * WARP) /
                   (double)round_up(facts->threads_per_sm, WARP);
    return out;
}
