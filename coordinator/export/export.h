/* export.h - the winner of a sweep, for use in a build
 *
 * The contents of an export, for all formats: parameters, launch and origin.
 * The same database gives the same text.
 * Immutable once made; report, stored and winner outlive it.
 */
#ifndef FA_COORDINATOR_EXPORT_EXPORT_H
#define FA_COORDINATOR_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/hash.h"
#include "coordinator/conclusion/winner.h"
#include "coordinator/spec/spec.h"
#include "coordinator/stored/stored_params.h"

struct err;
struct report;
struct store;
struct stored_spec;

/* A macro that the build of the kernel saw, with its own name and its name in
 * the header. */
struct export_macro {
    char *name;     /* BLOCK_M */
    char *exported; /* FLASH_ATTENTION_BLOCK_M */
    char *value;    /* 128, "fast" */
    bool derived;
};

/* Grid, block and shared memory, in this order. */
enum {
    EXPORT_LAUNCHES = 7
};
extern const char *const export_launch_names[EXPORT_LAUNCHES]; /* GRID_X */
const struct spec_rule *export_launch_rule(const struct spec *spec, size_t i);

/* Where it was measured and built; "", and 0, if not known.  A record has no
 * sources and no machine code, and does not say when it was measured. */
struct export_origin {
    char source_key[HASH_HEX], artifact[HASH_HEX];
    char *gpu, *driver, *toolkit;
    int64_t measured_utc;
};

struct export
{
    const struct report *report;
    struct stored_spec *stored;
    struct winner winner;
    bool has_kernel; /* false: of a record, which has tunables and times only */
    char *prefix;    /* FLASH_ATTENTION */
    char *database;  /* name of the database file */
    struct value *derived;
    struct export_macro *macros; /* tunables, then derived values */
    size_t n_macros;
    char *launch[EXPORT_LAUNCHES]; /* in C */
    struct stored_params facts;
    uint64_t facts_used; /* facts that the launch uses; bit i: fact i */
    struct export_origin origin;
};

/* ERR_INPUT if two of its macros would have the same name, or the launch cannot
 * be written in C; ERR_STORE. */
int export_make(const struct report *report, struct stored_spec *stored,
                const struct winner *winner, struct store *store,
                struct export **out, struct err *err);
void export_free(struct export *export); /* NULL is fine */

/* FLASH_ATTENTION from flash-attention, FLASH_ATTENTION_BLOCK_M with block_m;
 * the caller frees it. */
char *export_prefix(const char *sweep);
char *export_name(const struct export *export, const char *name);

void export_header(struct export *export, FILE *to);
/* ERR_INPUT if the launch has no value for a shape of the sweep. */
int export_json(struct export *export, FILE *to, struct err *err);
/* One line of -D options, quoted for a shell. */
void export_flags(const struct export *export, FILE *to);
/* Its cubin, from what the coordinator kept or from the cache of this machine's
 * worker.  ERR_INPUT if it is in neither, damaged, or not of a GPU. */
int export_cubin(struct export *export, FILE *to, struct err *err);
/* A Python file that builds an extension of PyTorch and launches the kernel on
 * tensors.  ERR_INPUT if an argument has no type in PyTorch. */
int export_torch(struct export *export, FILE *to, struct err *err);

#endif
