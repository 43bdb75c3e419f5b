/* compare_side.h - one of two databases that are compared
 *
 * Its report, what was measured block by block, and on what.
 * Immutable once open.  Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_COMPARE_COMPARE_SIDE_H
#define FA_COORDINATOR_COMPARE_COMPARE_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/hash.h"
#include "coordinator/conclusion/winner.h"
#include "coordinator/result/report.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/stats/location_shift.h"

struct err;
struct store;

/* The confirmation blocks of one configuration at one shape. */
struct compare_blocks {
    char config[HASH_HEX];
    size_t shape;
    struct location_shift_value *medians; /* log seconds, one a block; the
                                    stratum is the GPU's index */
    size_t n;
};

/* A cubin that was measured: the same hash is the same machine code. */
struct compare_code {
    char config[HASH_HEX], artifact[HASH_HEX];
};

/* How a shape is measured: its variables, arguments, reference, tolerance. */
struct compare_way {
    char *shape;
    char key[HASH_HEX];
};

struct compare_gpu {
    char *uuid, *name, *driver, *toolkit;
};

struct compare_file {
    const char *path; /* borrowed */
    dev_t volume;     /* which file that is */
    ino_t inode;
};

struct compare_side {
    struct compare_file file;
    struct store *store;
    struct report *report;
    struct gpu_arch_facts facts;
    char *l2;             /* how the cache is treated: flush warm */
    struct winner winner; /* config NULL: there is none */
    char why_none[240];   /* then: why */

    struct compare_gpu *gpus; /* that results came from */
    size_t n_gpus;
    double clock_mhz; /* median around the samples; NAN when not known */

    struct compare_way *ways;
    size_t n_ways;
    struct compare_blocks *blocks; /* sorted by config, then shape */
    size_t n_blocks;
    struct compare_code *codes; /* sorted by config */
    size_t n_codes;

    double noise;   /* typical relative deviation of a screening sample */
    double between; /* of the median of one measurement to the next */
    bool canaries;  /* 'between' is this sweep's own */
};

/* Without enough canaries: what two measurements of one binary on one calm
 * card differ by (docs/measuring.md). */
#define COMPARE_BETWEEN 0.005

/* ERR_STORE, ERR_INPUT when it holds no sweep; texts name the database. */
int compare_side_open(const char *path, struct compare_side *out,
                      struct err *err);
void compare_side_close(struct compare_side *side);

const struct report_config *compare_side_config(const struct compare_side *side,
                                                const char *key);
/* NULL when it was in no confirmation pass. */
const struct compare_blocks *
compare_side_blocks(const struct compare_side *side, const char *key,
                    size_t shape);
/* The hash of its machine code, "" when it was not measured. */
const char *compare_side_code(const struct compare_side *side, const char *key);

#endif
