/* ncu.h - Nsight Compute around fa-runner: its command, and what it printed
 *
 * The sections asked for are its own, so that no metric is asked of a GPU that
 * has not got it; which of their metrics tell a figure differs from GPU to
 * GPU and is looked up here (docs/profile.md).
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_PLAN_NCU_H
#define FA_COORDINATOR_PLAN_NCU_H

#include <stdbool.h>
#include <stddef.h>

struct err;

#define NCU_ARGUMENTS_MAX 40
#define NCU_STALLS_MAX 24

enum ncu_figure {
    NCU_DURATION, /* seconds */
    NCU_SM,
    NCU_TENSOR,
    NCU_XU, /* exponentials and other special functions */
    NCU_DRAM,
    NCU_DRAM_BYTES,
    NCU_L2,
    NCU_L1, /* shared memory is part of it */
    NCU_SHARED,
    NCU_SHARED_WAVEFRONTS,
    NCU_BANK_CONFLICTS,
    NCU_OCCUPANCY,
    NCU_OCCUPANCY_LIMIT,
    NCU_REGISTERS,
    NCU_ISSUE,
    NCU_ELIGIBLE,
    NCU_FIGURES,
};

const char *ncu_key(enum ncu_figure figure);  /* "tensor_pct" */
const char *ncu_text(enum ncu_figure figure); /* "tensor pipe %" */

/* Why warps that could have issued did not, in warps a cycle of issue. */
struct ncu_stall {
    char reason[40];
    double warps;
};

struct ncu_profile {
    double figures[NCU_FIGURES];             /* NaN: it was not told */
    struct ncu_stall stalls[NCU_STALLS_MAX]; /* the largest first */
    size_t n_stalls;
};

/* The command that profiles one launch of 'entry'; flushed: the L2 cache is
 * emptied before it.  Returns how many arguments there are. */
size_t ncu_command(const char *entry, bool flushed,
                   const char *out[NCU_ARGUMENTS_MAX]);

/* From its standard output and error.  ERR_INPUT says what is missing, and
 * the remedy where one is known. */
int ncu_read(const char *output, const char *log, struct ncu_profile *out,
             struct err *err);

#endif
