/* export.h - the winner of a sweep, for those who build with it
 *
 * Everything an export states, in whichever format: parameters, launch,
 * where they come from.  The same database gives the same text.
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
#include "coordinator/store/stored_params.h"

struct err;
struct report;
struct store;
struct stored_spec;

/* What the build of the kernel saw, as two names: its own and the header's. */
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

/* Where it was measured and built; "" for what is not known. */
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
    char *prefix;   /* FLASH_ATTENTION */
    char *database; /* name of its file */
    struct value *derived;
    struct export_macro *macros; /* tunables, then derived values */
    size_t n_macros;
    char *launch[EXPORT_LAUNCHES]; /* in C */
    struct stored_params facts;
    uint64_t facts_used; /* by the launch; bit i: fact i */
    struct export_origin origin;
};

/* ERR_INPUT when two of its macros would have one name, or the launch cannot
 * be written in C; ERR_STORE. */
int export_make(const struct report *report, struct stored_spec *stored,
                const struct winner *winner, struct store *store,
                struct export **out, struct err *err);
void export_free(struct export *export); /* NULL is fine */

/* FLASH_ATTENTION of flash-attention, FLASH_ATTENTION_BLOCK_M of block_m; for
 * the caller to free. */
char *export_prefix(const char *sweep);
char *export_name(const struct export *export, const char *name);

void export_header(struct export *export, FILE *to);
/* ERR_INPUT when the launch has no value for a shape of the sweep. */
int export_json(struct export *export, FILE *to, struct err *err);
/* One line of -D options, quoted for a shell. */
void export_flags(const struct export *export, FILE *to);

#endif
