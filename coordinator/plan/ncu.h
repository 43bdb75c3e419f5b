/* ncu.h - profiles fa-runner with Nsight Compute: command and output
 *
 * The command asks for the tool's own sections, so that no metric is requested
 * from a GPU that lacks it.  The metrics that give a figure differ between
 * GPUs; a table here lists them (docs/profile.md).
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

/* Reasons why warps did not issue, in warps per cycle of issue. */
struct ncu_stall {
    char reason[40];
    double warps;
};

struct ncu_profile {
    double figures[NCU_FIGURES];             /* NaN: unknown */
    struct ncu_stall stalls[NCU_STALLS_MAX]; /* the largest first */
    size_t n_stalls;
};

/* The command that profiles one launch of 'entry'. 'flushed': empty the L2
 * cache first.  Returns the number of arguments. */
size_t ncu_command(const char *entry, bool flushed,
                   const char *out[NCU_ARGUMENTS_MAX]);

/* Parse its standard output and error.  ERR_INPUT says what is missing, and the
 * remedy if one is known. */
int ncu_read(const char *output, const char *log, struct ncu_profile *out,
             struct err *err);

#endif
