/* compare_side.h - one of two databases that are compared
 *
 * It has the report, the measurements by block, and the GPUs.
 * Immutable once open.  Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_COMPARE_COMPARE_SIDE_H
#define FA_COORDINATOR_COMPARE_COMPARE_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/hash.h"
#include "coordinator/conclusion/winner.h"
#include "coordinator/result/report.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/stats/location_shift.h"

struct compare_looks;
struct err;
struct store;

/* The confirmation blocks of one configuration at one shape. */
struct compare_blocks {
    char config[HASH_HEX];
    size_t shape;
    struct location_shift_value *medians; /* log seconds, one a block; the
                                    stratum is the GPU's index */
    int64_t *rounds;                      /* of the blocks, ascending */
    size_t n;
};

/* The cubin of a configuration: the same hash means the same machine code. */
struct compare_code {
    char config[HASH_HEX], artifact[HASH_HEX];
};

/* What defines a shape: its variables, arguments, reference, tolerance. */
struct compare_way {
    char *shape;
    char key[HASH_HEX];
};

struct compare_gpu {
    char *uuid, *name, *driver, *toolkit;
};

struct compare_file {
    const char *path; /* borrowed */
    dev_t volume;     /* identity of the file */
    ino_t inode;
};

struct compare_side {
    struct compare_file file;
    struct store *store;
    struct report *report;
    struct gpu_arch_facts facts;
    char *l2;             /* cache treatment: flush warm */
    struct winner winner; /* config NULL: no winner */
    char why_none[240];   /* why there is no winner */

    struct compare_gpu *gpus; /* GPUs with results */
    size_t n_gpus;
    double clock_mhz; /* median during the samples; NAN if not known */

    struct compare_way *ways;
    size_t n_ways;
    struct compare_blocks *blocks; /* sorted by config, then shape */
    size_t n_blocks;
    struct compare_looks *looks;
    struct compare_code *codes; /* sorted by config */
    size_t n_codes;

    double noise;   /* typical relative deviation of a screening sample */
    double between; /* of the median, from one measurement to the next */
    bool canaries;  /* 'between' was measured in this sweep */
};

/* 'between' without enough canaries: two measurements of one binary on one calm
 * card (docs/measuring.md). */
#define COMPARE_BETWEEN 0.005

/* ERR_STORE, or ERR_INPUT if it holds no sweep; the text names the database. */
int compare_side_open(const char *path, struct compare_side *out,
                      struct err *err);
void compare_side_close(struct compare_side *side);

const struct report_config *compare_side_config(const struct compare_side *side,
                                                const char *key);
/* NULL if it took part in no confirmation pass. */
const struct compare_blocks *
compare_side_blocks(const struct compare_side *side, const char *key,
                    size_t shape);
/* The hash of its machine code, "" if it was not measured. */
const char *compare_side_code(const struct compare_side *side, const char *key);

#endif
