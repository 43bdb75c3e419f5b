/* gpu_models.h - the sweeps of several GPU models, side by side
 *
 * Each model has a database, and a verdict of its own.  What they have in
 * common are configurations, and the question what it costs to use one of them
 * on all models: at each, its time over that of the model's winner.
 *
 * Costs are of screening times, because only those were taken of most
 * configurations.  A configuration that has no correct time at a model has no
 * cost there.  Emulated times have none at all.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_GPU_MODELS_GPU_MODELS_H
#define FA_COORDINATOR_GPU_MODELS_GPU_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/hash.h"

struct buf;
struct err;
struct json_out;

/* A configuration that is correct at all shapes and was not rejected. */
struct gpu_models_time {
    char key[HASH_HEX];
    char *name;     /* "BLOCK_M=64 STAGES=2" */
    char *params;   /* JSON object */
    double seconds; /* by the objective, > 0 */
};

struct gpu_models_speedup {
    double value, lo, hi; /* over the baseline; NaN: not confirmed */
};

struct gpu_models_side {
    char *model;    /* the label */
    char *database; /* its path */
    char *gpu;      /* name of the first GPU; "" if none measured */
    char *file;     /* text of the sweep file; "" without a sweep */
    char *verdict;  /* a sentence without a full stop; or why it has none */
    char *state;    /* "confirmed", "measured, not confirmed", ... */
    bool emulated;
    bool baseline;         /* it is the winner: nothing was shown to beat it */
    char winner[HASH_HEX]; /* key; "": no winner */
    struct gpu_models_speedup speedup; /* of the winner */
    struct gpu_models_time *times;
    size_t n;
    char *sweep; /* its name; "" without a sweep */
};

struct gpu_models {
    struct gpu_models_side *sides;
    size_t n;
};

/* The configuration of that key; NULL if it has no time there. */
const struct gpu_models_time *
gpu_models_find(const struct gpu_models_side *side, const char *key);
const struct gpu_models_time *
gpu_models_winner(const struct gpu_models_side *side);

/* What using this configuration costs there: 0.03 for 3 % more time than the
 * winner; below 0 if it was faster in the screening.  NaN: not known. */
double gpu_models_cost(const struct gpu_models_side *side, const char *key);

/* The configuration whose highest cost is the least, among those with a cost at
 * every model; or NULL. */
struct gpu_models_common {
    const struct gpu_models_time *config;
    size_t at;   /* the side where it costs most */
    double cost; /* there */
};
void gpu_models_common(const struct gpu_models *models,
                       struct gpu_models_common *out);

/* Have all databases the same sweep file? */
bool gpu_models_same_file(const struct gpu_models *models);

/* "l4: A, 1.31x; h200: B, 1.05x; A on both costs 3 % on h200" */
void gpu_models_sentence(const struct gpu_models *models, struct buf *out);

/* Read the databases of these labels.  A database that cannot be read, or has
 * no sweep yet, is a side without a winner; its verdict says why.  ERR_STORE
 * and the first of the reasons if one cannot be read; 'out' is filled in all
 * the same. */
int gpu_models_load(const char *const *labels, const char *const *databases,
                    size_t n, struct gpu_models *out, struct err *err);
void gpu_models_fini(struct gpu_models *models);

void gpu_models_print(const struct gpu_models *models, FILE *to);
/* As members of an open object (docs/gpu-models.md). */
void gpu_models_json(const struct gpu_models *models, struct json_out *out);

#endif
